"""Answer sentences with their classes, made from real documents by rules.

Every rule works on raw text with its own small tables; nothing here looks at how the judge splits,
stems or compares. The development half and the test half come from different documents (XQuAD is
divided by article, in all its languages alike), the test half partly from different collections,
and their sentences that state nothing are different lists.
"""

# ruff: noqa: E501, C901, PLR0911 - tables and patterns in one piece, a rule a return

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.types import Evidence, Support

STRETCH = 1_500  # characters
RETRIEVED = 12  # stretches a question


@dataclass(frozen=True, slots=True)
class Source:
    """A paragraph of a document, its article, and its sentences."""

    id: str
    article: str
    title: str
    language: str
    text: str
    sentences: tuple[str, ...]
    half: int = 0

    @property
    def evidence(self) -> Evidence:
        """The paragraph as a stretch that was retrieved."""
        title = self.title.replace("_", " ")
        return Evidence(self.id, 0, len(self.text), self.text, self.language, title)


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence, what it cites, what else was retrieved, and what it is.

    Attributes:
        rule: How it was made.
        marker: What it cites by name, where that does not exist; or empty.
    """

    gold: Support
    rule: str
    sentence: str
    cited: tuple[Evidence, ...]
    others: tuple[Evidence, ...]
    marker: str = ""


# --- documents ----------------------------------------------------------------------------------

_SPLIT = {"zh": re.compile(r"(?<=[。！？])"), "": re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ\"“])")}
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|[Dd]r|[Ss]t|Mr|Mrs|vs|etc|bzw|ca|z\.B|Nr|Jh|No|al|e\.g|i\.e|approx)\.)$"
)


def sentences(text: str, language: str) -> tuple[str, ...]:
    """Split text at full stops; pieces that end with an abbreviation are left out."""
    pattern = _SPLIT.get(language, _SPLIT[""])
    low, high = (18, 110) if language == "zh" else (45, 240)
    found = []
    for line in text.split("\n"):
        parts = [part.strip() for part in pattern.split(line)]
        for number, part in enumerate(parts):
            whole = part.endswith((".", "。")) and not _ABBREVIATION.search(part)
            after_abbreviation = number and _ABBREVIATION.search(parts[number - 1])
            if whole and not after_abbreviation and low <= len(part) <= high:
                found.append(part)
    return tuple(found)


def beir(folder: Path, language: str, keep: Callable[[str], bool]) -> list[Source]:
    """Read the documents of a collection whose article ``keep`` accepts."""
    found = []
    for line in (folder / "corpus.jsonl").read_text().splitlines():
        record = json.loads(line)
        article = record["title"] or record["_id"]
        text = record["text"].strip()[:STRETCH]
        split = sentences(text, language)
        if keep(article) and len(split) >= 2:
            name = f"{folder.name}/{record['_id']}"
            found.append(Source(name, article, record["title"], language, text, split))
    return found


def stretches(file: Path) -> list[Source]:
    """Cut a long text into stretches at its line breaks."""
    found: list[Source] = []
    current = ""
    for line in [*file.read_text().split("\n"), ""]:
        if len(current) + len(line) > STRETCH and current:
            split = sentences(current, "en")
            name = f"{file.stem}/{len(found)}"
            found.append(Source(name, f"{file.stem}/{len(found) // 4}", "", "en", current, split))
            current = ""
        current = f"{current}\n{line}"[-STRETCH:].strip()
    return [source for source in found if len(source.sentences) >= 2]


@dataclass(frozen=True, slots=True)
class Half:
    """The documents of one half, by language, and its questions with gold answers."""

    name: str
    seed: int
    sources: dict[str, list[Source]]
    questions: list[tuple[str, str, Source]]
    silent: Sequence[str]


def _articles(data: Path, half: int) -> frozenset[str]:
    lines = (data / "retrieval" / "xquad-en" / "corpus.jsonl").read_text().splitlines()
    titles = sorted({json.loads(line)["title"] for line in lines})
    return frozenset(titles[half::2])


def halves(data: Path) -> tuple[Half, Half]:
    """Return the development half and the test half."""
    retrieval = data / "retrieval"
    made = []
    for number, name in enumerate(("development", "test")):
        articles = _articles(data, number)
        sources = {
            language: beir(retrieval / f"xquad-{language}", language, articles.__contains__)
            for language in ("en", "de", "zh")
        }
        questions = _questions(retrieval / "xquad-en", sources["en"])
        if number == 0:
            sources["en"] += beir(retrieval / "pubmedqa", "en", lambda _: True)[:150]
        else:
            sources["en"] += beir(retrieval / "anthropic-docs", "en", lambda _: True)
            for corpus in ("wikitexts", "state_of_the_union"):
                sources["en"] += stretches(data / "chunking" / "corpora" / f"{corpus}.md")[:80]
        silent = _SILENT[number]
        sources = {
            language: [replace(source, half=number) for source in found]
            for language, found in sources.items()
        }
        questions = [
            (asked, gold, replace(source, half=number)) for asked, gold, source in questions
        ]
        made.append(Half(name, 20_260 + 7 * number, sources, questions, silent))
    return made[0], made[1]


def _questions(folder: Path, sources: Sequence[Source]) -> list[tuple[str, str, Source]]:
    by_id = {source.id.rsplit("/", 1)[1]: source for source in sources}
    needs = dict(
        line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text().splitlines()[1:]
    )
    found = []
    for line in (folder / "queries.jsonl").read_text().splitlines():
        record = json.loads(line)
        source = by_id.get(needs.get(record["_id"], ""))
        if source:
            found.append((record["text"].strip(), record["metadata"]["answers"][0]["text"], source))
    return found


# --- rules: the same in other words ----------------------------------------------------------

_OTHER_WORDS = [
    pair.split("/")
    for pair in [
        "began/started",
        "started/began",
        "large/big",
        "approximately/about",
        "around/about",
        "located/situated",
        "constructed/built",
        "built/constructed",
        "purchased/bought",
        "bought/purchased",
        "used/employed",
        "requires/needs",
        "required/needed",
        "however,/nevertheless,",
        "shows/demonstrates",
        "showed/demonstrated",
        "several/various",
        "numerous/many",
        "many/numerous",
        "because/since",
        "although/though",
        "near/close~to",
        "whole/entire",
        "important/significant",
        "main/primary",
        "begin/start",
        "obtained/received",
        "provides/gives",
        "provide/give",
        "allowed/permitted",
        "helped/assisted",
        "chosen/selected",
        "selected/chosen",
        "entire/whole",
        "also/additionally",
        "often/frequently",
        "annual/yearly",
        "nearly/almost",
        "almost/nearly",
        "typically/usually",
        "usually/typically",
        "within/inside",
        "occurred/happened",
        "happened/occurred",
        "became/turned~into",
        "died/passed~away",
        "considered/regarded~as",
        "children/kids",
        "demonstrated/showed",
        "found/discovered",
    ]
]
_WORDS_FOR = dict(
    zip(
        range(2, 13),
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        strict=True,
    )
)
_MONTHS = "January February March April May June July August September October November December"
_DATE = re.compile(rf"\b({'|'.join(_MONTHS.split())}) (\d{{1,2}}), (\d{{4}})\b")
_DATE_BACK = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS.split())}) (\d{{4}})\b")


def _synonym(text: str, chance: random.Random, half: int = 0) -> str:
    options = [
        (old, new)
        for old, new in _OTHER_WORDS[half::2]  # each half has its own
        if re.search(rf"(?<![\w-]){re.escape(old)}(?![\w-])", text)
    ]
    if not options:
        return text
    old, new = chance.choice(options)
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new.replace("~", " "), text, count=1)


def _without_aside(text: str, _: random.Random) -> str:
    """Leave out what stands in parentheses, or a relative clause between commas."""
    shorter = re.sub(r"\s?\([^()]*\)", "", text, count=1)
    if shorter != text:
        return shorter
    clause = r", (?:who|which|where|whose|die|der|das|deren|wo) [^,.]{8,90}, (?!(?:and|or|und|oder)\b)(?=[a-z])"
    return re.sub(clause, " ", text, count=1)


def _moved(text: str, _: random.Random) -> str:
    """Put "In 1999, X did Y." the other way round."""
    match = re.fullmatch(
        r"((?:In|On|At|During|After|By|Since|Before) [^,]{3,40}), ([A-Z][^,;:()\"]+)\.", text
    )
    if not match:
        return text
    return f"{match[2]} {match[1][0].lower()}{match[1][1:]}."


def _active(text: str, _: random.Random) -> str:
    """Turn "X was founded by Y." into "Y founded X."."""
    match = re.fullmatch(
        r"((?:The |A )?[A-Z][\w ]{2,40}) (?:was|were) (\w+ed) by ((?:the )?[A-Z][\w ]{2,40})\.",
        text,
    )
    if not match:
        return text
    actor, object_ = match[3], match[1]
    if object_.startswith(("The ", "A ")):
        object_ = object_[0].lower() + object_[1:]
    return f"{actor[0].upper()}{actor[1:]} {match[2]} {object_}."


def _listed(text: str, _: random.Random) -> str:
    """Change the order of "such as A, B and C" or of a list at the end."""
    match = re.search(
        r"((?:such as|including|with|of|are|were|like|und|wie) )(\w+), (\w+),? (and|und) (\w+)(?=[.,;])",
        text,
    )
    if not match:
        return text
    new = f"{match[1]}{match[5]}, {match[2]} {match[4]} {match[3]}"
    return text[: match.start()] + new + text[match.end() :]


_NEIGHBOUR = r"(?<=[a-z] )(?<!ty )(?<!hundred )"


def _function_words(text: str, _: random.Random) -> str:
    for old, new in (
        (" is not ", " isn't "), (" did not ", " didn't "), (" was not ", " wasn't "),
        (" does not ", " doesn't "), (" do not ", " don't "), (" cannot ", " can't "),
        (" as well as ", " and "), (" in order to ", " to "), (" due to the fact that ", " because "),
        (" upon ", " on "), (" sowie ", " und "), (" welche ", " die "),
        (" within the ", " in the "), (" that is ", " which is "), (" that are ", " which are "),
        ("因此", "所以"), ("并且", "而且"), ("但是", "不过"), ("由于", "因为"), ("例如", "比如"),
    ):  # fmt: skip
        if old in text:
            return text.replace(old, new, 1)
    return text


def _figures(text: str, _: random.Random) -> str:
    """Write numbers and dates in another way."""
    if match := _DATE.search(text):
        return text.replace(match[0], f"{match[2]} {match[1]} {match[3]}")
    if match := _DATE_BACK.search(text):
        return text.replace(match[0], f"{match[2]} {match[1]}, {match[3]}")
    if not re.search(r"\b(?:the|of|and|was) ", text):
        return text
    if re.search(r"\d%", text):
        return re.sub(r"(\d)%", r"\1 percent", text, count=1)
    if re.search(r"\d percent\b", text):
        return re.sub(r"(\d) percent\b", r"\1%", text, count=1)
    if match := re.search(_NEIGHBOUR + r"([2-9]|1[0-2])(?= [a-z]{3})", text):
        return text[: match.start()] + _WORDS_FOR[int(match[0])] + text[match.end() :]
    for value, word in _WORDS_FOR.items():
        if re.search(rf"{_NEIGHBOUR}{word} (?=[a-z]{{3}})", text):
            return re.sub(rf"{_NEIGHBOUR}{word} (?=[a-z]{{3}})", f"{value} ", text, count=1)
    if match := re.search(r"(?<![\d,])(\d{1,3}),(\d{3})\b(?!,)", text):
        return text.replace(match[0], match[1] + match[2], 1)
    return text


def _lead(text: str, chance: random.Random) -> str:
    """Begin in another way: leave a connective out, or put one in front."""
    shorter = re.sub(
        r"^(?:However|Moreover|In addition|Furthermore|Additionally|Thus|Therefore|For example|Also|Finally|Zudem|Außerdem|Jedoch), ",
        "",
        text,
    )
    if shorter != text:
        return shorter[0].upper() + shorter[1:]
    return chance.choice(
        ["In other words, ", "Notably, ", "As the article explains, ", "It is worth noting that "]
    ) + _lower(text)


def _lower(text: str) -> str:
    """Begin with a small letter where the first word is no name."""
    first = text.split(" ", 1)[0]
    known = "The A An In On At It They He She This These There To During After Most Some We"
    return text[0].lower() + text[1:] if first in known.split() else text


def _clause(text: str, _: random.Random) -> str:
    """Keep the main clause."""
    shorter = re.sub(
        r", (?:while|although|whereas|with|making|resulting|leading|including|wobei|während|obwohl|and is|and was|but) [^.]{15,}\.$",
        ".",
        text,
    )
    return shorter if len(shorter.split()) >= 8 else text


_PARAPHRASES = (_without_aside, _moved, _active, _listed, _function_words, _figures, _clause)


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).lower().strip()


def _plain_in(text: str, document: str) -> bool:
    return _plain(text) in _plain(document)


def paraphrases(source: Source, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield sentences of a document in other words, with the rules used."""

    def synonym(text: str, chance: random.Random) -> str:
        return _synonym(text, chance, source.half)

    for sentence in source.sentences:
        rules = [
            rule
            for rule in (synonym, *_PARAPHRASES)
            if rule(sentence, random.Random(1)) != sentence
        ]
        chance.shuffle(rules)
        told, names = sentence, []
        for rule in rules[: chance.choice([1, 2, 2, 3])]:
            told = rule(told, chance)
            names.append(rule.__name__.strip("_"))
        if names and source.language == "en" and chance.random() < 0.25:
            told = _lead(told, chance)
            names.append("lead")
        if names and not _plain_in(told, source.text):
            yield told, "+".join(names)


