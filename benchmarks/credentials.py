"""The scan for credentials: what it finds of planted ones, what it reports in real documents.

    python benchmarks/credentials.py

Recall: credentials of every kind, made by chance in the form that their makers publish, each in a
sentence, a line of settings or of code as people write them. False reports: every text file of the
shared data, as its reader gives it; what is reported there is listed with its kind and the words
before it, and was looked at by eye. Time: a megabyte of prose, and hostile megabytes.
"""

import base64
import json
import random
import string
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.text.sanitise import sanitise
from chapterhouse.text.secrets import find_credentials
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

SEED: Final = 5
EACH: Final = 20  # of a kind
MOST_BYTES: Final = 4 * 2**20
ENDINGS: Final = (".md", ".txt", ".html", ".htm", ".json", ".xml", ".csv", ".tsv", ".eml", ".yaml")
UPPER, LETTERS = string.ascii_uppercase, string.ascii_letters
ALPHANUMERIC = LETTERS + string.digits
URL_SAFE = f"{ALPHANUMERIC}-_"
BASE64 = f"{ALPHANUMERIC}+/"
HEX = "0123456789abcdef"

# How people write them down: in settings, code, tables, letters and notes.
FRAMES: Final = (
    "{}",
    "The deployment on the north pier uses {} until the end of May.",
    "| service | {} | rotated in spring |",
    "  - name: credential\n    value: {}\n",
    "curl -H 'Authorization: Bearer {}' https://harbour.test/api",
    "Dear Anna,\n\nhere it is: {}\n\nBest wishes",
    'client = Client("{}")',
)
# For what is only known by its name.
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "password": (
        "password = '{}'",
        "DB_PASSWORD={}\n",
        '"password": "{}",',
        "Passwort: {}\n",
        "Server=db;User Id=app;Password={};Encrypt=true",
        "pwd: {}",
    ),
    "secret": ("client_secret = '{}'", 'SECRET_KEY="{}"', "aws_secret_access_key = {}\n"),
    "token": ("access_token: {}\n", "TOKEN={}\n", '"refresh_token": "{}"'),
    "API key": ("api_key = '{}'", "X-Api-Key: {}\n", '"apiKey": "{}",', "API_KEY={}\n"),
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with one credential in it, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def some(letters: str, number: int) -> Callable[[random.Random], str]:
    """Return what draws so many letters."""
    return lambda chance: "".join(chance.choices(letters, k=number))


