"""Which sentences of an answer state no fact, and what of a sentence is only its frame.

A sentence that is wrongly taken to state nothing escapes the judge. So a polite word in front of a
claim does not make it harmless, and neither does a remark about the sources with a "but" behind it.
"""

# ruff: noqa: E501, ISC004 - a pattern cut into pieces cannot be read

import re
from typing import Final

from chapterhouse.claims.facts import facts_of
from chapterhouse.text.scripts import east_asian_letters

_MARKER = re.compile(
    r"\s?\[(?:\^[^\[\]\n]{1,200}|\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9})\](?!\()"
    r"|\s?【[^】\n]{0,100}】|(?<=[.!?,;])[\u2070-\u2079\u00b9\u00b2\u00b3]+(?=\s|$)"
)
_BULLET = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•–]\s+|\d{1,3}[.)]\s+(?=\D))+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+[^\n]{1,120}|(?:\*\*|__)[^\n.!?]{1,80}(?:\*\*|__):?)\s*")
_SHORT_HEADING: Final = 2  # words
_SHORT_EAST: Final = 6  # characters
_LEAD_IN: Final = 12  # words before a colon
_POLITE_REST: Final = 4  # words behind "thank you"
_CLAIM_BEHIND: Final = 4  # words behind "but" that make a claim