_AUXILIARY = re.compile(
    r"^(?:Who|What|Which ([\w ]+?)) (was|is|were|are|has|had|led|won|wrote|made|created|founded|began|developed|used|caused|became|designed|invented|introduced|established|discovered|gave|held) (.+?)\?$"
)


def answers(question: str, answer: str, source: Source) -> Iterator[tuple[str, bool]]:
    """Yield a question with its answer as a statement, and whether its words stand in one place.

    "Who founded X?" and "Y" become "Y founded X."; "What is X?" becomes "X is Y.".
    """
    match = _AUXILIARY.match(question)
    if not match or "?" in answer or len(answer) > 60:
        return
    subject = answer[0].upper() + answer[1:]
    if match[2] in {"was", "is", "were", "are"} and question.startswith("What "):
        rest = match[3]
        told = f"{rest[0].upper()}{rest[1:]} {match[2]} {answer}."
    else:
        told = f"{subject} {match[2]} {match[3]}."
    place = next((s for s in source.sentences if answer in s), "")
    words = list(re.findall(r"[A-Za-z]{4,}|\d+", told.lower()))
    near = sum(word in place.lower() for word in words) / max(len(words), 1)
    yield told, near >= 0.8


# --- rules: not the same -------------------------------------------------------------------------


def _other_number(text: str, chance: random.Random) -> str | None:
    found = list(re.finditer(r"(?<![\w.,-])\d[\d,.]*\d|(?<![\w.,-])\d(?![\w])", text))
    if not found:
        return None
    match = chance.choice(found)
    digits = list(match[0])
    places = [number for number, digit in enumerate(digits) if digit.isdigit()]
    place = chance.choice(places[-2:])
    old = digits[place]
    digits[place] = chance.choice([d for d in "123456789" if d != old])
    return text[: match.start()] + "".join(digits) + text[match.end() :]


