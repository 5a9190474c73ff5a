"""Credentials in a text: keys, tokens and passwords by the forms in which they are written.

Precision first: a token counts where it has its published prefix and length and looks random, the
value of an assignment only where nobody would write it as a word. What stands in manuals as an
example is none. Every pattern is bounded, so that a text costs time in proportion to its length.
"""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chapterhouse.text.counting import counted

MASK: Final = "█"
_LONGEST_KEY: Final = 40_000  # characters of a private key's block
_LEAST_KEY: Final = 100  # of its base64: less is an example
_LEAST_DIFFERENT: Final = 8  # characters of a token
_LEAST_BITS: Final = 3.0  # of entropy a character, in a value that is assigned
_LONG: Final = 16  # characters from which a value may be random by its entropy alone
_CLASSES: Final = 3  # of characters in a password: small, large, digits, others
_CHANGES: Final = 4  # from a class of characters to another, in a value without separators


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential in a text, of which only this is ever told.

    Attributes:
        kind: What it is, such as ``AWS key``.
        start: Offset of its first character.
        end: Offset behind its last.
    """

    kind: str
    start: int
    end: int


def find_credentials(text: str) -> tuple[Credential, ...]:
    """Return the credentials in a text, in order, none inside another."""
    lower = text.lower()  # only to look for words
    ways = (_private_keys(text), _tokens(text), _in_addresses(text), _assigned(text, lower))
    ranked = [(one.start, rank, one) for rank, way in enumerate(ways) for one in way]
    found: list[tuple[int, Credential]] = []
    for _, rank, one in sorted(ranked, key=lambda entry: entry[:2]):
        if not found or one.start >= found[-1][1].end:
            found.append((rank, one))
        elif rank < found[-1][0]:  # what has a form of its own tells more than an assignment
            found[-1] = (rank, one)
    return tuple(one for _, one in found)


def mask_credentials(text: str, found: Sequence[Credential]) -> str:
    """Return the text with each credential's characters replaced; its length and lines stay."""
    parts, last = [], 0
    for one in found:
        parts += [text[last : one.start], re.sub(r"\S", MASK, text[one.start : one.end])]
        last = one.end
    return "".join((*parts, text[last:]))


def describe_credentials(found: Sequence[Credential]) -> str:
    """Say how many there are and of which kinds, as in ``2 credentials: AWS key, private key``."""
    kinds = Counter(one.kind for one in found)
    names = [
        name if number == 1 else f"{number} × {name}" for name, number in sorted(kinds.items())
    ]
    return f"{counted(len(found), 'credential')}: {', '.join(names)}"


# --- private keys ---------------------------------------------------------------------------------

_BEGIN: Final = re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----")
_NOT_BASE64: Final = re.compile(r"\\[nr]|\s|^[A-Za-z-]+:.*$", re.MULTILINE)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=]+")


def _private_keys(text: str) -> Iterator[Credential]:
    """Yield the blocks of private keys, from the first dash to the last."""
    ends = list(_END.finditer(text)) if "PRIVATE KEY" in text else []
    place = last = 0
    for begin in _BEGIN.finditer(text) if ends else ():
        while place < len(ends) and ends[place].start() < begin.end():
            place += 1
        if place == len(ends):
            return
        end = ends[place]
        if begin.start() < last or end.start() - begin.end() > _LONGEST_KEY:
            continue
        body = _NOT_BASE64.sub("", text[begin.end() : end.start()])
        if len(body) >= _LEAST_KEY and _BASE64.fullmatch(body) and _is_mixed(body):
            last = end.end()
            yield Credential("private key", begin.start(), last)


# --- tokens with a form of their own --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind of token is written; where none of ``hints`` stands there is none."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    fits: Callable[[str], bool] = lambda _: True


def _form(kind: str, hints: str, pattern: str, fits: Callable[[str], bool] | None = None) -> _Form:
    bounded = re.compile(rf"(?<![A-Za-z0-9_-]){pattern}(?![A-Za-z0-9_-])")
    return _Form(kind, tuple(hints.split()), bounded, fits or (lambda _: True))


def _is_openai(token: str) -> bool:
    return "T3BlbkFJ" in token  # "OpenAI" in base64, in the middle of every key


def _is_jwt(token: str) -> bool:
    """Whether a token's first part is the header of one, and it is not the example of jwt.io."""
    head = token.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(f"{head}{'=' * (-len(head) % 4)}"))
    except ValueError:
        return False
    return isinstance(header, dict) and "alg" in header and _JWT_EXAMPLE not in token


