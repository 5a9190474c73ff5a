"""How members stand to the options, from what their documents say."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.answering.choosing import Form
from chapterhouse.answering.parts import sentence_alone
from chapterhouse.answering.respond import offline
from chapterhouse.claims.statement import TokenKind, read
from chapterhouse.council.meeting.session import Participant
from chapterhouse.council.meeting.turns import Ledger
from chapterhouse.runtime import Runtime
from chapterhouse.text.language import detect
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Leaning, Verdict

_FORM: Final = Form(most=3, part=sentence_alone, joined=False)
_ROW: Final = " | "
_LEAST: Final = 0.15  # confidence from which a sentence speaks of an option
# Words by which a sentence takes a side. A sentence that has both kinds takes none.
# A German verb may stand far from its other half: "lehnen … ab".
_REST: Final = r"[^.;:!?]{0,200}\b"
_OWN: Final = (  # whose base form is a verb: "we support", not "the support line"
    r"\b(?:we|i|they|to|can|could|will|would|may|must|do|does|did|not|also|neither|nor|never"
    r"|no longer|some|others"
    r"|cannot|[a-z]+n[’']t)\s+(?:\w+\s+){0,2}?"
)
_FOR: Final = re.compile(
    rf"(?:{_OWN}(?:support|recommend|propose|approve|endorse|favou?r|welcome|agree|vote for|ask for"
    r"|argue for)\b"
    r"|\b(?:supports|recommends|proposes|approves|endorses|favou?rs|welcomes|agrees|votes for"
    r"|asks for|argues for|(?:recommend|propose|approve|endorse|support)e?d"
    r"|in favou?r of|should)\b"
    r"|\bshouldn(?=[’']t)|\b(?:befürwort\w*|empf[eiao]+h\w*|unterstütz\w*|zustimm\w*|zugestimmt"
    rf"|dafür|soll(?:te)?[nt]?|stimm\w*{_REST}(?:zu|dafür)|schl[aä]g\w*{_REST}vor"
    r"|vorschl[aä]g\w*)\b)",
    re.IGNORECASE,
)
_AGAINST: Final = re.compile(
    rf"(?:{_OWN}(?:oppose|reject|refuse|object|disagree|disapprove)\b"
    r"|\b(?:opposes|rejects|refuses|objects|disagrees|disapproves|opposed|rejected"
    r"|(?:advise|decide|vote|argue|recommend)(?:s|d|ed)? against"
    rf"|ablehn\w*|abgelehnt|lehn\w*{_REST}ab|abrat\w*|rät{_REST}ab|rat\w*{_REST}ab|dagegen)\b)",
    re.IGNORECASE,
)
# What takes no side, whatever verb stands in it: it asks, leaves open, or speaks of nobody.
_OPEN: Final = re.compile(
    r"[?？]\s*$|\b(?:whether|ob|nobody|no one|none|few|hardly|without|niemand|kaum|wenige|ohne)\b"
    r"|\bno (?:reason|need|cause|objection)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"\b(?:only (?:if|when|after|once|with)|unless|provided|as long as|so long as"
    r"|on condition|if|once|under (?:these|this|the|which|certain|some) (?:following )?conditions?"
    r"|depending on|subject to|nur (?:wenn|falls|mit|nach)|sofern|vorausgesetzt|wenn|falls"
    r"|es sei denn)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|neither|nor|nicht|nie|niemals|kein\w*|weder)\b|n[’']t\b",
    re.IGNORECASE,
)
_DENIED_BEHIND: Final = re.compile(r"(?:n?[’']t|\s+(?:not|never|against))\b", re.IGNORECASE)
# In German what denies stands behind the verb: "wir empfehlen den Versuch nicht".
_DENIED_LATER: Final = re.compile(r"[^,.;:!?]*\b(?:nicht|nie|niemals|kein\w*)\b", re.IGNORECASE)
# Words of a model that is asked on which side somebody stands.
_LONGEST_STANCE: Final = 200  # characters
# What is for neither side, said with a word of one: "no evidence", "unsupported".
_NEITHER: Final = re.compile(
    r"\b(?:silent|neutral|unclear|unsure|uncertain|unknown|undecided|abstain\w*|n/?a|none|mixed|"
    r"partial\w*|unsupported|unrelated|no (?:evidence|opinion|position|stance|view|answer|data)|"
    r"(?:can ?not|can't|unable to|neither|nothing to) \w+|schweigt|unklar|enthält sich)\b",
    re.IGNORECASE,
)
_SAYS_NO: Final = re.compile(
    r"\b(?:contradict\w*|disagree\w*|refut\w*|oppos\w*|disput\w*|reject\w*|den(?:y|ies|ied)|"
    r"against|contra|con|challeng\w*|objects?|objected|dissent\w*|no|false|wrong|incorrect|"
    r"(?:do|does|did|is|are)(?: not|n't) \w+|not (?:support|agree|confirm|accept)\w*|"
    r"widerspr\w+|lehnt|ablehn\w*|dagegen|gegen|nein|falsch|contre|contra)\b",
    re.IGNORECASE,
)
_SAYS_YES: Final = re.compile(
    r"\b(?:support\w*|agree\w*|confirm\w*|accept\w*|concur\w*|endors\w*|affirm\w*|consent\w*|"
    r"corroborat\w*|favou?rs?|favou?rable|for|pro|yes|true|correct|right|"
    r"unterstütz\w*|stimm\w*|zustimm\w*|bestätig\w*|dafür|für|ja|pour|oui)\b",
    re.IGNORECASE,
)
# Words with which an option begins that is to leave something.
_LEAVES: Final = re.compile(
    r"\W*(?:do not|don[’']t|not(?! (?:before|after|until|later|only)\b)|no|never|neither|leave"
    r"|reject|refuse|without|against|nicht(?! (?:vor|nach|nur|später)\b)|kein\w*|ohne|gegen"
    r"|ablehnen)\b",
    re.IGNORECASE,
)


def leaning_of(sentence: str) -> Leaning:
    """Say on which side of a proposal a sentence stands; ``neutral`` where it takes none.

    Args:
        sentence: In English or German.
    """
    contra = _AGAINST.search(sentence)
    pro = _FOR.search(sentence)
    if _OPEN.search(sentence):
        return Leaning.NEUTRAL
    if (pro or contra) and _CONDITION.search(sentence):
        return Leaning.CONDITIONAL
    if contra and pro and contra.start() <= pro.start() < contra.end():
        pro = None  # "recommend against"
    verb = pro or contra
    if verb is None or (pro and contra):
        return Leaning.NEUTRAL
    denied = (
        _DENIED.search(sentence, 0, verb.end())
        or _DENIED_BEHIND.match(sentence, verb.end())
        or _DENIED_LATER.match(sentence, verb.start())
    )
    return Leaning.FOR if bool(pro) != bool(denied) else Leaning.AGAINST


def takes_sides(sentence: str) -> bool:
    """Whether a sentence is a view of what should be done, for, against or neither."""
    return bool(_FOR.search(sentence) or _AGAINST.search(sentence))


def verdicts(
    options: Sequence[str], speakers: Sequence[Participant], runtime: Runtime, ledger: Ledger
) -> tuple[Verdict, ...]:
    """Return the decision matrix without a model: the best sentence of each member on each option.

    Args:
        options: What is to be decided between.
        speakers: The members, in the order of their seats.
        runtime: The library's parts.
        ledger: Numbers the citations.
    """
    return tuple(
        _verdict(option, options, participant, runtime, ledger)
        for option in options
        for participant in speakers
    )


def _verdict(
    option: str, options: Sequence[str], participant: Participant, runtime: Runtime, ledger: Ledger
) -> Verdict:
    request = replace(participant.request, question=option, form=_FORM)
    answer = offline(request, runtime)
    sentences = answer.sentences if answer.confidence >= _LEAST else ()
    cited = {citation.number: citation for citation in answer.citations}
    statements = [
        (leaning_on(option, sentence.text), sentence)
        for sentence in sentences
        if mentions(option, options, sentence.text)
    ]
    taken = [one for one in statements if one[0] is not Leaning.NEUTRAL] or statements
    if not taken:
        return Verdict(option, participant.key, Leaning.SILENT)
    leaning, sentence = taken[0]
    numbers = ledger.numbers(cited[number] for number in sentence.citations)
    return Verdict(option, participant.key, leaning, sentence.text, numbers)


def leaning_on(option: str, sentence: str) -> Leaning:
    """Say on which side of an option a sentence stands that speaks of what the option is about.

    Args:
        option: Where it is to leave something ("do not start", "no late ferry"), a sentence
            against doing it is for the option.
        sentence: In English or German.
    """
    leaning = leaning_of(sentence)
    opposite = {Leaning.FOR: Leaning.AGAINST, Leaning.AGAINST: Leaning.FOR}
    return opposite.get(leaning, leaning) if _LEAVES.match(option) else leaning


def mentions(option: str, options: Sequence[str], sentence: str) -> bool:
    """Whether a sentence has a word of an option, and no more of another one's.

    One that has other figures than the option speaks of something else, and a row of a table of
    nothing that could be chosen.
    """
    if _ROW in sentence:
        return False
    language = detect(" ".join(options))
    sentence_tokens = _tokens(sentence, language)
    figures = [
        {token for token in tokens if token[0] != TokenKind.WORD}
        for tokens in (sentence_tokens, _tokens(option, language))
    ]
    if all(figures) and figures[0].isdisjoint(figures[1]):
        return False  # "hire two" is not "hire ten"
    shared = {one: len(sentence_tokens & _tokens(one, language)) for one in options}
    return shared[option] >= max(1, *shared.values())


def _tokens(text: str, language: str) -> frozenset[tuple[str, str]]:
    """Return the content words, numbers and dates of a text."""
    return frozenset((token.kind.value, token.key) for token in read(text, language).tokens)


def favoured_option(matrix: Sequence[Verdict]) -> str:
    """Return the one option that somebody is for and nobody against; empty where there is none."""
    options = dict.fromkeys(verdict.option for verdict in matrix)
    fitting = [
        option
        for option in options
        if any(v.leaning is Leaning.FOR for v in matrix if v.option == option)
        and not any(v.leaning is Leaning.AGAINST for v in matrix if v.option == option)
    ]
    return fitting[0] if len(fitting) == 1 else ""


def is_for(written: object) -> bool | None:
    """Return whether a model's words are for something; of both sides the first counts.

    None where that cannot be told.
    """
    words = sanitise_line(str(written)[:_LONGEST_STANCE]).replace("’", "'")
    if _NEITHER.search(words):
        return None
    against, pro = _SAYS_NO.search(words), _SAYS_YES.search(words)
    if against and pro:
        return pro.start() < against.start()
    return None if against is None and pro is None else pro is not None