def _other_word_number(text: str, chance: random.Random) -> str | None:
    words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"]
    found = [word for word in words if re.search(rf"(?<=[a-z] ){word}(?= [a-z])", text)]
    if not found:
        return None
    old = chance.choice(found)
    new = chance.choice([word for word in words if word != old])
    return re.sub(rf"(?<=[a-z] ){old}(?= [a-z])", new, text, count=1)


_MONTHS_OF = {
    "en": _MONTHS.split(),
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
}


def _other_month(text: str, chance: random.Random, language: str) -> str | None:
    months = [m for m in _MONTHS_OF.get(language, []) if re.search(rf"\b{m}\b(?! have| be)", text)]
    if not months:
        return None
    new = chance.choice([m for m in _MONTHS_OF[language] if m not in text])
    return re.sub(rf"\b{chance.choice(months)}\b", new, text, count=1)


_NAME = re.compile(r"(?<=[a-zäöüß,] )(?:[A-Z][a-zäöüß]+ )*[A-Z][a-zäöüß]{2,}")


def _names_in(source: Source) -> list[str]:
    if source.language == "de":  # nouns are written like names: take two capitals in a row
        return re.findall(r"(?<=[a-zäöüß,] )[A-Z][a-zäöüß]+ [A-Z][a-zäöüß]{2,}", source.text)
    if source.language == "zh":
        return re.findall(r"[\u4e00-\u9fff]{2,4}·[\u4e00-\u9fff]{2,5}", source.text)
    return [name for name in _NAME.findall(source.text) if len(name) > 3]