_JWT_EXAMPLE: Final = ".eyJzdWIiOiIxMjM0NTY3ODkwIiwi"  # {"sub":"1234567890", …
_FORMS: Final = (
    _form("AWS key", "AKIA ASIA", r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    _form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,251}+"),
    _form("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _form(
        "GitLab token",
        "glpat- glptt- gldt- glrt- glcbt-",
        r"gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,64}+(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
    ),
    _form("Slack token", "xox", r"xox[abeoprs]-(?:\d-)?[0-9]{9,13}-[A-Za-z0-9-]{20,200}+"),
    _form("Slack token", "xapp-", r"xapp-\d-[A-Z0-9]{9,13}-\d{9,14}-[a-z0-9]{32,80}+"),
    _form(
        "Slack token",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24}",
    ),
    _form("Stripe key", "k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{24,120}+"),
    _form("Stripe key", "whsec_", r"whsec_[A-Za-z0-9+/]{32}=?"),
    _form("Anthropic key", "sk-ant-", r"sk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{80,120}+"),
    _form("OpenAI key", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{40,250}+", _is_openai),
    _form("Google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _form("Google key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _form("Google key", "ya29.", r"ya29\.[A-Za-z0-9_-]{60,400}+"),
    _form("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _form("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{60,300}+"),
    _form("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{34}"),
    _form("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _form("DigitalOcean token", "dop_v1_", r"dop_v1_[a-f0-9]{64}"),
    _form("Azure key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    _form("Azure key", "SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{43}="),
    _form(
        "JSON web token",
        "eyJ",
        r"eyJ[A-Za-z0-9_-]{10,2000}+\.eyJ[A-Za-z0-9_-]{10,8000}+\.[A-Za-z0-9_-]{20,1400}+",
        _is_jwt,
    ),
)
# Values that stand in manuals of their makers.
_PUBLISHED: Final = frozenset(
    {
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "sk_test_BQokikJOvBiI2HlWgH4olfQ2",
        "sk_test_26PHem9AhJZvU623DfE1x4sd",
    }
)


def _tokens(text: str) -> Iterator[Credential]:
    for form in _FORMS:
        if not any(hint in text for hint in form.hints):
            continue
        for match in form.pattern.finditer(text):
            token = match.group()
            if form.fits(token) and not _is_example(token) and _is_mixed(token):
                yield Credential(form.kind, *match.span())


# --- passwords in addresses -----------------------------------------------------------------------

_ADDRESS: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}+://"
    r"[^\s/:@?#\"'<>]{0,100}+:([^\s/@\"'<>{}$()]{6,200}+)@[A-Za-z0-9\[]"
)


def _in_addresses(text: str) -> Iterator[Credential]:
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        if _is_password(match[1]):
            yield Credential("password in an address", *match.span(1))


# --- assignments ----------------------------------------------------------------------------------

_WORDS: Final = {
    "passwor": "password",  # English and German
    "passwd": "password",
    "passphrase": "password",
    "pwd": "password",
    "secret": "secret",
    "token": "token",
    "apikey": "API key",
    "api_key": "API key",
    "api-key": "API key",
    "api key": "API key",
    "access_key": "API key",
    "accesskey": "API key",
    "access-key": "API key",
    "private_key": "API key",
    "auth_key": "API key",
    "account_key": "API key",
    "accountkey": "API key",
    "encryption_key": "API key",
    "signing_key": "API key",
}
_ASSIGNED: Final = re.compile(
    rf"({'|'.join(_WORDS)})[A-Za-z0-9_-]{{0,24}}+[\"'`]{{0,2}}+[ \t]{{0,8}}+(?::=|=>|==?|:)"
    r"[ \t]{0,8}+[\"'`]{0,2}+([^\s\"'`<>{}()\[\],;|]{8,250}+)(?![(\[{<])",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(r"[A-Za-z0-9+/_.~-]{16,250}={0,2}")
_SEPARATED: Final = re.compile(r"[/_.~+-]")
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F]+")


def _assigned(text: str, lower: str) -> Iterator[Credential]:
    if not any(word in lower for word in _WORDS):
        return
    for match in _ASSIGNED.finditer(text):
        kind, value = _WORDS[match[1].lower()], match[2]
        fits = _is_password if kind == "password" else _is_random
        if fits(value):
            yield Credential(kind, *match.span(2))


# --- what is random and what is an example --------------------------------------------------------

_EXAMPLES: Final = re.compile(
    r"example|sample|dummy|fake|placeholder|change.?(?:me|it)|your|insert|redact|x{4}|\*{3}|\.{3}|…|█"
    r"|1234567|abcdefg|foobar|qwerty|todo|test.?(?:key|token|secret)|lorem|deadbeef"
    r"|^pk[_.]|ANBgkqhkiG9w0BAQEFAAO",  # what services call public, and RSA's public keys
    re.IGNORECASE,
)
_IN_WORDS: Final = re.compile(
    r"passwor|passwd|secret|token|hunter2|letmein|://|^(?:env|os|process|config|settings|self)\b",
    re.IGNORECASE,
)


def _is_example(value: str) -> bool:
    return bool(_EXAMPLES.search(value)) or value in _PUBLISHED


def _is_mixed(value: str) -> bool:
    """Whether a token has as many different characters as a random one."""
    return len(set(value)) >= _LEAST_DIFFERENT


def _is_password(value: str) -> bool:
    """Whether a value is a password that nobody would write as an example: of several classes."""
    if _is_example(value) or _IN_WORDS.search(value) or not value.isascii():
        return False
    classes = {_class_of(character) for character in value}
    return len(classes) >= _CLASSES and "0" in classes and len(set(value)) >= _LEAST_DIFFERENT - 1


def _is_random(value: str) -> bool:
    """Whether a value is no word, name, path or number, but drawn by chance."""
    if not _SECRET.fullmatch(value) or _is_example(value) or _IN_WORDS.search(value):
        return False
    if _bits(value) < _LEAST_BITS or not any(character.isdigit() for character in value):
        return False
    if _HEX.fullmatch(value):
        return len(value) >= 2 * _LONG
    parts = _SEPARATED.split(value)
    return any(len(part) >= _LONG and _changes(part) >= _CHANGES for part in parts) or (
        len(value) >= 2 * _LONG and sum(map(_changes, parts)) >= 2 * _CHANGES
    )


def _bits(value: str) -> float:
    """Return the entropy of a character, from how often each occurs in the value."""
    shares = [number / len(value) for number in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _class_of(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "a" if character.islower() else "A"
    return "."


def _changes(part: str) -> int:
    """Count how often letters follow digits, or digits letters."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(part))
