"""Which sentences are taken for pairs of claims, and rules that say the same in other words.

The tables are the benchmark's own. Each half has its own pairs of words (every second one).
"""

# ruff: noqa: E501 - tables and patterns in one piece

import random
import re
from collections.abc import Callable

from disagreement_sources import Source


def pairs_of(listed: str) -> list[list[str]]:
    """Return the pairs of a table that is written as text: ``a/b|c/d``."""
    return [pair.split("/") for pair in listed.split("|")]


def words_of(listed: str) -> list[str]:
    """Return the words of a table that is written as text."""
    return listed.split()


# --- which sentences are taken ------------------------------------------------------------------


MONTHS = {
    "en": words_of(
        "January February March April May June July August September October November December"
    ),
    "de": words_of(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    ),
}
MONTH = {language: f"(?:{'|'.join(months)})" for language, months in MONTHS.items()}


def is_fit(sentence: str, language: str) -> bool:
    """Whether a sentence is a statement of its own: prose, no quotation, no formula."""
    if re.search(r"[\"“”„«»|=<>{}\[\]*#`@]|https?:|\?", sentence):
        return False
    if language == "zh":
        return 15 <= len(sentence) <= 90
    words = sentence.split()
    if re.search(r"Role Content|: -|[.!?] \S{1,3}$", sentence):
        return False  # rows of a table, items of a list
    if re.search(r"\b(?:class of|season|Saison|Jahrgang)\b", sentence):
        return False  # a year may name one of many
    if re.match(rf"(?:{'|'.join(MONTHS['de'])}|Jahrhundert|To [^,]+$)", sentence):
        return False  # cut at "am 3."; an aim without a claim
    return (
        7 <= len(words) <= 36 and sentence[0].isupper() and sum(w[0].islower() for w in words) >= 4
    )


_EVENTS = {
    "en": re.compile(
        r"\b(?:began|founded|established|built|opened|closed|died|born|signed|elected|launched|introduced|published|released|created|discovered|invented|appointed|captured|defeated|invaded|arrived|formed|adopted|ended|started|became|announced|acquired|purchased|sold|merged|crowned|married|conquered|completed|destroyed|abolished|ratified|dissolved|renamed|granted|joined|killed|erected|declared|premiered|debuted|replaced|relocated|deposed|commissioned|rebuilt|enacted|constructed|settled|inaugurated|designated|moved|left|took|came|gave|wrote|lost|hosted|received|awarded|returned|entered|sent|agreed|fled|seized|ruled|met|decided|voted|brought|won|named|broke|hired|aired|finished|beat|landed|overthrew|succeeded|occurred|accepted|expanded|filed|sued|approved|assumed|attacked|convinced|commenced|carried out|divided|transferred|revised|surrendered|demolished|collapsed|resigned|retired|graduated|assassinated|arrested|emigrated|settled|erupted|issued|rejected|unveiled|recorded|developed|drafted|promoted|reported|identified|described|released|moved)\b"
    ),
    "de": re.compile(
        r"(?:gegründet|gebaut|errichtet|eröffnet|starb|geboren|unterzeichnet|gewählt|veröffentlicht|eingeführt|begann|erobert|besiegt|ernannt|entdeckt|erfunden|verkauft|gekauft|erworben|aufgelöst|zerstört|angekündigt|kündigte|fusioniert|getötet|gekrönt|verabschiedet|ratifiziert|endete|gestartet|startete|gründete|erhielt|wurde zu[mr]?\b|umbenannt|ersetzt|fertiggestellt|abgeschafft|geschaffen|übernommen|übernahm|eröffnete|wechselte|schloss|verließ|erklärte|führte|gewann|verlor|kam|brachte|ging|zog|schrieb|nahm|verlieh|floh|trat|wurden|wurde \w+t\b|starben|fiel|stimmte|erlitt|traf|griff|veröffentlichte|erfand|entdeckte|baute|teilte|genehmigte|kaufte|unterzeichnete|setzte)"
    ),
    "zh": re.compile(
        r"成立|建立|建成|开放|去世|出生|签署|当选|发布|推出|出版|发现|发明|任命|占领|击败|入侵|抵达|开始|结束|成为|宣布|收购|通过|废除|创建|创立|加入|合并|改名|更名|完工|摧毁|加冕|逝世|建造|开播|首播|启动|设立|颁布|引入|搬"
    ),
}
_RECURRING = {
    "en": re.compile(
        r"\b(?:population|percent|average|rate|revenue|income|passengers|visitors|students|GDP|unemployment|budget|residents|inhabitants|households|temperature|sales|annual|annually|per year|tons|members|census|estimated|users|viewers|enrollment|deaths|output|economy|spent|rose|grew|produced)\b|%"
    ),
    "de": re.compile(
        r"Bevölkerung|Prozent|%|Durchschnitt|Umsatz|Einkommen|Zahl der|Einwohner|Studenten|Arbeitslos|Haushalt|jährlich|Milliarden|Tonnen|Mitglieder|geschätzt|Rate|Quote|betrug|lag bei"
    ),
    "zh": re.compile(
        r"人口|%|％|百分|平均|收入|人数|数量|居民|学生|失业|预算|每年|亿|吨|会员|估计|总数"
    ),
}
SINGLE_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_SHARES = re.compile(r"[%％]|per ?cent|Prozent|百分|population|inhabitants|Bevölkerung|人口")
_EACH = re.compile(r"\b(?:each|every|per) (?:year|season|day)\b|annual|jährlich|每年")


