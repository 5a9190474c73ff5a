"""Rules that change what a sentence says: another number, date, event or thing, a denial, a group.

The tables are the benchmark's own; each half has its own opposites (every second pair).
"""

# ruff: noqa: E501 - tables and patterns in one piece

import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from disagreement_rules import MONTH, MONTHS, SINGLE_YEAR, WORD_NUMBERS, pairs_of, words_of
from disagreement_sources import Source

# --- another number -----------------------------------------------------------------------------

_FIGURE = {
    "en": re.compile(
        r"(?<![\w.,:/–−(-])(?<!No\. )(?<!\d )\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/–−)-]|[.,]\d| \d{3})"
    ),
    "de": re.compile(r"(?<![\w.,:/–−(-])\d+(?:\.\d{3})*(?:,\d+)?(?![\w:/–−)-]|[.,]\d|\.\s)"),
    "zh": re.compile(
        r"(?<![\w.,:/–−(（-]|第)(?<![\u4e00-\u9fff]第)\d+(?:,\d{3})*(?:\.\d+)?(?!\s?[年月日世号:/–−-]|[.,]?\d|\s?[A-Za-z])"
    ),
}
_LABELS = re.compile(
    r"(?:chapter|section|figure|table|version|page|year|type|level|channel|Claude|grade|title|article|step|stage|Kapitel|Artikel|Jahre?|Band|Kanal|No\.|Nr\.|Type|Title|Article|Apollo|Boeing|Airbus|Super Bowl|Channel|Highway|Route|Area)\s$",
    re.IGNORECASE,
)


def _figures_of(text: str, language: str) -> Iterator[re.Match[str]]:
    dated = MONTH.get(language, "(?!)")
    for match in _FIGURE[language].finditer(text):
        plain = re.fullmatch(r"1\d{3}|20\d\d|21\d\d", match[0])
        before, after = text[: match.start()], text[match.end() :]
        beside = re.search(rf"{dated} $", before) or re.match(
            rf"\.? {dated}|\.? ?(?:century|Jahrhundert)|er\b", after
        )
        if not (plain or beside or _LABELS.search(before)):
            yield match


def _changed(shown: str, language: str, chance: random.Random, *, share: bool) -> str:
    mark, group = (",", ".") if language == "de" else (".", ",")
    value = Decimal(shown.replace(group, "").replace(mark, "."))
    places = len(shown.partition(mark)[2])
    factor = Decimal(chance.choice(("0.5", "0.7", "0.8", "1.3", "1.5", "1.9")))
    new = round(value * factor, places)
    if share and new > 100:
        new = round(value / 2, places)
    if abs(new - value) < 1 and not places:
        new = value + chance.choice((1, 2, 3))
    if new == value:
        new = value + Decimal(3).scaleb(-places)
    text = f"{new:,f}" if group in shown else f"{new:f}"
    return text.translate({ord(","): group, ord("."): mark}) if language == "de" else text


def other_number(text: str, language: str, chance: random.Random) -> str | None:
    """Change one number that is no year, date, rank or label; its unit stays."""
    figures = [
        (
            m.start(),
            m.end(),
            _changed(
                m[0],
                language,
                chance,
                share=re.match(r" ?[%％]| percent| Prozent", text[m.end() :]) is not None,
            ),
        )
        for m in _figures_of(text, language)
    ]
    words = WORD_NUMBERS[language]
    pattern = "|".join(sorted(words, key=len, reverse=True))
    if language == "zh":
        spoken = re.finditer(
            rf"(?<![一二三四五六七八九十百千万第])(?:{pattern})(?=[个名种次位座家条项人])", text
        )
    else:
        spoken = re.finditer(
            rf"(?<=[a-zäöüß] )(?<!ty )(?:{pattern})(?= [A-Za-zäöü]{{3}})(?! hundred| thousand| million| of )",
            text,
        )
    for match in spoken:
        new = chance.choice([word for word in words if word != match[0]])
        figures.append((match.start(), match.end(), new))
    if not figures:
        return None
    start, end, new = chance.choice(figures)
    return text[:start] + new + text[end:]


# --- another date -------------------------------------------------------------------------------

