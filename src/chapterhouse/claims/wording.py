"""Words that a judge of claims must know: of one meaning, of opposite meaning, and of scope.

Only what is safe in every subject stands here: a synonym that is right in most texts and wrong in
a contract would let a false claim pass.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import STOPWORDS


def word_set(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())


_SYNONYMS: Final = {
    "en": """start begin commence | end finish conclude | big large | small little | buy purchase
        | use utilize utilise employ | show demonstrate | help assist aid | also additionally
        | near close | build construct | choose select | get obtain receive | give provide
        | require need | keep retain maintain | happen occur | call name term | make create produce
        | about approximately roughly circa | reply answer respond | allow permit enable
        | forbid prohibit ban | locate situate | quick fast rapid | important significant
        | main principal chief primary | whole entire | enough sufficient | usual normal typical
        | try attempt | find discover | gather collect | car automobile | doctor physician
        | movie film | child kid | begin start | contain include comprise | die decease
        | state declare | win victory | inhabitant resident | many numerous | various several
        | writer author | almost nearly | annual yearly | huge enormous | lawyer attorney
        | fix repair | teach instruct | live reside dwell | speak talk | illness disease
        | cause trigger | hard difficult | right correct | wrong incorrect | city town
        | surrender yield | register record | people person | united-states usa""",
    "de": """beginnen anfangen starten | enden aufhören | groß gross | kaufen erwerben
        | benutzen verwenden nutzen | zeigen belegen | bekommen erhalten | ungefähr etwa rund circa
        | wichtig bedeutend | brauchen benötigen | erlauben gestatten | verbieten untersagen
        | bauen errichten | liegen befinden | jährlich alljährlich | einwohner bewohner
        | heißen nennen bezeichnen | enthalten umfassen | auch ebenfalls""",
    "fr": """commencer débuter | finir terminer | acheter acquérir | utiliser employer
        | environ approximativement | montrer démontrer | permettre autoriser | également aussi""",
}
_ANTONYMS: Final = {
    "en": """increase decrease | rise fall | rise drop | grow shrink | raise lower | accept reject
        | approve reject | allow forbid | permit prohibit | allow prohibit | win lose | gain lose
        | high low | large small | early late | first last | begin end | open close
        | include exclude
        | include omit | enable disable | pass fail | succeed fail | support oppose | agree disagree
        | before after | above below | more less | maximum minimum | most least | best worst
        | positive negative | true false | public private | internal external | north south
        | east west | northern southern | eastern western | male female | man woman | strong weak
        | hot cold | buy sell | import export | mandatory optional | required optional
        | old new | young old | rich poor | inner outer | upper lower | left right | minor major
        | encourage discourage | legal illegal | safe dangerous | expand contract | won lost
        | higher lower | larger smaller | longer shorter | older younger | earlier later
        | former latter | attack defend | create destroy | import export | benefit harm
        | buyer seller
        | faster slower | better worse | improve worsen | appoint dismiss | hire dismiss""",
    "de": """steigen sinken | zunehmen abnehmen | erlauben verbieten | gewinnen verlieren
        | hoch niedrig | groß klein | früh spät | anfang ende | öffnen schließen | innen außen
        | norden süden | osten westen | nördlich südlich | östlich westlich | alt neu | mehr weniger
        | vor nach | maximal minimal | intern extern | positiv negativ | stark schwach""",
    "fr": """augmenter diminuer | gagner perdre | avant après | plus moins | nord sud | est ouest
        | autoriser interdire""",
}
# Class of scope: words and turns that have it. The longest reading at a place counts.
_SCOPES: Final = {
    "en": {
        "all": "all every each always whole entire entirely completely fully totally both everyone",
        "some": "some partly partially sometimes occasionally a-few a-number-of",
        "most": "most mostly majority usually generally largely mainly typically normally",
        "often": "often frequently",
        "few": "few rarely seldom",
        "only": "only solely exclusively merely",
        "least": "at-least minimum-of no-less-than no-fewer-than not-less-than a-minimum-of",
        "upto": "up-to at-most maximum-of no-more-than not-more-than a-maximum-of as-many-as",
        "over": "more-than over above exceeding greater-than higher-than upwards-of in-excess-of",
        "under": "less-than under below fewer-than lower-than smaller-than",
        "may": "may might could possibly perhaps probably allegedly reportedly likely can",
        "must": "must shall has-to have-to required-to",
        "if": "if unless whether provided-that",
        "before": "before prior-to no-later-than not-later-than",
        "after": "after following",
        "until": "until till",
        "since": "since",
        "more": "more",
        "less": "less least",
        "so-called": "alleged supposed purported so-called former planned proposed attempted"
        " hypothetical unofficial",
        "half": "half twice double third-of quarter-of",
    },
    "de": {
        "all": "alle allen aller jede jeder jedes jeden immer stets sämtliche"
        " ganz vollständig beide",
        "some": "einige manche teilweise manchmal gelegentlich",
        "most": "meisten meistens größtenteils überwiegend gewöhnlich",
        "few": "wenige selten",
        "only": "nur ausschließlich lediglich allein",
        "least": "mindestens wenigstens",
        "upto": "bis-zu höchstens maximal",
        "over": "mehr-als über",
        "under": "weniger-als unter",
        "may": "kann könnte möglicherweise vielleicht angeblich vermutlich können könnten dürfte",
        "must": "muss müssen",
        "if": "wenn falls ob sofern",
        "before": "vor bevor",
        "after": "nach nachdem",
        "until": "bis",
        "since": "seit",
        "more": "mehr",
        "less": "weniger",
    },
    "fr": {
        "all": "tous toutes chaque toujours entièrement",
        "some": "certains certaines quelques parfois",
        "most": "plupart généralement",
        "only": "seulement uniquement exclusivement",
        "least": "au-moins",
        "upto": "jusqu au-plus",
        "over": "plus-de plus-que",
        "under": "moins-de moins-que",
        "may": "peut pourrait peut-être",
        "must": "doit doivent",
        "if": "si",
        "before": "avant",
        "after": "après",
        "since": "depuis",
    },
    "zh": {
        "all": "所有 全部 每个 总是 都 一切",
        "some": "一些 有些 部分 有时",
        "most": "大多数 大部分 通常",
        "few": "少数 很少",
        "only": "只有 仅 只 唯一",
        "least": "至少 不少于",
        "upto": "最多 至多 不超过",
        "over": "超过 多于 以上",
        "under": "少于 不到 以下 低于",
        "may": "可能 也许 或许",
        "must": "必须",
        "if": "如果 是否",
        "before": "之前 以前",
        "after": "之后 以后",
        "until": "直到",
    },
}
PREPOSITIONS: Final = word_set("""
    in on at by for from with without during after before since until to into of as per via under
    over about through throughout within among between against because when while although if where
    according despite following upon across around along near like due
    im am um bei beim für von vom mit ohne während nach vor seit bis zu zum zur aus durch unter über
    wegen trotz laut gegen zwischen als wenn weil
    dans en à au aux pour avec sans pendant après avant depuis de du des par sous sur selon
    por para con sin durante desde hasta según entre
    nel nella per con senza dopo prima da dal dalla secondo tra""")
# Connectives and approximations, which add nothing that could be untrue.
_LIGHT: Final = word_set("""
    upon also however thus therefore moreover furthermore there's e.g i.e additionally notably
    indeed nevertheless nonetheless hence consequently similarly likewise meanwhile overall namely
    specifically accordingly instead rather quite really actually approximately around roughly circa
    ca inside within toward towards us
    etwa rund circa zudem außerdem jedoch daher somit ferner ebenfalls sowie insbesondere
    environ également ainsi donc cependant aproximadamente además también inoltre anche""")
EAST_LIGHT: Final = (
    "因此|所以|于是|并且|而且|但是|不过|然而|可是|由于|因为|例如|比如|如|虽然|尽管|此外|另外|同时|以及"
    "|已经|还有|还是|还|他们|它们|她们|我们|这些|那些|这个|那个|这种|其中|其他|以来|以便|用于|通过|根据"
    "|关于|对于|当时|当|大约|约|左右|一个|一种|一些|并非|没有|不是|就是|而是|则|却|又|再|很|非常|更加"
)
_PRONOUNS: Final = word_set("""
    it he she they this that these those its his her their who which the such both
    er sie es dies diese dieser dieses der die das ihr ihre sein seine
    il elle ils elles ce cette ces le la les son sa ses leur
    él ella ellos esto este esta su sus el lo los las
    esso essa questo questa suo sua il lo gli 它 他 她 这 该 其""")
_EAST_STOP: Final = frozenset(
    "的了是在和与及也都就而着被把为于对从到等其这那此该有并或由以将会可上下中之"
)


def is_pronoun(word: str) -> bool:
    """Whether a sentence that begins with ``word`` speaks of what came before."""
    return word.lower() in _PRONOUNS


def is_stop(word: str, language: str) -> bool:
    """Whether a word (in lower case) carries no content."""
    return word in _stop_words(language)


@cache
def _stop_words(language: str) -> frozenset[str]:
    if language in {"zh", "ja"}:
        return _EAST_STOP
    own = STOPWORDS.get(language) or STOPWORDS["en"]
    own |= _LIGHT
    return own | frozenset(
        part for name in (language, "en") if name in _SCOPES
        for words in _SCOPES[name].values() for part in words.split() if "-" not in part
    ) if language in {"", "en", *_SCOPES} else own  # fmt: skip


def _groups(listed: str) -> Iterator[list[str]]:
    for group in listed.split("|") if listed else ():
        yield group.split()


@cache
def synonyms(language: str) -> Mapping[str, str]:
    """Return the term that stands for each term of a group of one meaning."""
    known: dict[str, str] = {}
    for group in _groups(_SYNONYMS.get(language or "en", "")):
        terms = [term for word in group for term in analyse(word, language)[:1]]
        target = next((known[term] for term in terms if term in known), terms[0])
        known |= {term: known.get(term, target) for term in terms}
    return known | {irregular: known.get(base, base) for irregular, base in _irregular(language)}


_IRREGULAR: Final = """
    began begin begun begin built build bought buy found find gave give given give
    got get kept keep made make won win shown show chosen choose written write wrote write held hold
    led lead left leave lost lose met meet paid pay said say sold sell sent send spent spend
    taught teach took take taken take told tell thought think became become grew grow grown grow
    fell fall fallen fall rose rise risen rise ran run drew draw drawn draw knew know known know
    went go gone go spoke speak spoken speak brought bring caught catch fought fight sought seek
    children child men man women woman feet foot dead die death die people people"""


@cache
def _irregular(language: str) -> tuple[tuple[str, str], ...]:
    if language not in {"", "en"}:
        return ()
    words = _IRREGULAR.split()
    return tuple(
        (analyse(form, "en")[0], analyse(base, "en")[0])
        for form, base in zip(words[::2], words[1::2], strict=True)
    )


@cache
def antonyms(language: str) -> Mapping[str, frozenset[str]]:
    """Return the terms of opposite meaning for each term that has some."""
    same = synonyms(language)
    pairs: dict[str, frozenset[str]] = {}
    for group in _groups(_ANTONYMS.get(language or "en", "")):
        one, other = (analyse(word, language)[0] for word in group)
        one, other = same.get(one, one), same.get(other, other)
        pairs[one] = pairs.get(one, frozenset()) | {other}
        pairs[other] = pairs.get(other, frozenset()) | {one}
    return pairs


_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "miss", "mis", "anti")


def opposite_by_prefix(one: str, other: str) -> bool:
    """Whether two terms differ in nothing but a prefix that denies: "possible", "impossible"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 4 and any(long == prefix + short for prefix in _PREFIXES)  # noqa: PLR2004 - "it", "unit"


@cache
def scope_pattern(language: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of the words of scope, and the class of each."""
    name = language if language in _SCOPES else "en"
    classes = {
        word.replace("-", " "): scope
        for scope, words in _SCOPES[name].items()
        for word in words.split()
    }
    if language not in {*_SCOPES, ""}:
        classes = {}
    listed = "|".join(re.escape(word) for word in sorted(classes, key=len, reverse=True))
    edge = "" if name == "zh" else r"(?<!\w)"
    stop = "" if name == "zh" else r"(?!\w)"
    return re.compile(rf"{edge}(?:{listed or '(?!)'}){stop}", re.IGNORECASE), classes