def _other_name(
    text: str, chance: random.Random, names: Sequence[str], own: Sequence[str]
) -> str | None:
    found = [name for name in dict.fromkeys(own) if name in text]
    if not found or not names:
        return None
    old = chance.choice(found)
    new = chance.choice([name for name in names if name not in text and old not in name] or [""])
    return text.replace(old, new) if new else None


def _swapped_names(text: str, chance: random.Random, own: Sequence[str]) -> str | None:
    """Let two names that are no items of one list change places."""
    found = [name for name in dict.fromkeys(own) if text.count(name) == 1]
    pairs = [
        (one, two)
        for one in found
        for two in found
        if text.find(one) < text.find(two)
        and one not in two
        and two not in one
        and len(re.findall(r"\w+", text[text.find(one) + len(one) : text.find(two)])) >= 2
        and not re.search(
            r", | and | or |、|和|与", text[text.find(one) + len(one) : text.find(two)]
        )
    ]
    if not pairs:
        return None
    one, two = chance.choice(pairs)
    return text.replace(one, "\0").replace(two, one).replace("\0", two)


def _swapped_numbers(text: str, _: random.Random) -> str | None:
    found = list(re.finditer(r"(?<![\w.,-])\d[\d,.]*\d(?![\w-])", text))
    if len(found) < 2 or found[0][0] == found[1][0]:
        return None
    one, two = found[:2]
    if re.fullmatch(r"\s?(?:,|and|or|und|oder|和|、)\s?", text[one.end() : two.start()]):
        return None
    return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def _denied(text: str, chance: random.Random, language: str) -> str | None:
    """Put a denial in, or take one out."""
    options = {
        "en": [(" is ", " is not "), (" was ", " was not "), (" are ", " are not "), (" were ", " were not "),
               (" can ", " cannot "), (" has been ", " has not been "), (" had ", " never had "),
               (" will ", " will not "), (" is not ", " is "), (" was not ", " was "), (" did not ", " did "),
               (" does not ", " does "), (" no ", " a "), (" never ", " "), (" cannot ", " can ")],
        "de": [(" ist ", " ist nicht "), (" wurde ", " wurde nicht "), (" sind ", " sind nicht "), (" war ", " war nicht "),
               (" wird ", " wird nicht "), (" nicht ", " "), (" keine ", " eine "), (" kein ", " ein ")],
        "zh": [("没有", "有"), ("不能", "能"), ("是", "不是"), ("可以", "不可以"), ("包括", "不包括"), ("位于", "并不位于")],
    }[language]  # fmt: skip
    found = [(old, new) for old, new in options if old in text]
    if not found:
        return None
    old, new = found[-1] if chance.random() < 0.5 else chance.choice(found)
    return text.replace(old, new, 1)