def joined(*parts: str | Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    """Return what puts parts together, each as it stands or drawn."""
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def _password(chance: random.Random) -> str:
    drawn = [chance.choice(part) for part in (UPPER, string.ascii_lowercase, "23456789", "!#%+=?*")]
    drawn += chance.choices(f"{ALPHANUMERIC}!#%+=?", k=chance.randint(6, 16))
    chance.shuffle(drawn)
    return "".join(drawn)


def _jwt(chance: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = {"alg": chance.choice(["HS256", "RS256"]), "typ": "JWT"}
    body = {"sub": some(HEX, 12)(chance), "exp": chance.randint(1_700_000_000, 1_900_000_000)}
    return f"{part(head)}.{part(body)}.{some(URL_SAFE, 43)(chance)}"


def _private_key(chance: random.Random) -> str:
    name = chance.choice(["", "RSA ", "EC ", "OPENSSH "])
    body = some(BASE64, chance.randint(180, 1_700))(chance)
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {name}PRIVATE KEY-----\n{lines}\n-----END {name}PRIVATE KEY-----"


FORMS: Final[Mapping[str, tuple[Callable[[random.Random], str], ...]]] = {
    "private key": (_private_key,),
    "AWS key": (joined("AKIA", some(f"{UPPER}234567", 16)), joined("ASIA", some(UPPER, 16))),
    "GitHub token": (
        joined("ghp_", some(ALPHANUMERIC, 36)),
        joined("gho_", some(ALPHANUMERIC, 36)),
        joined("github_pat_", some(ALPHANUMERIC, 22), "_", some(ALPHANUMERIC, 59)),
    ),
    "GitLab token": (joined("glpat-", some(ALPHANUMERIC, 20)),),
    "Slack token": (
        joined("xoxb-", some("123456789", 12), "-", some("123456789", 12), "-", some(LETTERS, 24)),
        joined(
            "hooks.slack.com/services/T", some(UPPER, 10), "/B", some(UPPER, 10), "/",
            some(ALPHANUMERIC, 24),
        ),
    ),
    "Stripe key": (
        joined("sk_live_", some(ALPHANUMERIC, 24)),
        joined("rk_live_", some(ALPHANUMERIC, 99)),
    ),
    "OpenAI key": (
        joined("sk-", some(ALPHANUMERIC, 20), "T3BlbkFJ", some(ALPHANUMERIC, 20)),
        joined("sk-proj-", some(ALPHANUMERIC, 74), "T3BlbkFJ", some(ALPHANUMERIC, 74)),
    ),
    "Anthropic key": (joined("sk-ant-api03-", some(ALPHANUMERIC, 93), "AA"),),
    "Google key": (joined("AIza", some(ALPHANUMERIC, 35)),),
    "npm token": (joined("npm_", some(ALPHANUMERIC, 36)),),
    "Hugging Face token": (joined("hf_", some(LETTERS, 34)),),
    "SendGrid key": (joined("SG.", some(ALPHANUMERIC, 22), ".", some(ALPHANUMERIC, 43)),),
    "Azure key": (joined("AccountKey=", some(BASE64, 86), "=="),),
    "JSON web token": (_jwt,),
    "password in an address": (_password,),
    "password": (_password,),
    "secret": (some(BASE64, 40), some(HEX, 64)),
    "token": (some(ALPHANUMERIC, 32), some(HEX, 40)),
    "API key": (some(HEX, 32), some(ALPHANUMERIC, 39)),
}  # fmt: skip


def plant(kind: str, chance: random.Random) -> Planted:
    """Return a text in which one credential of a kind stands."""
    value = chance.choice(FORMS[kind])(chance)
    if kind == "password in an address":
        value = "".join(letter for letter in value if letter not in "#?")
        frame = chance.choice(["postgres://app:{}@db.harbour.test/x", "https://bot:{}@git.test/a"])
    else:
        frame = chance.choice(NAMES.get(kind, FRAMES))
    start = frame.index("{}")
    return Planted(kind, frame.replace("{}", value), start, start + len(value))


def recall() -> tuple[list[tuple[str, float, float]], float]:
    """Return planted and found by kind, and the share of all that was found at its place."""
    chance, rows = random.Random(SEED), []
    for kind in FORMS:
        planted = [plant(kind, chance) for _ in range(EACH)]
        found = sum(
            any(
                (one.start, one.end) == (each.start, each.end)
                for one in find_credentials(each.text)
            )
            for each in planted
        )
        rows.append((kind, float(len(planted)), float(found)))
    return rows, sum(row[2] for row in rows) / sum(row[1] for row in rows)


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a folder as their readers give them; a line of .jsonl is a text."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        if path.suffix == ".jsonl":
            for line in path.read_text("utf-8", "replace").splitlines():
                yield path, line
        elif path.suffix.lower() in ENDINGS:
            try:
                pages = read(path.read_bytes(), path.name, Limits()).pages
            except RejectedError:
                continue
            yield path, sanitise("\n\n".join(page.text for page in pages)).text


def megabytes() -> list[tuple[str, float]]:
    """Return seconds for a megabyte of prose and of what is written to cost time."""
    size = 2**20
    samples = {
        "prose": "The ferry to Osk leaves the north pier at nine, and a ticket costs 4.50. ",
        "addresses": "a://a:",
        "assignments": "token=",
        "headers of tokens": " eyJaaaaaaaaaaaa.eyJ",
        "keys without an end": "-----BEGIN PRIVATE KEY-----",
        "credentials": "AKIAQ3EGRXJ7VMB2KLTD ",
    }
    rows = []
    for name, part in samples.items():
        text = part * (size // len(part))
        before = time.process_time()
        find_credentials(text)
        rows.append((name, round(time.process_time() - before, 3)))
    return rows


def main() -> int:
    """Measure, and write the result."""
    machine, root = Machine(), data_folder()
    kinds, share = recall()
    numbers, reported = Counter[str](), []
    for name in ("folders", "documents", "retrieval", "chunking", "graph"):
        for path, text in texts(root / name):
            numbers[name] += 1
            for one in find_credentials(text):
                before = " ".join(text[max(one.start - 30, 0) : one.start].split())
                reported.append((str(path.relative_to(root)), one.kind, before))
    times, number = megabytes(), sum(numbers.values())
    bars = [
        Bar("planted credentials", sum(row[1] for row in kinds), least=200),
        Bar("share of them that is found at its place", round(share, 4), least=0.98),
        Bar("texts looked at", number, least=1_000),
        Bar("reports a thousand texts", round(1_000 * len(reported) / number, 3), most=0.2),
        Bar("seconds for the slowest megabyte", max(row[1] for row in times), most=5),
    ]
    tables = [
        Table("Planted", ("kind", "planted", "found"), tuple(kinds)),
        Table("Texts", ("folder", "texts"), tuple((k, float(v)) for k, v in numbers.items())),
        Table("Reported in them", ("file", "kind", "words before it"), tuple(reported)),
        Table("Time", ("a megabyte of", "seconds"), tuple(times)),
    ]
    return finish("credentials", "Credentials", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