_YEAR = {
    "en": re.compile(
        r"(?:(?<=\b[Ii]n )|(?<=\bBy )|(?<=\bby )|(?<=\b[Ss]ince )|(?<=\b[Uu]ntil )|(?<=\bfrom )|(?<=\bof )|(?<=\bearly )|(?<=\blate )|(?<=\d, )|(?<!\band )(?<=[a-z] ))(?P<year>1\d{3}|20[0-2]\d)(?![\w–/-]|[.,]\d| [a-z]+s\b(?! was| were))"
    ),
    "de": re.compile(
        r"(?:^|(?<=Jahr )|(?<=Jahre )|(?<=seit )|(?<=bis )|(?<=ab )|(?<=von )|(?<=wurde )|(?<=[a-zäöü]{3} ))(?P<year>1\d{3}|20[0-2]\d)(?![\w–/-]|[.,]\d)(?= |\.|,)"
    ),
    "zh": re.compile(r"(?<![\d–-])(?P<year>1\d{3}|20[0-2]\d)(?=\s?年(?!代|来|间))"),
}
_DAY = {
    "en": re.compile(rf"(?<= )\d{{1,2}}(?= {MONTH['en']}\b)|(?:(?<=ber )|(?<=ary )|(?<=uly )|(?<=une )|(?<=ril )|(?<=ust ))\d{{1,2}}(?=,? )"),
    "de": re.compile(rf"\d{{1,2}}(?=\. {MONTH['de']}\b)"),
    "zh": re.compile(r"(?<=月)\d{1,2}(?=日)"),
}  # fmt: skip
_FRONT = 30  # characters


def other_date(text: str, language: str, chance: random.Random) -> tuple[str, str] | None:
    """Change a year, a month or a day; return the rule and the sentence."""
    options: list[tuple[str, int, int, str]] = []
    for match in _YEAR[language].finditer(text):
        year = int(match["year"])
        new = min(year + chance.choice((-12, -7, -3, -2, -1, 1, 2, 4, 9)), 2022)
        place = "front" if match.start() < (8 if language == "zh" else _FRONT) else "later"
        options.append(
            (
                f"year-{place}",
                match.start("year"),
                match.end("year"),
                str(new if new != year else year - 1),
            )
        )
    options += _other_months(text, language, chance)
    options += [
        ("day", match.start(), match.end(), str(int(match[0]) % 28 + 1))
        for match in _DAY[language].finditer(text)
    ]
    if not options:
        return None
    rule, start, end, shown = chance.choice(options)
    return rule, text[:start] + shown + text[end:]


def _other_months(
    text: str, language: str, chance: random.Random
) -> Iterator[tuple[str, int, int, str]]:
    if language not in MONTHS:
        for match in re.finditer(r"(?<!\d)\d{1,2}(?=\s?月)", text):
            yield "month", match.start(), match.end(), str(int(match[0]) % 12 + 1)
        return
    for match in re.finditer(rf"\b{MONTH[language]}\b(?= \d|[.,]? )", text):
        before = text[: match.start()]
        if match[0] in {"May", "March"} and not re.search(r"(?:in|of|on|\d) $|^In $", before):
            continue
        new = chance.choice([month for month in MONTHS[language] if month != match[0]])
        yield "month", match.start(), match.end(), new


# --- a denial -----------------------------------------------------------------------------------

_DENIALS = {
    "en": [(" is ", " is not "), (" was ", " was not "), (" are ", " are not "), (" were ", " were not "), (" can ", " cannot "),
           (" has been ", " has not been "), (" have been ", " have not been "), (" had been ", " had not been "), (" will ", " will not "), (" should ", " should not "),
           (" is not ", " is "), (" was not ", " was "), (" were not ", " were "), (" cannot ", " can "), (" could not ", " could "), (" are not ", " are "),
           (" began ", " did not begin "), (" became ", " never became "), (" led ", " did not lead "), (" won ", " did not win "), (" made ", " did not make "),
           (" has ", " does not have "), (" had a", " did not have a"), (" includes ", " does not include "), (" include ", " do not include "), (" provides ", " does not provide "), (" allows ", " does not allow ")],
    "de": [(" ist ", " ist nicht "), (" wurde ", " wurde nicht "), (" sind ", " sind nicht "), (" war ", " war nicht "), (" wurden ", " wurden nicht "),
           (" kann ", " kann nicht "), (" nicht ", " "), (" keine ", " eine "), (" kein ", " ein "), (" hatte ", " hatte nie "), (" eine ", " keine "), (" ein ", " kein ")],
    "zh": [("没有", "有"), ("不能", "能"), ("不是", "是"), ("是", "不是"), ("可以", "不可以"), ("包括", "不包括"), ("位于", "并不位于"), ("成为", "未成为"), ("拥有", "没有"), ("会", "不会"), ("属于", "不属于"), ("需要", "不需要"), ("具有", "不具有")],
}  # fmt: skip
_OPPOSITES = {
    "en": pairs_of(
        "increased/decreased|higher/lower|largest/smallest|won/lost|accepted/rejected|allowed/forbidden"
        "|northern/southern|eastern/western|gained/lost|positive/negative|began/ceased|supported/opposed"
        "|rose/fell|improved/worsened|highest/lowest|oldest/youngest|successful/unsuccessful"
        "|possible/impossible|able/unable|legal/illegal|strong/weak|common/rare|public/private|major/minor"
        "|included/excluded|failed/succeeded|upper/lower|early/late|easy/difficult|longer/shorter"
        "|larger/smaller|old/new|high/low|important/unimportant|necessary/unnecessary|south/north|east/west"
        "|rich/poor|growing/shrinking|agreed/refused|expensive/cheap"
    ),
    "de": pairs_of(
        "größte/kleinste|höher/niedriger|nördlich/südlich|östlich/westlich|erlaubt/verboten|gewann/verlor"
        "|große/kleine|erfolgreich/erfolglos|möglich/unmöglich|alte/neue|hohe/niedrige|öffentlichen/privaten"
        "|frühen/späten|stärker/schwächer|wichtig/unwichtig|größten/kleinsten"
    ),
    "zh": pairs_of(
        "最大/最小|增加/减少|上升/下降|北部/南部|东部/西部|成功/失败|高于/低于|支持/反对|公立/私立|允许/禁止|合法/非法|赢得/输掉|早期/晚期|强/弱|最高/最低|以前/以后|提高/降低"
    ),
}
_UNSAFE = re.compile(
    r"\b(?:may|might|could|would|some|few|sometimes|whether|if|not only|not just|either|neither|possible that|mehr|whether|ob|wenn|nicht nur|manche|einige|should)\b|不仅|是否|如果|也许|可能|一些|有些|不同",
    re.IGNORECASE,
)