_OPENER = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|okay|ok|yes|no|well"
    r"|natürlich|selbstverständlich|gern(?:e)?|ja|nein|bien sûr|avec plaisir|claro|por supuesto"
    r"|certo|certamente|volentieri|当然|好的)(?![\w])[\s,.!:，。！–-]*",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|welcome|thanks|thank you|you'?re welcome"
    r"|sorry|(?:my )?apologies|hallo|guten (?:tag|morgen|abend)|danke|vielen dank|willkommen"
    r"|entschuldigung|bonjour|bonsoir|salut|merci|désolée?|bienvenue|hola|buenos días"
    r"|buenas (?:tardes|noches)|gracias|lo siento|bienvenid[oa]s?|ciao|buongiorno|buonasera|grazie"
    r"|mi dispiace|benvenut[oia]|你好|您好|谢谢|感谢|不客气|抱歉|对不起|欢迎)(?![a-zà-ÿ])(?! to the)[\s,.!，。！–-]*",
    re.IGNORECASE,
)
_SOURCES: Final = {
    "en": r"(?:(?:the |these |those |your |my |any of the |all )?(?:(?:provided|given|available|retrieved|cited|supplied) )?"
    r"(?:documents?|sources?|context|passages?|excerpts?|texts?)"
    r"|(?:the )?(?:provided|given|available|retrieved|cited|supplied) (?:evidence|information|files?|materials?|library))"
    r"(?: (?:provided|given|available|retrieved|here|above|i have|at hand))?",
    "de": r"(?:(?:die|den|der|das|dem|diese|diesen|ihre|meine) )?(?:vorliegenden |angegebenen |bereitgestellten )?"
    r"(?:dokumente?n?|quellen?|texte?n?|unterlagen|kontext|auszüge\w*)",
    "fr": r"(?:les |ces |le |vos )?(?:documents?|sources?|textes?|extraits?|contexte)(?: fournis| disponibles)?",
    "es": r"(?:los |estos |las |el |sus )?(?:documentos?|fuentes?|textos?|fragmentos?|contexto)(?: proporcionados| disponibles)?",
    "it": r"(?:i |questi |le |il |gli )?(?:documenti|documento|fonti|testi|testo|estratti|contesto)(?: forniti| disponibili)?",
    "zh": r"(?:这些|所提供的?|提供的|现有的?|检索到的|给定的)?(?:文档|文件|资料|来源|文本|材料|上下文)(?:中|里|内)?",
}
_SAYING: Final = (
    r"(?:say|state|mention|specify|contain|include|provide|give|indicate|tell|address|cover|answer"
    r"|explain|describe|discuss|list|name|reveal|report|identify|clarify|offer|disclose|go into|make clear)"
)
_ABOUT_SOURCES: Final = (
    rf"(?:none|neither|nothing) (?:of|in) {_SOURCES['en']}",
    rf"{_SOURCES['en']} (?:(?:do(?:es)?|did|can) ?(?:not|n't)|don't|doesn't|didn't|can't|cannot|never) (?:\w+ )?{_SAYING}",
    rf"{_SOURCES['en']} (?:contains? no|ha(?:s|ve) no|(?:is|are) silent|provides? no|gives? no|says? nothing|makes? no mention|lacks?|offers? no"
    r"|includes? no|mentions? nothing|may be outdated|disagree|(?:is|are) (?:unclear|insufficient|(?:not|in) ?(?:sufficient|enough|conclusive|clear)))",
    rf"(?:there (?:is|are|was|were) (?:no|nothing|not enough|insufficient)\b.{{0,80}}\b(?:in|from|among) {_SOURCES['en']}"
    rf"|(?:based on|according to|from|in|within) {_SOURCES['en']},? (?:it is (?:not (?:possible|clear|stated|mentioned|known)|unclear|unknown)|i (?:can|could|do|did) ?not|there is no)"
    rf"|no (?:information|mention|answer|details?|data)\b.{{0,80}}\b(?:in|by|from) {_SOURCES['en']}"
    rf"|(?:it|this) is (?:not (?:stated|mentioned|specified|clear|known)|unclear|unknown)\b.{{0,20}}(?:in|from) {_SOURCES['en']}"
    rf"|the evidence is (?:insufficient|not (?:sufficient|enough))"
    rf"|(?:this|that|your|the) (?:question|request) (?:is outside|cannot|can not|can't|could not|lies outside|falls outside|goes beyond))",
    rf"{_SOURCES['de']} (?:enthalten|enthält|sagen|sagt|geben|gibt|nennen|nennt|erwähnen|erwähnt|machen|reichen|lassen|schweigen|beantworten)\b.{{0,30}}(?:kein\w*|nichts|nicht|offen|dazu)\b",
    rf"(?:aus|in|laut) {_SOURCES['de']} (?:geht|gehen|steht|finde[nt]?)\b.{{0,40}}(?:nicht|nichts|kein\w*)\b",
    rf"(?:es|dazu|darüber|davon|hierzu) (?:gibt|liegen|steht|findet|finden|sagen|sagt|enthalten|enthält|finde)\b.{{0,50}}(?:kein\w*|nichts|nicht)\b.{{0,60}}{_SOURCES['de']}"
    rf"|(?:es|dazu|darüber|davon|hierzu) (?:steht|stehen|findet|sagen|sagt|finde) (?:ich )?(?:dazu )?in {_SOURCES['de']} (?:nichts|kein\w*)"
    rf"|ich (?:finde|habe|konnte)\b.{{0,40}}(?:kein\w*|nichts|nicht)\b",
    rf"{_SOURCES['fr']} (?:ne |n')(?:précise|dise|dit|mentionne|contien|indique|donne|fournis|permette)\w*",
    rf"(?:il n'y a|il n'existe) (?:pas|aucune?)\b.{{0,60}}{_SOURCES['fr']}|aucune? (?:information|mention|donnée)\b.{{0,60}}{_SOURCES['fr']}",
    rf"{_SOURCES['es']} no (?:lo |la )?(?:menciona|dice|indica|contiene|especifica|precisa|ofrece|incluye)\w*",
    rf"no (?:hay|existe|se (?:encuentra|menciona|indica))\b.{{0,60}}{_SOURCES['es']}",
    rf"{_SOURCES['it']} non (?:lo |la )?(?:dic|menzion|indic|conten|contien|specific|precis|riport|offr)\w*",
    rf"non (?:c'è|ci sono|si (?:trova|menziona))\b.{{0,60}}{_SOURCES['it']}",
    rf"{_SOURCES['zh']}(?:都|均|并)?(?:没有|未|不包含|不含|并未|无法)",
)
_ABOUT_ANSWER: Final = (
    r"here (?:is|are) (?:what|the|a|an|some|my)\b|here's|below (?:is|are)|let me\b|let's|feel free|shall i\b"
    r"|i (?:hope|apologi[sz]e|am (?:not sure|unable|sorry|happy|glad)|can help|would be happy|will (?:look|search|try))"
    r"|i(?:'m| am) (?:not sure|unable|sorry|happy|glad)|(?:happy|glad) to (?:help|look|assist)"
    r"|(?:i|we) (?:can(?:no|')t|cannot|could ?n[o']t|could not|do not|don't|did not|didn't|was unable to) (?:answer|find|say|tell|know|help|confirm|determine|see)"
    r"|(?:i|we) (?:have|found) (?:no|nothing)|(?:i )?hope (?:this|that|it) (?:helps|answers|is useful)"
    r"|if you (?:have|need|want|would like|wish)\b[^,.]{0,40}(?:questions?|details?|information|help|more|further)"
    r"|(?:you may|you might|please|you should)? ?(?:want to |wish to )?(?:see|check|consult|refer to|ask|review|verify)\b[^.]{0,60}\b(?:documents?|sections?|reports?|manual|sources?|pages?|link|references?|originals?|lawyer|doctor|expert|author)\b[^.,]{0,30}[.!]?$"
    r"|please (?:let me know|ask|clarify|specify|tell|share|provide)",
    r"hier (?:ist|sind|finden sie)\b[^.]{0,60}$|im folgenden|lassen sie mich|möchten sie|soll ich|wenn sie (?:weitere )?(?:fragen|mehr)"
    r"|ich (?:weiß (?:es )?nicht|hoffe|bin (?:nicht sicher|froh)|kann (?:ihnen|das|diese|dazu)\b.{0,40}(?:helfen|nicht|beantworten))|gern(?:e)? helfe ich",
    r"voici|n'hésitez pas|souhaitez-vous|je (?:ne (?:sais|trouve|peux)|regrette)|si vous (?:avez|souhaitez)\b.{0,40}(?:questions?|plus)",
    r"aquí (?:está|están|tiene)\b[^.]{0,60}$|a continuación|no dude|avíseme|no (?:puedo (?:responder|decir)|he encontrado|encuentro|lo sé)|si (?:tiene|necesita|desea) (?:más|otras)",
    r"ecco (?:cosa|quello|un|una|le|i)\b|fammi sapere|mi faccia sapere|non (?:posso (?:rispondere|dire)|ho trovato|trovo|lo so)|se (?:ha|hai|desidera|vuole) (?:altre|ulteriori|saperne)",
    r"以下是|下面是|请(?:问|告诉|提供|参阅|查看|随时)|如果您(?:还有|需要|想)|希望这(?:些|能|对)|我(?:无法|不能|没有找到|不知道|很乐意)|很高兴",
)
_NOTHING = re.compile(
    "(?:(?:unfortunately|however|but|leider|malheureusement|lamentablemente|desafortunadamente|purtroppo|很遗憾|遗憾的是)[,，]? )?(?:很遗憾，)?(?:"
    + "|".join(f"(?:{part})" for part in (*_ABOUT_SOURCES, *_ABOUT_ANSWER))
    + ")",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"[,;–—.]\s+(?:but|however|although|though|yet|and|so|aber|jedoch|und|mais|et|pero|y|ma|e)\s+|；|，(?:但是?|而且?|不过)|;\s",
    re.IGNORECASE,
)