def has_event(sentence: str, language: str) -> bool:
    """Whether a sentence tells of something that happened once."""
    return _EVENTS[language].search(sentence) is not None


def is_recurring(sentence: str, language: str) -> bool:
    """Whether a sentence gives a figure that another year has too."""
    if has_event(sentence, language):
        return _EACH.search(sentence) is not None or _SHARES.search(sentence) is not None
    return not SINGLE_YEAR.search(sentence) and _RECURRING[language].search(sentence) is not None


# --- the same in other words --------------------------------------------------------------------

_OTHER_WORDS = {
    "en": pairs_of(
        "began/started|large/big|approximately/about|located/situated|constructed/built|built/erected"
        "|purchased/bought|used/employed|required/needed|several/various|many/numerous|near/close to"
        "|important/significant|main/principal|obtained/received|provides/offers|allowed/permitted"
        "|helped/assisted|chosen/selected|entire/whole|often/frequently|annual/yearly|nearly/almost"
        "|usually/typically|occurred/took place|died/passed away|was established/was founded"
        "|demonstrated/showed|found/discovered|ended/finished|rapidly/quickly|difficult/hard"
        "|however/nevertheless|created/produced|because/since|created/made|attempted/tried|reduce/lower"
        "|primarily/mainly|participants/subjects|assess/evaluate|assessed/evaluated|examine/investigate"
        "|associated with/linked to|significantly/markedly|common/widespread|children/kids|current/present"
        "|people/persons|famous/well-known|defeated/beat|joined/became a member of|huge/enormous"
        "|additional/extra|consists of/is made up of|ensure/make sure|create/build|choose/select"
        "|available/accessible|helps/assists|simple/straightforward|specific/particular|allows/lets"
        "|improve/enhance|complex/complicated|such as/for example|although/even though|jobs/positions"
        "|including/among them|led to/resulted in|called/named|known as/called|home/house"
        "|responsible for/in charge of"
    ),
    "de": pairs_of(
        "begann/startete|große/bedeutende|ungefähr/etwa|etwa/rund|wichtig/bedeutsam|wichtige/bedeutende"
        "|errichtet/gebaut|häufig/oft|benötigt/gebraucht|verwendet/benutzt|verwendet/eingesetzt"
        "|gezeigt/nachgewiesen|mehrere/einige|jedoch/allerdings|viele/zahlreiche|außerdem/zudem"
        "|ebenfalls/auch|insbesondere/vor allem|beispielsweise/zum Beispiel|normalerweise/gewöhnlich"
        "|sowie/und|obwohl/obgleich|ermöglicht/erlaubt|verschiedene/unterschiedliche|bekannt/berühmt"
        "|gegründet/ins Leben gerufen|meisten/überwiegenden|Gebiet/Region|Beginn/Anfang"
        "|besteht aus/setzt sich zusammen aus|aufgrund/wegen|schnell/rasch|gesamte/ganze|erhielt/bekam"
        "|weil/da"
    ),
    "zh": pairs_of(
        "因此/所以|由于/因为|例如/比如|但是/不过|并且/而且|此外/另外|使用/采用|开始/着手|建立/创建|重要/关键|许多/很多|非常/十分|主要/首要|以及/和|大约/约|同时/与此同时"
        "|帮助/协助|位于/坐落于|通常/一般|发现/找到|认为/觉得|成为/变成|包括/包含|能够/可以|导致/造成|拥有/具有|然而/可是|不同/各异|著名/有名|购买/买下|需要/必须有|如果/倘若"
        "|人们/民众|最大/最为巨大|建造/修建|当时/那时|居住/生活"
    ),
}
WORD_NUMBERS = {
    "en": words_of("two three four five six seven eight nine ten eleven twelve"),
    "de": words_of("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
    "zh": words_of("两 三 四 五 六 七 八 九"),
}
Rule = Callable[[str, Source, random.Random], str]


def _synonym(text: str, source: Source, chance: random.Random) -> str:
    edge = "" if source.language == "zh" else r"(?<![\w-])"
    stop = "" if source.language == "zh" else r"(?![\w-])"
    table = _OTHER_WORDS[source.language][source.half :: 2]
    found = [(a, b) for a, b in table if re.search(edge + re.escape(a) + stop, text)]
    for old, new in chance.sample(found, min(len(found), 3)):
        text = re.sub(edge + re.escape(old) + stop, new, text, count=1)
    return text


def _without_aside(text: str, source: Source, _: random.Random) -> str:
    """Leave out what stands in parentheses, or a relative clause between commas."""
    shorter = re.sub(r"\s?[(（][^()（）]*[)）]", "", text, count=1)
    if shorter != text or source.language == "zh":
        return shorter
    clause = r", (?:who|which|where|whose|die|der|das|deren|wo) [^,.]{8,90}, (?!(?:and|or|und|oder)\b)(?=[a-zäöü])"
    return re.sub(clause, " ", text, count=1)


def _main_clause(text: str, source: Source, _: random.Random) -> str:
    """Keep the main clause."""
    if source.language == "zh":
        shorter = re.sub(r"，(?:但|并|而|因为|从而|使|同时|以及)[^，。]{6,}。$", "。", text)
        return (
            shorter if len(shorter) >= 14 and not re.match("虽然|尽管|由于|如果|当", text) else text
        )
    words = "while|although|whereas|making|resulting|leading|including|wobei|während|obwohl|sodass|but|and is|and was|where|which|aber"
    shorter = re.sub(rf",? (?:{words}) [^.,]{{15,}}\.$", ".", text)
    return shorter if len(shorter.split()) >= 7 else text


def _moved(text: str, source: Source, _: random.Random) -> str:
    """Put "In 1999, X did Y." the other way round, and back."""
    if source.language != "en":
        return re.sub(r"\bIm Jahre? (\d{4}) ", r"\1 ", text, count=1)
    front = re.fullmatch(
        r"((?:In|On|At|During|After|By|Since|Before) [^,]{3,40}), ((?:the|a|an|[A-Z])[^,;:()]+)\.",
        text,
    )
    if front:
        return f"{front[2][0].upper()}{front[2][1:]} {front[1][0].lower()}{front[1][1:]}."
    back = re.fullmatch(
        r"((?:The |A )?[A-Z][^,;:()]+?) (in (?:[A-Z][a-z]+ )?\d{4}|on [A-Z][a-z]+ \d{1,2}, \d{4})\.",
        text,
    )
    if not back:
        return text
    first = back[1]
    if first.startswith(("The ", "A ", "An ", "It ", "They ", "He ", "She ", "This ")):
        first = first[0].lower() + first[1:]
    return f"{back[2][0].upper()}{back[2][1:]}, {first}."


def _voice(text: str, source: Source, _: random.Random) -> str:
    """Say "Y founded X" for "X was founded by Y"."""
    match = re.fullmatch(
        r"((?:The |A )?[A-Z][\w ]{2,40}?) (?:was|were) (\w+ed) by ((?:the )?[A-Z][\w ]{2,40}?)((?: in \d{4})?)\.",
        text,
    )
    if not match or source.language != "en":
        return text
    what = match[1][0].lower() + match[1][1:] if match[1].startswith(("The ", "A ")) else match[1]
    return f"{match[3][0].upper()}{match[3][1:]} {match[2]} {what}{match[4]}."


def _listed(text: str, source: Source, _: random.Random) -> str:
    """Change the order of the items of a list."""
    if source.language == "zh":
        return re.sub(
            r"([\u4e00-\u9fff]{2,4})、([\u4e00-\u9fff]{2,4})和", r"\2、\1和", text, count=1
        )
    return re.sub(
        r"\b((?:such as|including|with|of|are|were|wie|von) )(\w+), (\w+),? (and|und) (\w+)(?=[.,;])",
        r"\1\5, \2 \4 \3",
        text,
        count=1,
    )


_TURNS = [
    (" is not ", " isn't "), (" did not ", " didn't "), (" was not ", " wasn't "), (" does not ", " doesn't "),
    (" could not ", " was unable to "), (" cannot ", " is not able to "), (" never ", " at no time "),
    (" without any ", " with no "), (" as well as ", " and "), (" in order to ", " to "), (" due to ", " because of "),
    (" upon ", " on "), (" that is ", " which is "), (" that are ", " which are "), (" more than ", " over "),
    (" prior to ", " before "), (" at least ", " no fewer than "), (" for a total of ", " totalling "),
    (" sowie ", " und "), (" nicht mehr ", " nicht länger "), (" welche ", " die "), (" niemals ", " nie "),
    ("不能", "无法"), ("没有任何", "毫无"), ("超过", "多于"), ("至少", "不少于"), ("并不", "不"), ("从未", "从来没有"),
]  # fmt: skip


def _turn(text: str, _: Source, chance: random.Random) -> str:
    found = [(old, new) for old, new in _TURNS if old in text]
    return text.replace(*chance.choice(found), 1) if found else text


def _date_form(text: str, source: Source, chance: random.Random) -> str:
    """Write a date in another way."""
    if source.language == "en":
        return _english_date(text, chance)
    if source.language == "de":
        match = re.search(rf"\b(\d{{1,2}})\. ({MONTH['de']}) (\d{{4}})\b", text)
        if match:
            month = MONTHS["de"].index(match[2]) + 1
            return text.replace(match[0], f"{match[1]}.{month}.{match[3]}")
        return re.sub(r"\bim Jahre? (\d{4})\b", r"\1", text, count=1)
    match = re.search(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]", text)
    if match:
        return text.replace(match[0], f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}")
    return text


def _english_date(text: str, chance: random.Random) -> str:
    months = MONTHS["en"]
    if match := re.search(rf"\b({MONTH['en']}) (\d{{1,2}}), (\d{{4}})\b", text):
        iso = f"{match[3]}-{months.index(match[1]) + 1:02d}-{int(match[2]):02d}"
        return text.replace(match[0], chance.choice((f"{match[2]} {match[1]} {match[3]}", iso)))
    if match := re.search(rf"\b(\d{{1,2}}) ({MONTH['en']}) (\d{{4}})\b", text):
        return text.replace(match[0], f"{match[2]} {match[1]}, {match[3]}")
    return re.sub(r"\b([Ii])n (\d{4})\b(?![-–])", r"\1n the year \2", text, count=1)


def _figures(text: str, source: Source, chance: random.Random) -> str:
    """Write a number or its unit in another way."""
    thousands = "." if source.language == "de" else ","
    options = [
        (r"(?<=\d)\s?%(?!\w)", {"en": " percent", "de": " Prozent"}.get(source.language, "%")),
        (r"(?<=\d) percent\b", "%"), (r"(?<=\d) Prozent\b", " %"),
        (r"(?<=\d) km\b(?!²|/)", {"en": " kilometres", "de": " Kilometer"}.get(source.language, " km")),
        (r"(?<=\d) (?:kilometres|kilometers)\b", " km"), (r"(?<=\d) (?:meters|metres)\b", " m"), (r"(?<=\d) kg\b", " kilograms"),
        (rf"(?<![\d.,])([1-9]\d{{0,2}}){re.escape(thousands)}(\d{{3}})(?![\d.,]\d|\d)", r"\1\2"),
        (r"(?<![\d.,])(\d{1,3}) million\b", r"\1,000,000"), (r"\$(\d+) million\b", r"\1 million dollars"),
        (r"百分之十(?![一二三四五六七八九])", "10%"), (r"(?<=\d)公里", "千米"), (r"(?<!\d)(\d)\s?万(?=人|美元|名)", r"\g<1>0,000"),
    ]  # fmt: skip
    if source.language != "zh":
        for value, word in enumerate(WORD_NUMBERS[source.language], 2):
            options.append(
                (
                    rf"(?<=[a-zäöüß] )(?<!ty )(?<!hundred ){word}(?= [A-Za-zäöü]{{3}})(?! hundred| of | thousand| million)",
                    str(value),
                )
            )
            options.append(
                (rf"(?<=[a-z] ){value}(?= [a-z]{{3}})(?! million| percent| billion)", word)
            )
    found = [(old, new) for old, new in options if re.search(old, text)]
    return re.sub(*chance.choice(found), text, count=1) if found else text


_KEEP_ALL: tuple[Rule, ...] = (_synonym, _moved, _voice, _listed, _turn, _date_form, _figures)
_LEAVE_OUT: tuple[Rule, ...] = (_without_aside, _main_clause)


def rewritten(text: str, source: Source, chance: random.Random, most: int) -> tuple[str, list[str]]:
    """Return a sentence in other words, nothing left out, and the rules that did it."""
    return _applied(_KEEP_ALL, text, source, chance, most)


def shortened(text: str, source: Source, chance: random.Random) -> tuple[str, list[str]]:
    """Return a sentence with less in it that is true where the whole is, and the rule."""
    return _applied(_LEAVE_OUT, text, source, chance, 1)


def _applied(
    rules: tuple[Rule, ...], text: str, source: Source, chance: random.Random, most: int
) -> tuple[str, list[str]]:
    names: list[str] = []
    for rule in chance.sample(rules, len(rules)):
        told = rule(text, source, chance)
        if told != text and len(names) < most:
            text = told
            names.append(rule.__name__.strip("_"))
    return text, names
