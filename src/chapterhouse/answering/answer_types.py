"""What kind of thing a question asks for, and whether a sentence offers one that is new.

"When" is answered by a date that the question does not already name. The cues are function words
and a few nouns of each language; where none fits, the kind is unknown and nothing is concluded.

Source: Li and Roth, Learning question classifiers, COLING 2002, for the kinds.
"""

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class AnswerType(StrEnum):
    """What a question asks for."""

    NUMBER = "number"
    DATE = "date"
    PERSON = "person"
    PLACE = "place"
    REASON = "reason"
    UNKNOWN = "unknown"


# In this order: "in which year" is a date before "which" could be anything else.
_CUES: Final[Mapping[AnswerType, str]] = {
    AnswerType.DATE: r"""\b(?:when|(?:what|which)\s+(?:\w+\s+)?(?:year|date|day|month|century
        |decade)s?
        |wann|seit\s+wann|welche[mnrs]?\s+(?:jahr|datum|tag|monat|jahrhundert|jahrzehnt)\w*
        |quand|quelle\s+(?:année|date)|quel\s+(?:jour|mois|siècle)
        |cuándo|(?:qué|cuál)\s+(?:año|fecha|día|mes|siglo)
        |quando|(?:che|quale|que|qual|em\s+que)\s+(?:anno|data|giorno|mese|secolo|ano|dia|mês|século)
        |wanneer|(?:welk|welke)\s+(?:jaar|datum|dag|maand|eeuw)
        |когда|каком\s+году|какого\s+числа)\b
        |什么时候|何时|哪[一]?年|哪[一]?天|哪个(?:月|世纪|年代|日期)|什么(?:时间|日期|年代|年份)|几月|几号|いつ|何年""",
    AnswerType.NUMBER: r"""\b(?:how\s+(?:many|much|old|long|far|large|big|tall|high|fast|deep|wide
        |often|heavy|few|close|hot|cold)
        |(?:what|which)\s+(?:\w+\s+)?(?:percentage|percent|number|amount
        |proportion|fraction|population|size|age|length|height|depth|distance|price|cost|score
        |rate|temperature|speed|quantity)
        |wie\s*viele?[mnrs]?|wie\s+(?:oft|lange?|alt|groß|hoch|weit|schnell|tief|teuer|schwer|breit)
        |welche[mnrs]?\s+(?:anzahl|anteil|prozentsatz|betrag|summe|zahl|menge|größe|höhe|alter)
        |combien|quel(?:le)?\s+(?:pourcentage|nombre|âge|taille|montant|prix)
        |cuánt[oa]s?|qué\s+(?:porcentaje|cantidad|edad|número)
        |quant[oaie]s?|(?:che|quale|que|qual)\s+(?:percentuale|numero|età|porcentagem|número|idade)
        |hoe\s*(?:veel|vaak|lang|groot|oud|hoog|ver)|(?:welk|welke)\s+(?:percentage|aantal|bedrag)
        |сколько|какой\s+процент|каково\s+число)\b
        |多少|几(?:个|位|种|次|条|名|家|座|岁|人|支|场|所|层|年|天)|多(?:大|长|高|久|远|快|深|重|宽)
        |百分之几|いくつ|いくら|何(?:人|個|回|本)""",
    AnswerType.PERSON: r"""\b(?:who|whom|whose|wer|wem|wen|wessen|qui|quién|quiénes|chi|quem
        |wie\s+(?:was|is)
        |кто|кого|кому|кем|чей|(?:what|which)\s+(?:\w+\s+)?(?:man|woman|person|king|queen|emperor
        |president|leader|player|author|scientist|actor|artist|singer|general|quarterback|coach)
        |welche[mnrs]?\s+(?:mann|frau|person|könig|königin|kaiser|präsident|spieler|autor
        |wissenschaftler|schauspieler|künstler|sänger|general|trainer)\w*)\b
        |谁|哪(?:位|个人|名)|何人|誰|だれ""",
    AnswerType.PLACE: r"""\b(?:where|wo|woher|wohin|où|dónde|adónde|dove|onde|waar|где|куда|откуда
        |(?:what|which)\s+(?:\w+\s+)?(?:country|countries|city|cities|state|town|place|region|continent
        |county|river|location|island|province|nation)
        |welche[mnrs]?\s+(?:land|länder|stadt|städte|staat|ort|region|kontinent|fluss|insel|provinz)\w*
        |quelle?\s+(?:pays|ville|région)|qué\s+(?:país|ciudad|lugar)|(?:welk|welke)\s+(?:land|stad))\b
        |哪里|哪儿|何处|何地|在哪|哪个?(?:国家|城市|地方|地区|省|州|岛|河|国)|什么(?:地方|国家|城市|地区)|どこ""",
    AnswerType.REASON: r"""\b(?:why|what\s+(?:caused?|reason)|warum|wieso|weshalb|weswegen|pourquoi
        |por\s+qué|perché|por\s+que|waarom|почему|зачем)\b|为什么|为何|何故|什么原因|なぜ""",
}
_ASKED: Final = tuple(
    (kind, re.compile(cue, re.IGNORECASE | re.VERBOSE)) for kind, cue in _CUES.items()
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBER_WORDS: Final = re.compile(
    r"""\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty
    |forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|half|third|twice
    |quarter|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|vierzig|fünfzig
    |hundert|tausend|millionen|milliarden|million|milliarde|hälfte|drittel|viertel|dutzend
    |deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|dos|tres|cuatro|cinco|seis|siete|ocho
    |nueve|diez|cien|mil|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|cento|dois|três|quatro
    |oito|dez|twee|drie|vijf|zes|zeven|negen|tien|honderd|duizend
    |два|три|четыре|пять|шесть|семь|восемь|девять|десять|сто|тысяч\w*|миллион\w*)\b
    |[一二两三四五六七八九十百千万亿半]+(?=[个位种次条名家座岁人支场所层年天月日亿万分块倍成])|百分之""",
    re.IGNORECASE | re.VERBOSE,
)
_DATES: Final = re.compile(
    r"""(?<!\d)[12]\d{3}(?!\d)|(?<![\d:.])[012]?\d:[0-5]\d(?!\d)|\d+(?:st|nd|rd|th)\s+centur|century|centuries
    |\b(?:january|february|march|april|may|june|july|august|september|october|november|december
    |januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet
    |août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto
    |septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre
    |ottobre|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro
    |januari|februari|maart|mei|augustus|января|февраля|марта|апреля|мая|июня|июля|августа|сентября
    |октября|ноября|декабря|monday|tuesday|wednesday|thursday|friday|saturday|sunday
    |\w*jahrhundert\w*|\w+er\s+jahren?)\b|世纪|年代|\d\s*[年月日]|[一二三四五六七八九十][月日年]""",
    re.IGNORECASE | re.VERBOSE,
)
_REASONS: Final = re.compile(
    r"""\b(?:because|due\s+to|since|therefore|thus|in\s+order\s+to|as\s+a\s+result|owing\s+to|caused?
    |reasons?|led\s+to|so\s+that|weil|da|aufgrund|wegen|deshalb|daher|um|damit|grund|gründe\w*|denn|durch
    |parce|car|afin|raison|porque|debido|razón|perché|poiché|causa|omdat|doordat|vanwege
    |потому|поскольку|из-за|чтобы|причин\w*)\b|因为|由于|因此|所以|为了|原因|导致|以便""",
    re.IGNORECASE | re.VERBOSE,
)
# A capital behind a lower-case letter or a comma: names, not the first word of a sentence.
_NAMES: Final = re.compile(r"(?<=[\w,;:)]\s)[^\W\d_a-zà-öø-ÿа-я][\w'’.\-]*|\w+[·•]\w+")


def asked_for(question: str) -> AnswerType:
    """Return what a question asks for."""
    text = unicodedata.normalize("NFKC", question)
    return next((kind for kind, cue in _ASKED if cue.search(text)), AnswerType.UNKNOWN)


def offers(kind: AnswerType, sentence: str, question: str) -> bool:
    """Whether a sentence holds something of this kind that the question does not."""
    text = unicodedata.normalize("NFKC", sentence)
    if kind is AnswerType.NUMBER:
        return _new(_DIGITS, text, question) or _new(_NUMBER_WORDS, text, question)
    if kind is AnswerType.DATE:
        return _new(_DATES, text, question)
    if kind in {AnswerType.PERSON, AnswerType.PLACE}:
        return _new(_NAMES, text, question)
    return kind is AnswerType.REASON and _REASONS.search(text) is not None


def _new(pattern: re.Pattern[str], text: str, question: str) -> bool:
    known = question.casefold()
    return any(match.group().casefold() not in known for match in pattern.finditer(text))