# What introduces a claim without being one.
_FRAME = re.compile(
    r"^(?:as (?:the|this|that) (?:[\w’'\-]+ ){0,2}?(?:documents?|sources?|text|passage|report|manual|guide|article|paper|study|page|section|author|abstract)s? (?:\w+ )?\w+,\s*"
    r"|it (?:is|should be) (?:also )?(?:worth \w+ing|worth|important|notable|interesting|clear|noted|useful|helpful)(?: to (?:note|know|mention|remember|add))? that\s+"
    r"|(?:according to|as (?:stated|described|noted|explained|mentioned) (?:in|by)|as per|based on|per|in|from) "
    r"(?:the |this |that |these |your )?(?:[\w’'\-]+ ){0,3}?(?:documents?|sources?|text|passages?|context|report|manual|guide|article|paper|study|page|section|file|excerpt|abstract|paragraph|material|evidence)s?,\s*"
    r"|(?:the |this )(?:[\w’'\-]+ ){0,2}?(?:documents?|sources?|text|passage|context|report|manual|guide|article|paper|study|page|section|abstract|paragraph) (?:say|state|note|explain|report|mention|write|add|describe|show|indicate)s?:?(?: that|,|:)?\s+"
    r"|(?:in (?:short|summary|addition|particular|fact|other words|general)|to summari[sz]e|overall|specifically|yes|no|moreover|furthermore|additionally|also|however|therefore|thus|for example|for instance|notably|importantly|indeed|first|second|finally|it is (?:stated|noted|said|reported) that|it (?:says|states) that|note that|we know that|the answer is(?: that)?:?)(?:,\s*|:\s*|\s+(?=that\b)|(?<=that)\s+|(?<=is)\s+)"
    r"|(?:laut|gemäß|nach) (?:dem|der|den|diesem|dieser) (?:dokument|quelle|text|bericht|quellen|dokumenten|artikel|handbuch)\b\s*(?=[^\d\s])"
    r"|(?:zusammenfassend|außerdem|zudem|jedoch|daher|ja|nein|insbesondere|kurz gesagt)(?:,|:)\s*"
    r"|(?:selon|d'après) (?:le |la |les |ce )?(?:documents?|texte|source|rapport|article),\s*|(?:en résumé|de plus|cependant|oui|non),\s*"
    r"|(?:根据(?:该|这份|这些|上述|所提供的)?(?:文档|文件|资料|文本|来源|报告)，?|(?:该)?(?:文档|文件|资料|报告)(?:指出|说明|提到|称)，?：?|总之，|此外，|因此，)"
    r")",
    re.IGNORECASE,
)