_HAS_DENIAL = re.compile(
    r"\b(?:no|not|never|neither|nor|none|without|hardly|nicht|kein\w*|nie|ohne|weder)\b|n't|[不没未无非]",
    re.IGNORECASE,
)


def _may_be_denied(text: str) -> bool:
    """Whether it does not say of some, or of what may be: its denial may be true as well."""
    return not _UNSAFE.search(text)


def opposed(text: str, source: Source, chance: random.Random) -> tuple[str, str] | None:
    """Put a word's opposite in its place; return the rule and the sentence."""
    language = source.language
    edge = "" if language == "zh" else r"(?<![\w-])"
    stop = "" if language == "zh" else r"(?![\w-])"
    pairs = [
        (a, b)
        for one, two in _OPPOSITES[language][source.half :: 2]
        for a, b in ((one, two), (two, one))
    ]
    pairs = [
        (a, b) for a, b in pairs if len(re.findall(edge + a + stop, text)) == 1 and b not in text
    ]
    if not pairs or not _may_be_denied(text):
        return None
    old, new = chance.choice(pairs)
    return "opposite", re.sub(edge + old + stop, new, text, count=1)


def denied(text: str, source: Source, chance: random.Random) -> tuple[str, str] | None:
    """Put a denial in or take it out; return the rule and the sentence."""
    found = [(old, new) for old, new in _DENIALS[source.language] if text.count(old) == 1]
    if _HAS_DENIAL.search(text):  # two denials are none
        found = [(old, new) for old, new in found if len(new) < len(old)]
    if not found or not _may_be_denied(text):
        return None
    old, new = chance.choice(found)
    return "denial" if len(new) >= len(old) else "denial-gone", text.replace(old, new, 1)


# --- another statement --------------------------------------------------------------------------

_HAPPENED = {
    "en": re.compile(
        r"(?<= was )(?:founded|established|built|opened|closed|signed|launched|introduced|published|released|created|discovered|captured|invaded|formed|adopted|acquired|sold|completed|destroyed|abolished|constructed|erected|developed|divided|issued|approved|named|renamed|elected|appointed|awarded|born|killed|made|held|begun)\b|(?<=[a-z] )(?:founded|established|opened|closed|launched|introduced|published|released|created|discovered|captured|invaded|formed|adopted|acquired|purchased|sold|completed|destroyed|abolished|died|joined|left|entered|hired|defeated)(?= (?:the|a|his|its|her|their|an|in|at) )"
    ),
    "de": re.compile(
        r"\b(?:gegründet|gebaut|errichtet|eröffnet|unterzeichnet|gewählt|veröffentlicht|eingeführt|erobert|besiegt|ernannt|entdeckt|verkauft|aufgelöst|zerstört|umbenannt|ersetzt|abgeschafft|geschaffen)\b"
    ),
    "zh": re.compile(
        r"成立|建立|建成|开放|签署|发布|推出|出版|发现|占领|击败|收购|废除|创建|合并|摧毁|建造"
    ),
}
_INSTEAD = {
    "en": words_of("renovated photographed inspected insured measured criticised visited surveyed"),
    "de": words_of("renoviert fotografiert besichtigt versichert vermessen kritisiert besucht"),
    "zh": words_of("参观 拍摄 检查 赞扬 测量"),
}
_COUNTED = {
    "en": re.compile(
        r"(?<![\w.,$£€–-])(\d+|two|three|four|five|six|seven|eight|nine|ten|twelve) ([a-z]{3,}s)\b(?! (?:of|later|before|after|ago))"
    ),
    "de": re.compile(
        r"(?<![\w.,–-])(\d+|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf) ([A-ZÄÖÜ][a-zäöüß]{3,}(?:n|er|e))\b"
    ),
    "zh": re.compile(r"(?<![\w.,–第-])(\d+|[两三四五六七八九])\s?([个名家座所][\u4e00-\u9fff]{2})"),
}
_THINGS = {
    "en": words_of("bridges engineers libraries lakes letters bakeries horses lamps"),
    "de": words_of("Brücken Ingenieure Bibliotheken Seen Briefe Bäcker Pferde"),
    "zh": words_of("座桥梁 名厨师 家面包店 所图书馆 个湖泊"),
}
_NO_THINGS = re.compile(
    r"(?:years|days|months|weeks|hours|minutes|seconds|miles|metres|meters|kilometers|kilometres|times|dollars|pounds|percent|points|degrees|Jahre|Jahren|Tage|Tagen|Monate|Monaten|Stunden|Minuten|Meilen|Meter|Kilometer|Prozent|Millionen|Mal)$"
)


