"""What a question asks for: index terms, and things to be found word for word."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import script_language
from chapterhouse.text.dates import dated_spans, terms_of
from chapterhouse.text.language import detect, language_of_script
from chapterhouse.text.language_data import STOPWORDS, LanguageData, language_data
from chapterhouse.text.mentions import bare_word
from chapterhouse.types import Question, WeightedTerm

_PHRASE = re.compile(
    r"\"([^\"]{2,200})\"|“([^”]{2,200})”|„([^“”]{2,200})[“”]|«([^»]{2,200})»|「([^」]{1,200})」"
)
_FILE_NAME = re.compile(
    r"(?<![\w./])(?:[\w\-.]+/)*"  # as hits show it: with its folders
    r"([\w][\w\-]*(?:\.[\w\-]+)*\.[A-Za-z][A-Za-z0-9]{0,4})(?![\w./]*\w)"
)
_IDENTIFIER = re.compile(r"(?<![\w\-])\+?[^\W_]\w*(?:[\-_.:/]\w+)*")
_VERSION = re.compile(r"\d+(?:\.\d+){2,}|\+?\d{7,}|\d+(?:-\d{3,})+")
_YEARS = re.compile(r"[12]\d{3}-[12]\d{3}")
_SIGNED = re.compile(r"(?<![\w+#])[A-Za-z](?:\+\+|#)(?![\w+#])")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|e|er|ème)", re.IGNORECASE)
ADDRESS = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_CAPITAL_NOUNS = frozenset({"de"})  # where a capital makes no name
_CAPITAL = re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"[12]\d{3}")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"\w+")
_EDGE = "?¿¡.,!:;()[]{}\"'“”„«»‘’…。？！，、"
_APOSTROPHES = re.compile(r"['’]")
_MOST_STEMMED = 24  # languages of a library; more are as good as none
_MOST_GUESSED = 4  # languages of which a question may be, by its function words
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"), ("aa", "å"))


def parse_question(text: str, languages: Mapping[str, int]) -> Question:
    """Make a question ready for a library whose documents are in ``languages`` (with counts).

    It is parsed once: searching, answering and packing have it from the ``SearchResult``.
    """
    tried = _stemmers(text, languages)
    content_words = _content_words(text, tried[0])
    content = " ".join(content_words)
    dated, undated = _dates(text, tried)
    counts: Counter[str] = Counter()
    for language in tried:
        for term, count in Counter(analyse(content, language)).items():
            counts[term] = max(counts[term], count)
    others = _other_spellings(content_words, tried)
    for term in (*(term for _, terms in dated for term in terms), *others.values()):
        counts.setdefault(term, 1)
    words = _words(_content_words(undated, tried[0]) if dated else content_words, tried)
    file_names = tuple(dict.fromkeys(_FILE_NAME.findall(text)))
    return Question(
        text=text,
        content=content,
        terms=tuple(WeightedTerm(term, float(count)) for term, count in counts.items()),
        order=tuple(analyse(content, tried[0])),
        words=tuple(
            (word, (*terms, others[word]) if word in others else terms) for word, terms in words
        )
        + dated,
        languages=tried,
        phrases=_phrases(text),
        identifiers=_identifiers(undated, file_names),
        file_names=file_names,
    )


def _dates(
    text: str, languages: tuple[str, ...]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], str]:
    """Return each date as it is written with its index term, and the text without them."""
    found = dated_spans(text, languages[0])
    rest = text
    for one in reversed(found):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    return tuple((text[one.start : one.end], terms_of(one)[:1]) for one in found), rest


def _other_spellings(words: list[str], languages: tuple[str, ...]) -> Mapping[str, str]:
    """Return by word the term of a name as it is written where a keyboard lacks its letters.

    Juergen and Jürgen are one name. Other words are so written in German alone.
    """
    found = {}
    for word in words:
        other = word
        for written, letter in _UMLAUTS:
            plain, marked = (written, letter) if written in other.casefold() else (letter, written)
            other = re.sub(plain, marked, other, flags=re.IGNORECASE)
        is_name = word[:1].isupper() or "de" in languages
        if other != word and is_name and (terms := analyse(other, languages[0])):
            found[word] = terms[0]
    return found


def _words(
    content_words: list[str], languages: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each content word with its terms.

    Chinese and Japanese have bigrams for words; of an identifier only its whole form counts,
    which is its first term, for its parts stand in every other code of the same series.
    """
    for word in dict.fromkeys(content_words):
        bare = bare_word(word) or word  # "Acme's" is not in whatever has an s behind a mark
        terms = dict.fromkeys(term for name in languages for term in analyse(bare, name))
        if script_language(word):
            yield from ((term, (term,)) for term in terms)
        elif _is_identifier(word):
            yield word, tuple(dict.fromkeys(analyse(word, name)[0] for name in languages))
        elif terms:
            yield word, tuple(terms)