def _other_scope(text: str, chance: random.Random) -> str | None:
    options = [(" some ", " all "), (" all ", " some "), (" most ", " all "), (" many ", " all "), (" only ", " never "),
               (" at least ", " at most "), (" up to ", " at least "), (" more than ", " less than "), (" less than ", " more than "),
               (" before ", " after "), (" after ", " before "), (" always ", " rarely "), (" usually ", " always "),
               (" may ", " must "), (" million ", " billion "), (" billion ", " million "), (" percent ", " kilograms "),
               (" increased ", " decreased "), (" higher ", " lower "), (" largest ", " smallest "), (" days", " weeks"),
               (" years ", " months "), (" km", " miles"), (" miles", " km"), (" hours", " minutes"), (" first ", " last "),
               (" second ", " third "), (" north", " south"), (" east", " west")]  # fmt: skip
    found = [(old, new) for old, new in options if old in text]
    if not found:
        return None
    old, new = chance.choice(found)
    return text.replace(old, new, 1)


def edits(
    sentence: str, source: Source, names: Sequence[str], chance: random.Random
) -> list[tuple[str, str]]:
    """Return a sentence with something changed that makes it untrue, in every way that applies."""
    own = _names_in(source)
    made = {
        "number": _other_number(sentence, chance),
        "word-number": _other_word_number(sentence, chance) if source.language == "en" else None,
        "month": _other_month(sentence, chance, source.language),
        "name": _other_name(sentence, chance, names, own),
        "swapped-names": _swapped_names(sentence, chance, own),
        "swapped-numbers": _swapped_numbers(sentence, chance),
        "negation": _denied(sentence, chance, source.language),
        "scope": _other_scope(sentence, chance) if source.language == "en" else None,
    }
    return [
        (rule, told)
        for rule, told in made.items()
        if told and told != sentence and not _plain_in(told, source.text)
    ]


# --- building a half -----------------------------------------------------------------------------