_CLAUSE_ENDS = re.compile(r"[,;:，；：]| and | und | which | that | der | die ")


def other_event(text: str, language: str, chance: random.Random) -> tuple[str, str] | None:
    """Put another event and its date in the place of the one told; return the rule as well.

    Only where the date stands with the event: no clause ends between the two.
    """
    dated = other_date(text, language, chance)
    found = list(_HAPPENED[language].finditer(text))
    if not dated or len(found) != 1:
        return None
    told, event = dated[1], found[0]
    start = next(n for n, (one, other) in enumerate(zip(text, told, strict=False)) if one != other)
    low, high = sorted((start, event.start()))
    between = re.sub(r"^[^,，]{0,12}[,，]", "", text[low:high]) if low == start else text[low:high]
    if len(told) != len(text) or _CLAUSE_ENDS.search(between):
        return None
    new = chance.choice(_INSTEAD[language])
    return "other-event", told[: event.start()] + new + told[event.end() :]


def other_things(text: str, language: str, chance: random.Random) -> str | None:
    """Put another number of other things in the place of what is counted."""
    found = [
        m
        for m in _COUNTED[language].finditer(text)
        if not (_NO_THINGS.search(m[2]) or SINGLE_YEAR.fullmatch(m[1]))
    ]
    if not found:
        return None
    match = chance.choice(found)
    number = chance.choice([n for n in ("14", "17", "23", "35") if n != match[1]])
    space = "" if language == "zh" else " "
    return (
        text[: match.start()]
        + number
        + space
        + chance.choice(_THINGS[language])
        + text[match.end() :]
    )


# --- another group ------------------------------------------------------------------------------

_GROUPS = {
    "en": ("for members/for guests|for adults/for children|on weekdays/on Sundays|in the north/in the south",
           "for residents/for visitors|for the first group/for the second group|in winter/in summer|for students/for teachers"),
    "de": ("für Mitglieder/für Gäste|im Winter/im Sommer|für Kinder/für Erwachsene",
           "für Anwohner/für Besucher|im Norden/im Süden|für Schüler/für Lehrer"),
    "zh": ("对于会员/对于访客|在冬季/在夏季", "对于学生/对于教师|在北方/在南方"),
}  # fmt: skip


def qualifications(
    language: str, half: str, chance: random.Random
) -> tuple[str, str, Callable[[str, str], str]]:
    """Return two groups, and how a sentence is told to hold for one."""
    listed = _GROUPS[language][half == "test"].split("|")
    first, second = chance.choice(listed).split("/")

    def place(text: str, group: str) -> str:
        if language == "zh":
            return f"{group}，{text}"
        return f"{text[:-1]} {group}."

    return first, second, place


def years(language: str, chance: random.Random) -> tuple[int, int, Callable[[str, int], str]]:
    """Return two years, and how a sentence is told to give the figure of one."""
    first = chance.randint(2001, 2015)
    at_the_end = chance.random() < 0.5

    def place(text: str, year: int) -> str:
        if language == "zh":
            return f"{year}年，{text}"
        if language == "de":
            return f"{text[:-1]} (Stand {year})." if at_the_end else f"Stand {year}: {text}"
        if at_the_end:
            return f"{text[:-1]} in {year}."
        small = re.match(r"(?:The|A|An|In|It|They|About|Over|This|These|Most|Only|Of|More)\b", text)
        return f"In {year}, {text[0].lower() + text[1:] if small else text}"

    return first, first + chance.randint(1, 4), place