def bare(sentence: str) -> str:
    """Return a sentence without citation markers, bullets and emphasis."""
    return _EMPHASIS.sub("", _BULLET.sub("", _MARKER.sub("", sentence))).strip()


def essence(sentence: str) -> str:
    """Return what a bare sentence claims, without what introduces it."""
    for _ in range(2):
        match = _FRAME.match(sentence)
        if not match or match.end() >= len(sentence):
            break
        sentence = sentence[match.end() :]
    return sentence.strip()


def states_nothing(sentence: str) -> bool:
    """Whether a sentence is a greeting, question, heading, or speaks of sources or answer only.

    Args:
        sentence: As it was written, with its markup.
    """
    if _HEADING.fullmatch(sentence):
        return True
    plain = bare(sentence).strip(" \"'“”„«»()[]¡¿\t\n")
    if not any(character.isalnum() for character in plain):
        return True
    return plain.endswith(("?", "？")) or _is_heading(plain) or _is_talk(plain)


def _is_talk(plain: str) -> bool:
    """Whether a sentence is addressed to the reader, or about the sources."""
    opener = _OPENER.match(plain)
    rest = plain[opener.end() :] if opener else plain
    if not rest:
        return True
    polite = _POLITE.match(rest)
    if polite:
        rest = rest[polite.end() :]
        if not any(character.isdigit() for character in rest) and _length(rest) <= _POLITE_REST:
            return True
    if not _NOTHING.match(rest):
        return False
    turn = _TURN.search(rest)
    behind = rest[turn.end() :] if turn else ""
    return _length(behind) < _CLAIM_BEHIND or _NOTHING.match(behind) is not None


def _length(text: str) -> float:
    """Return how many words these are; two characters of Chinese count for one."""
    east = east_asian_letters(text)
    return east / 2 if east else len(text.split())


def _is_heading(plain: str) -> bool:
    """Whether a line is a heading or a lead-in: short, without facts, and closed by no full stop."""
    facts = facts_of(plain)
    if facts.numbers or facts.dates:
        return False
    if plain.endswith((":", "：")):
        return _length(plain) <= _LEAD_IN and not facts.names
    if plain.endswith((".", "!", "。", "！", ";", "；", "…")):
        return False
    if east_asian_letters(plain[-1]):
        return len(plain) <= _SHORT_EAST
    return len(plain.split()) <= _SHORT_HEADING
