"""Which side a sentence takes: for a proposal, against it, or neither."""

import re
from typing import Final

from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Leaning

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