_INVENTED = {
    "en": "it was praised by critics throughout Scandinavia|this inspired a popular television series|volunteers repaint it every spring|its archive was flooded by a burst pipe|local bakeries sell a cake in its honour|a museum in Lisbon keeps the original sketches|the tradition was revived by student orchestras|it remains a favourite topic of amateur photographers|insurance companies refused to cover the damage|a documentary about it won several awards",
    "de": "Kritiker in ganz Skandinavien lobten dies|freiwillige Helfer streichen es jeden Frühling neu|ein Museum in Lissabon bewahrt die Skizzen auf|eine Bäckerei verkauft dazu passende Torten|ein Orchester ließ den Brauch wieder aufleben",
    "zh": "当地面包店为此出售纪念蛋糕|志愿者每年春天都会重新粉刷|里斯本的博物馆保存着最初的草图|一部相关的纪录片获得了多个奖项|学生乐团恢复了这一传统",
}
_JOIN = {
    "en": (", and ", ", while ", "; moreover, "),
    "de": (", und ", "; außerdem "),
    "zh": ("，而且", "，同时"),
}
_QUOTE = {
    "en": ('The text says "{}".', "As the source puts it, “{}”.", 'It states: "{}".', '"{}"'),
    "de": ("Im Text heißt es: „{}“.", "Dort steht „{}“."),
    "zh": ("文中写道：“{}”。", "资料称“{}”。"),
}
_LANGUAGES = ("en", "en", "en", "de", "zh")


def build(half: Half, each: int) -> list[Case]:
    """Return ``each`` cases of every class, in a fixed order."""
    chance = random.Random(half.seed)
    makers: dict[Support, Callable[[Half, str, random.Random], Case | None]] = {
        Support.VERBATIM: _make_verbatim,
        Support.SUPPORTED: _make_supported,
        Support.PARTLY: _make_partly,
        Support.MISATTRIBUTED: _make_misattributed,
        Support.FRANKENQUOTE: _make_franken,
        Support.UNSUPPORTED: _make_unsupported,
        Support.FABRICATED: _make_fabricated,
    }
    cases: list[Case] = []
    for make in makers.values():
        made: list[Case] = []
        while len(made) < each:
            language = _LANGUAGES[len(made) % len(_LANGUAGES)]
            case = make(half, language, chance)
            if case and all(case.sentence != other.sentence for other in made):
                made.append(case)
        cases += made
    sources = half.sources["en"]
    for sentence in half.silent[:each]:
        cited, others = _retrieved(chance.choice(sources), sources, chance)
        cases.append(Case(Support.NO_CLAIM, "no-claim", sentence, cited, others))
    return cases