def _stemmers(text: str, languages: Mapping[str, int]) -> tuple[str, ...]:
    """Return the languages whose stems the question's words may have in this library.

    A document's terms carry its own language's stems, so a question is stemmed in every common
    language of the library; its own language, where it can be told, comes first because it
    decides which words are function words.
    """
    common = sorted(languages, key=lambda language: (-languages[language], language))
    common = common[:_MOST_STEMMED]
    if len(common) == 1:
        return (common[0],)  # unknown too: analysed as English
    own = language_of_script(text)
    if not own:
        candidates = common[:_MOST_GUESSED]
        own = max(candidates, key=lambda name: _function_words(text, name), default="")
        if own and not _function_words(text, own):
            own = detect(text) or common[0]  # whichever it is: its function words say nothing
    first = [own] if own or not common else []
    return tuple(dict.fromkeys([*first, *common])) or ("",)


def _function_words(text: str, language: str) -> int:
    stop = STOPWORDS.get(language or "en", frozenset())
    return sum(word.strip(_EDGE).casefold() in stop for word in _WORD.findall(text))


def _content_words(text: str, language: str) -> list[str]:
    """Return the words that are not function words; all of them if nothing else is left.

    "WHO" and "IT" are names in a question that is not all in capitals.
    """
    words = plain_words(text)
    names = not text.isupper()
    content_words = [
        word
        for word in words
        if (names and len(word) > 1 and word.isupper()) or not is_function_word(word, language)
    ]
    return content_words or words


def plain_words(text: str) -> list[str]:
    """Return the words of a text without the marks around them."""
    words = (word.strip(_EDGE) for word in _WORD.findall(unicodedata.normalize("NFKC", text)))
    return [word for word in words if word]


def is_function_word(word: str, language: str) -> bool:
    """Whether a word says nothing of what a question is about."""
    word, stop = word.casefold(), STOPWORDS.get(language or "en", frozenset())
    return word in stop or all(part in stop or not part for part in _APOSTROPHES.split(word))


def points_back(text: str, language: str) -> bool:
    """Whether a text has a word that stands for what was spoken of before: "it", "this"."""
    data = language_data().get(language or "en", LanguageData())
    if script_language(text):
        return any(word in text for word in data.pointing_words)
    return not data.pointing_words.isdisjoint(_LETTERS.findall(text.casefold()))


def is_name(word: str, question: Question) -> bool:
    """Whether a word of a question is a name: not its first word, which has a capital anyway."""
    if any(map(str.isdigit, word)):
        return not word.isdigit() or _YEAR.fullmatch(word) is not None
    if word in question.identifiers or any(word in phrase for phrase in question.phrases):
        return True
    if question.text.lstrip("\"'“„«¿¡(").startswith(word) or question.text.isupper():
        return False
    if question.languages[0] in _CAPITAL_NOUNS:
        return word.isupper() and len(word) > 1
    first = _CAPITAL.search(word)
    return bool(first and first.group().isupper())


def _phrases(text: str) -> tuple[str, ...]:
    quoted = ("".join(groups).strip() for groups in _PHRASE.findall(text))
    return tuple(dict.fromkeys(filter(None, (*quoted, *ADDRESS.findall(text)))))


def _identifiers(text: str, file_names: tuple[str, ...]) -> tuple[str, ...]:
    text = ADDRESS.sub(" ", text)
    found = [*(match.group() for match in _IDENTIFIER.finditer(text)), *_SIGNED.findall(text)]
    return tuple(
        dict.fromkeys(name for name in found if _is_identifier(name) and name not in file_names)
    )


def _is_identifier(name: str) -> bool:
    digits = any(character.isdigit() for character in name)
    letters = any(character.isalpha() for character in name)
    if _VERSION.fullmatch(name):
        return not _YEARS.fullmatch(name)
    if _ORDINAL.fullmatch(name):
        return False
    if _SIGNED.fullmatch(name):
        return True
    return (digits and letters) or "_" in name or bool(_INNER_CAPITAL.search(name))


def contains_exactly(text: str, wanted: str) -> bool:
    """Whether ``wanted`` stands in ``text``, case, width and line breaks apart."""
    return _plain(wanted) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