def _retrieved(
    source: Source, sources: Sequence[Source], chance: random.Random, without: str = ""
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """Return a document as what is cited, and its neighbours and others as the rest."""
    near = [s for s in sources if s.article == source.article and s.id not in {source.id, without}]
    far = [s for s in sources if s.article != source.article]
    rest = near[: RETRIEVED // 3] + chance.sample(far, RETRIEVED - 1)
    return (source.evidence,), tuple(s.evidence for s in rest[: RETRIEVED - 1])


def _pick(half: Half, language: str, chance: random.Random) -> tuple[Source, str]:
    source = chance.choice(half.sources[language])
    return source, chance.choice(source.sentences)


def _make_verbatim(half: Half, language: str, chance: random.Random) -> Case:
    source, told = _pick(half, language, chance)
    rule = chance.choice(("whole", "whole", "trimmed", "marked"))
    if rule == "trimmed":
        told = re.sub(
            r"^(?:[A-Z][a-z]+,|In [^,]{2,30},|Im Jahr \d+,|However,|因此，|此外，)\s*", "", told
        )
    elif rule == "marked":
        told = f"**{told[:-1]}** [{chance.randint(1, 9)}]{told[-1]}"
    elif language == "en" and chance.random() < 0.3:
        told, rule = f"According to the document, {told}", "lead-in"
    return Case(Support.VERBATIM, rule, told, *_retrieved(source, half.sources[language], chance))


def _make_supported(half: Half, language: str, chance: random.Random) -> Case | None:
    if language == "en" and chance.random() < 0.25:
        question, answer, source = chance.choice(half.questions)
        close = [told for told, near in answers(question, answer, source) if near]
        if not close or _plain_in(close[0], source.text):
            return None
        told, rule = close[0], "answer"
    else:
        source = chance.choice(half.sources[language])
        made = list(paraphrases(source, chance))
        if not made:
            return None
        told, rule = chance.choice(made)
    return Case(Support.SUPPORTED, rule, told, *_retrieved(source, half.sources[language], chance))


def _make_partly(half: Half, language: str, chance: random.Random) -> Case | None:
    source, told = _pick(half, language, chance)
    made = list(paraphrases(source, chance))
    if made and chance.random() < 0.5:
        told, _ = chance.choice(made)
    told = told.rstrip(".。")
    if len(told) > (60 if language == "zh" else 140):
        return None
    if chance.random() < 0.5:
        clause, rule = chance.choice(_INVENTED[language].split("|")), "invented"
    else:
        other, sentence = _pick(half, language, chance)
        clause = re.split("[,;，；]", sentence.rstrip(".。"))[0]
        rule = "foreign"
        short = len(clause) < (10 if language == "zh" else 35)
        if other.article == source.article or short or len(clause) > len(told):
            return None
        cited, others = _retrieved(source, half.sources[language], chance, other.id)
        others = tuple(evidence for evidence in others if evidence.document_id != other.id)
        sentence = (
            told + chance.choice(_JOIN[language]) + clause + ("。" if language == "zh" else ".")
        )
        return Case(Support.PARTLY, rule, sentence, cited, others)
    sentence = told + chance.choice(_JOIN[language]) + clause + ("。" if language == "zh" else ".")
    return Case(Support.PARTLY, rule, sentence, *_retrieved(source, half.sources[language], chance))


def _make_misattributed(half: Half, language: str, chance: random.Random) -> Case | None:
    source, told = _pick(half, language, chance)
    rule = "verbatim"
    if chance.random() < 0.5:
        made = list(paraphrases(source, chance))
        if not made:
            return None
        told, rule = chance.choice(made)
    cited_source = chance.choice(half.sources[language])
    if cited_source.id == source.id:
        return None
    cited, others = _retrieved(cited_source, half.sources[language], chance, source.id)
    others = tuple(e for e in others if e.document_id != source.id)[: RETRIEVED - 2]
    place = chance.randrange(len(others))
    return Case(
        Support.MISATTRIBUTED,
        rule,
        told,
        cited,
        (*others[:place], source.evidence, *others[place:]),
    )


def _words(sentence: str, language: str) -> list[str]:
    return list(sentence) if language == "zh" else sentence.split(" ")


def _make_franken(half: Half, language: str, chance: random.Random) -> Case | None:
    one, first = _pick(half, language, chance)
    two, second = _pick(half, language, chance)
    first, second = first.rstrip(".。"), second.rstrip(".。")
    space = "" if language == "zh" else " "
    least = 16 if language == "zh" else 12
    if '"' in first + second or "“" in first + second:
        return None
    cited, others = _retrieved(one, half.sources[language], chance, two.id)
    rule = chance.choice(("two-documents", "two-places", "changed-word", "unmarked"))
    if rule in {"two-documents", "unmarked"}:
        if (
            one.id == two.id
            or min(len(_words(first, language)), len(_words(second, language))) < least
        ):
            return None
        cited = (*cited, two.evidence)
        others = tuple(e for e in others if e.document_id != two.id)
    elif rule == "two-places":
        if len(one.sentences) < 4:
            return None
        first, second = one.sentences[-1].rstrip(".。"), one.sentences[0].rstrip(".。")
        if (
            '"' in first + second
            or min(len(_words(first, language)), len(_words(second, language))) < least
        ):
            return None
    words = _words(first, language)
    if rule == "changed-word":
        long = [
            n
            for n, word in enumerate(words)
            if len(word) > 4 and word.isalpha() and 1 < n < len(words) - 2
        ]
        if language == "zh" or not long:
            return None
        spare = [
            w
            for w in _words(second, language)
            if len(w) > 4 and w.isalpha() and w.islower() and w not in first
        ]
        if not spare or len(words) < 8:
            return None
        words[chance.choice(long)] = chance.choice(spare)
        told = space.join(words)
    else:
        tail = _words(second, language)
        told = space.join(words[: len(words) // 2]) + space + space.join(tail[len(tail) // 2 :])
    if _plain_in(told, one.text):
        return None
    frame = "{}." if rule == "unmarked" else chance.choice(_QUOTE[language])
    return Case(Support.FRANKENQUOTE, rule, frame.format(told), cited, others)


def _make_unsupported(half: Half, language: str, chance: random.Random) -> Case | None:
    source, told = _pick(half, language, chance)
    sources = half.sources[language]
    cited, others = _retrieved(source, sources, chance)
    if chance.random() < 0.2:
        near = [s for s in sources if s.article == source.article and s.id != source.id]
        if not near:
            return None
        unsaid = chance.choice(near)
        others = tuple(e for e in others if e.document_id != unsaid.id)
        return Case(Support.UNSUPPORTED, "unsaid", chance.choice(unsaid.sentences), cited, others)
    if chance.random() < 0.5:
        made = list(paraphrases(source, chance))
        told = chance.choice(made)[0] if made else told
    names = _names_in(chance.choice([s for s in sources if s.article != source.article]))
    changed = edits(told, source, names, chance)
    if not changed:
        return None
    rule, told = chance.choice(changed)
    return Case(Support.UNSUPPORTED, rule, told, cited, others)


def _make_fabricated(half: Half, language: str, chance: random.Random) -> Case:
    source, told = _pick(half, language, chance)
    cited, others = _retrieved(source, half.sources[language], chance)
    name = source.id.rsplit("/", 1)[1]
    marker = chance.choice(
        (f"{name[::-1]}x:Intro", f"{name}:No Such Section", "12", f"{name}-2:Tracking")
    )
    return Case(Support.FABRICATED, "marker", f"{told} [^{marker}]", cited, others, marker)


_SILENT = (
    (
        "Hello!", "Hi there, thanks for asking.", "Good morning.", "Sure, I can help with that.", "You're welcome!",
        "What would you like to know next?", "Do you mean the first or the second edition?", "Summary", "Key points:",
        "## Background", "Here is what I found in the documents:", "The documents do not say who paid for it.",
        "The sources provided do not contain this information.", "I could not find an answer in the documents.",
        "There is no mention of this in the provided context.", "Let me know if you need more detail.",
        "Please check the original document.", "I hope this helps.", "The context does not mention the price.",
        "Would you like me to search again?", "None of the documents mentions a date.", "I'm sorry, I cannot answer that.",
        "In summary:", "The sources disagree on this point.", "The available documents are not sufficient to answer.",
        "Feel free to ask a follow-up question.", "Based on the documents, it is not possible to say.",
        "Hallo!", "Guten Tag, gern helfe ich Ihnen.", "Die Dokumente enthalten keine Angaben dazu.",
        "Möchten Sie mehr darüber wissen?", "Zusammenfassung", "Dazu steht in den Quellen nichts.",
        "Hier ist, was ich gefunden habe:", "Bonjour !", "Les documents ne précisent pas la date.",
        "Souhaitez-vous plus de détails ?", "Voici ce que j'ai trouvé :", "¡Hola!", "Los documentos no lo mencionan.",
        "¿Desea saber algo más?", "Ciao!", "I documenti non lo dicono.", "Vuole sapere altro?", "你好！",
        "文档中没有提到这一点。", "您想了解更多吗？", "以下是我找到的内容：", "抱歉，我无法回答这个问题。", "总结：",
    ),
    (
        "Good afternoon!", "Thank you for your question.", "Of course, happy to look into it.", "Certainly!", "Glad to help.",
        "Could you tell me which year you mean?", "Is that the report you had in mind?", "Overview", "Main findings:",
        "### Limitations", "Below is a short overview:", "The passages do not state how long it took.",
        "Unfortunately, the documents contain no figures on that.", "I did not find anything about this in the sources.",
        "No information about the cost is given in the documents.", "If you have further questions, just ask.",
        "See the cited section for details.", "Apologies for the confusion, let me try again.",
        "The retrieved excerpts are silent on the cause.", "Shall I look for related material?",
        "The evidence is insufficient to decide.", "I don't know.", "To summarize:", "It is unclear from the documents why this happened.",
        "The text does not specify the author.", "This question cannot be answered from the documents.", "You may want to consult the full report.",
        "Guten Morgen!", "Vielen Dank für Ihre Frage.", "Aus den Unterlagen geht nicht hervor, wer das bezahlt hat.",
        "Soll ich weiter suchen?", "Überblick", "Leider finde ich dazu keine Angaben in den Dokumenten.",
        "Im Folgenden die wichtigsten Punkte:", "Merci pour votre question.", "Aucune information à ce sujet ne figure dans les sources.",
        "Pouvez-vous préciser la question ?", "En résumé :", "Gracias por su pregunta.", "Las fuentes no indican la fecha.",
        "¿Puede precisar a qué se refiere?", "Grazie per la domanda.", "Le fonti non specificano il prezzo.", "Può chiarire la domanda?",
        "谢谢您的提问。", "所提供的资料未说明原因。", "您指的是哪一年？", "下面是简要概述：", "很遗憾，文件里没有相关信息。", "主要内容：",
    ),
)  # fmt: skip
