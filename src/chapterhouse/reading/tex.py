"""LaTeX as Markdown: headings, lists and code; formulas as they are written; all other words.

Nothing is executed: a command that is not known gives the text of its arguments, or, without any,
stays as it is written. What the author defined without parameters is filled in.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from chapterhouse.reading.encodings import decode
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.markdown import code_block, first_heading
from chapterhouse.types import ExtractedPage, Extraction

_TOKEN = re.compile(
    r"(?P<comment>%[^\n]*(?:\n[ \t]*)?)"
    r"|\\(?P<command>[A-Za-z@]+)(?P<star>\*?)"
    r"|\\(?P<symbol>.)"
    r"|(?P<open>\{)|(?P<close>\})|(?P<maths>\$\$?)|(?P<text>[^\\{}%$]+)|\\",
    re.DOTALL,
)
_BLANKS = re.compile(r"[ \t]*\n?[ \t]*(?=[\[{])")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DEFINED = re.compile(r"[ \t]*\{?\\[A-Za-z@]+\}?(?:\[[^\]\n]*\])*[#\d]*[ \t]*")
_LINE_END = re.compile(r"[ \t]*\n(?=[^\n])")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|def)[ \t]*\{?\\(?P<name>[A-Za-z@]+)\}?[ \t]*\{"
)
_BODY = re.compile(r"\\begin[ \t]*\{document\}")
_SHOWN_BEFORE = re.compile(r"\\(?:title|subtitle|author|date)\b")
_SPACES = re.compile(r"[ \t]+")
_LINES = re.compile(r"\n{3,}")
_LINE_EDGE = re.compile(r" ?\n ?")
_QUOTES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "))
_LISTS = {"itemize": "-", "enumerate": "1.", "description": "-", "thebibliography": "-"}
_REFERENCES = frozenset({"ref", "eqref", "pageref", "autoref", "cref", "Cref", "nameref"})
_CITATIONS = re.compile(r"(?:[Cc]ite|(?:paren|text|foot|auto)cite)[a-z]*")
_LEFT_AS_WRITTEN = frozenset({"input", "include", "bibliography", "lstinputlisting"})
_ARGUMENT_CEILING = 20_000  # characters, behind which a brace is taken for a mistake
_NESTED_CEILING = 4
_VERBATIM, _INDENT = "\0", "\1"  # stand for a block that was kept, and for two blanks
_DEFINED_CEILING = 2_000  # characters of a definition that is filled in

# --- what commands stand for, as far as that is a matter of words --------------------------------


def _numbers(words: str) -> dict[str, int]:
    """Return the number behind each word: ``label=1``."""
    return {name: int(number) for name, _, number in (w.partition("=") for w in words.split())}


_HEADINGS: Final = _numbers("""
title=1 part=1 chapter=1 section=2 subsection=3 subsubsection=4 paragraph=5 subparagraph=6
frametitle=2
""")
# Commands whose arguments nobody sees, and how many they have.
_HIDDEN: Final = _numbers("""
label=1 pagestyle=1 thispagestyle=1 vspace=1 hspace=1 index=1 bibliographystyle=1 pagenumbering=1
color=1 hypersetup=1 includegraphics=1 graphicspath=1 selectlanguage=1 phantom=1 setlength=2
addtolength=2 setcounter=2 addtocounter=2 rule=2 hyphenation=1 textcolor=1 colorbox=1
newenvironment=3 renewenvironment=3 usepackage=1 documentclass=1 usetikzlibrary=1 cline=1
multicolumn=2 multirow=2 DeclareMathOperator=2 newtheorem=2 definecolor=3
""")
# Commands that only say how it looks.
_LOOKS = """
appendix backmatter baselineskip begingroup bf bfseries bigskip boldmath bottomrule break
centering cleardoublepage clearpage em endgroup footnotesize frontmatter fussy hfil hfill hline
hrule Huge huge ignorespaces indent it itshape LARGE Large large leavevmode listoffigures
listoftables mainmatter maketitle mdseries medskip midrule newpage noindent nolinebreak nonumber
nopagebreak normalfont normalsize null onecolumn pagebreak protect raggedleft raggedright relax
rm rmfamily sc scriptsize scshape sf sffamily sl sloppy slshape small smallskip strut
tableofcontents textwidth tiny titlepage toprule tt ttfamily twocolumn unskip upshape vfill
xspace
"""
_LAYOUT: Final = frozenset(_LOOKS.split())
# Commands that stand for a sign or a few letters.
_LETTERS = """
LaTeX=LaTeX LaTeXe=LaTeX2e TeX=TeX BibTeX=BibTeX ldots=… dots=… textellipsis=… ss=ß ae=æ AE=Æ
oe=œ OE=Œ o=ø O=Ø aa=å AA=Å l=ł L=Ł i=i j=j S=§ P=¶ copyright=© textcopyright=© textregistered=®
texttrademark=™ pounds=£ euro=€ texteuro=€ EUR=€ degree=° textdegree=° textbackslash=\\
textasciitilde=~ textasciicircum=^ textunderscore=_ textbar=| textless=< textgreater=>
textendash=– textemdash=— textquotedblleft=“ textquotedblright=” textquoteleft=‘
textquoteright=’ glqq=„ grqq=“ flqq=« frqq=» guillemotleft=« guillemotright=» slash=/ and=and
"""
_SIGNS: Final = {name: sign for name, _, sign in (w.partition("=") for w in _LETTERS.split())} | {
    "quad": " ", "qquad": " ", "space": " ", "newline": "\n", "linebreak": "\n", "par": "\n\n",
    "today": "",
}  # fmt: skip
# Combining characters of the accents; those of letters are commands with a letter for a name.
_ACCENTS: Final = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_CODE: Final = frozenset({"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt"})
_MATHS: Final = frozenset({
    "math", "displaymath", "tikzpicture",
    *(name + star
      for name in ("equation", "align", "gather", "multline", "eqnarray", "alignat", "flalign")
      for star in ("", "*")),
})  # fmt: skip
# Environments whose arguments say how it looks, and how many in braces they have.
_ARRANGED: Final = _numbers("""
figure=0 figure*=0 table=0 table*=0 document=0 itemize=0 enumerate=0 description=0 frame=0 center=0
tabular=1 array=1 longtable=1 minipage=1 thebibliography=1 multicols=1 supertabular=1 tabular*=2
tabularx=2 tabulary=2
""")


def read_tex(data: bytes) -> Extraction:
    """Read LaTeX; its title is what it states, or its first heading."""
    source, notices = decode(data)
    source = source.replace(_INDENT, "")
    closings = _closings(source)
    defined = {
        found["name"]: value
        for found in _DEFINITION.finditer(source)
        if len(value := _group(source, found.end() - 1, closings)[0]) <= _DEFINED_CEILING
    }
    plain = {
        name: _Converter(value, {}).run() for name, value in defined.items() if "#" not in value
    }
    shown = _Converter(_visible(source, closings), plain).run()
    title = first_heading(shown)
    return Extraction((ExtractedPage(shown),), "tex", METHOD, title=title, notices=notices)


def _visible(source: str, closings: dict[int, int]) -> str:
    """Return the body of a document under what its preamble says of its title."""
    begin = _BODY.search(source)
    if begin is None:
        return source
    preamble = source[: begin.start()]
    stated = []
    for found in _SHOWN_BEFORE.finditer(preamble):
        line_start = preamble.rfind("\n", 0, found.start()) + 1
        if "%" in preamble[line_start : found.start()]:
            continue
        _, start = _optional(preamble, found.end())
        text, end = _group(preamble, start, closings)
        stated.append(f"{found[0]}{{{text}}}\n\n" if end > start else "")
    end = source.find("\\end{document}", begin.end())
    return "".join(stated) + source[begin.end() : end if end >= 0 else len(source)]


def _closings(text: str) -> dict[int, int]:
    """Return where each brace that is closed is closed."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            waiting.append(brace.start())
        elif brace[0] == "}" and waiting:
            found[waiting.pop()] = brace.start()
    return found


def _group(text: str, start: int, closings: dict[int, int]) -> tuple[str, int]:
    """Return the argument in braces at ``start``, and where it ends; ``start`` without one."""
    end = closings.get(start)
    return ("", start) if end is None else (text[start + 1 : end], end + 1)


def _optional(text: str, start: int) -> tuple[str, int]:
    """Return the argument in brackets behind blanks at ``start``, and where an argument begins."""
    found = _BLANKS.match(text, start)
    position = found.end() if found else start
    if text[position : position + 1] != "[":
        return "", position
    end = text.find("]", position, position + _ARGUMENT_CEILING)
    if end < 0:
        return "", position
    inside = text[position + 1 : end]
    found = _BLANKS.match(text, end + 1)
    follows = found is not None and text[found.end()] == "{"
    return inside, found.end() if found and follows else end + 1


@dataclass(slots=True)
class _Converter:
    """Goes over the source once; what is to come behind an open brace waits in ``closers``."""

    source: str
    defined: dict[str, str]
    depth: int = 0
    position: int = 0
    pieces: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)  # code and formulas, kept out of the tidying
    closers: list[str] = field(default_factory=list)
    closer: str = ""
    lists: list[str] = field(default_factory=list)
    unclosed: set[str] = field(default_factory=set)
    closings: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.closings = _closings(self.source)

    def run(self) -> str:
        while found := _TOKEN.match(self.source, self.position):
            self.position = found.end()
            match found.lastgroup:
                case "command" | "star":
                    self._command(found["command"])
                case "symbol":
                    self._symbol(found["symbol"])
                case "open":
                    self.closers.append(self.closer)
                    self.closer = ""
                case "close":
                    self._close()
                case "maths":
                    self._formula(found["maths"], found["maths"])
                case "text":
                    self._text(found["text"])
                case "comment":
                    self.pieces.append("\n\n" if self._next() == "\n" else "")
                case _:
                    self.pieces.append("\\")
        return self._tidied()

    def _next(self) -> str:
        return self.source[self.position : self.position + 1]

    def _close(self) -> None:
        self.pieces.append(self.closers.pop() if self.closers else "")
        if self._next() == "{":  # another argument, whose words are others
            self.pieces.append(" ")

    def _text(self, text: str) -> None:
        for written, shown in _QUOTES:
            text = text.replace(written, shown)
        self.pieces.append(text)

    def _tidied(self) -> str:
        text = _SPACES.sub(" ", "".join(self.pieces))
        text = _LINES.sub("\n\n", _LINE_EDGE.sub("\n", text)).strip()
        pieces = text.split(_VERBATIM)
        blocks = [block for pair in zip(pieces, [*self.blocks, ""], strict=True) for block in pair]
        return "".join(blocks).replace(_INDENT, "  ")

    def _add_verbatim(self, block: str) -> None:
        self.pieces.append(_VERBATIM)
        self.blocks.append(block)

    def _inner(self, text: str) -> str:
        """Convert an argument; what is nested deeper than anyone writes stays as it is."""
        if self.depth >= _NESTED_CEILING:
            return text
        return _Converter(text, self.defined, self.depth + 1).run()

    def _until(self, end: str) -> str | None:
        """Return the source up to ``end`` and go behind it; None where it does not come."""
        stop = -1 if end in self.unclosed else self.source.find(end, self.position)
        if stop < 0:
            self.unclosed.add(end)
            return None
        inside = self.source[self.position : stop]
        self.position = stop + len(end)
        return inside

    def _formula(self, begin: str, end: str) -> None:
        start = self.position
        inside = self._until(end)
        if inside is None or "\n\n" in inside:
            self.position = start
            self.pieces.append(begin)
        else:
            self._add_verbatim(f"{begin}{inside}{end}")

    def _symbol(self, symbol: str) -> None:
        if symbol in "([":
            self._formula(f"\\{symbol}", "\\)" if symbol == "(" else "\\]")
        elif symbol in _ACCENTS:
            self._accent(symbol)
        elif symbol == "\\":
            _, start = _optional(self.source, self.position)
            found = _LINE_END.match(self.source, start)
            self.position = found.end() if found else start
            self.pieces.append("\n")
        elif symbol in ",;: \n\t":
            self.pieces.append(" ")
        elif symbol not in "!/-":
            self.pieces.append(symbol)

    def _accent(self, accent: str) -> None:
        position = self.position
        while self.source[position : position + 1] in {" ", "\t"}:
            position += 1
        letter, end = _group(self.source, position, self.closings)
        if end == position:
            skip = 2 if self.source[position : position + 2] in {"\\i", "\\j"} else 1
            letter, end = self.source[position : position + skip], position + skip
        letter = letter.strip().removeprefix("\\")
        self.position = min(end, len(self.source))
        marked = letter[:1] + _ACCENTS[accent] + letter[1:] if letter else accent
        self.pieces.append(unicodedata.normalize("NFC", marked))

    def _argument(self) -> str:
        _, start = _optional(self.source, self.position)
        text, self.position = _group(self.source, start, self.closings)
        return text

    def _command(self, name: str) -> None:
        if name in {"begin", "end"}:
            (self._begin if name == "begin" else self._end)(self._argument())
        elif name in {"verb", "lstinline"}:
            self._verb()
        elif name in _HEADINGS:
            title = " ".join(self._inner(self._argument()).split())
            self.pieces.append(f"\n\n{'#' * _HEADINGS[name]} {title}\n\n" if title else "\n\n")
        elif name in {"newcommand", "renewcommand", "providecommand", "def"}:
            if found := _DEFINED.match(self.source, self.position):
                _, self.position = _group(self.source, found.end(), self.closings)
        elif name in _HIDDEN:
            for _ in range(_HIDDEN[name]):
                self._argument()
        elif name == "item":
            label, self.position = _optional(self.source, self.position)
            mark = self.lists[-1] if self.lists else "-"
            self.pieces.append(f"\n{_INDENT * (len(self.lists) - 1)}{mark} ")
            self.pieces.append(f"{self._inner(label)}: " if label else "")
        else:
            self._words(name)

    def _words(self, name: str) -> None:
        """Write what a command inside a paragraph stands for."""
        if name in _REFERENCES or name == "bibitem" or _CITATIONS.fullmatch(name):
            note, _ = _optional(self.source, self.position)
            text = ", ".join(filter(None, (self._argument(), note)))
            self.pieces.append(f"\n- [{text}] " if name == "bibitem" else f"[{text}]")
        elif name in {"url", "path", "nolinkurl"}:
            self._add_verbatim(self._argument())
        elif name == "href":
            self._around("", f" ({self._argument()})")
        elif name in {"footnote", "footnotetext", "thanks"}:
            self._around(" (", ")")
        elif name in _LEFT_AS_WRITTEN:
            self._add_verbatim(f"\\{name}{{{self._argument()}}}")
        else:
            self._replaced(name)

    def _replaced(self, name: str) -> None:
        """Write the sign or the author's own text that a command stands for, or its name."""
        if name in _SIGNS:
            self._sign(_SIGNS[name])
        elif name in self.defined:
            self.pieces.append(self.defined[name])
        elif name in _ACCENTS:
            self._accent(name)
        elif name not in _LAYOUT:
            _, start = _optional(self.source, self.position)
            if self.source[start : start + 1] == "{":
                self.position = start
            else:
                self.pieces.append(f"\\{name}")

    def _sign(self, sign: str) -> None:
        """Write a sign; TeX takes the blank behind its name for the end of the name."""
        self.pieces.append(sign)
        if self.source[self.position : self.position + 2] == "{}":
            self.position += 2
        elif self._next() == " " and len(sign) == 1:
            self.position += 1

    def _around(self, before: str, behind: str) -> None:
        """Write around the argument that follows."""
        self.pieces.append(before)
        _, self.position = _optional(self.source, self.position)
        if self._next() == "{":
            self.closer = behind

    def _verb(self) -> None:
        if self._next() == "{":
            self._add_verbatim(f"`{self._argument()}`")
            return
        mark = self._next()
        self.position += 1
        line_end = self.source.find("\n", self.position)
        stop = self.source.find(mark, self.position, line_end if line_end >= 0 else None)
        if mark and stop >= 0:
            self._add_verbatim(f"`{self.source[self.position : stop]}`")
            self.position = stop + 1

    def _begin(self, name: str) -> None:
        end = f"\\end{{{name}}}"
        start = self.position
        if name in _CODE and (inside := self._until(end)) is not None:
            self._code(name, inside)
        elif name in _MATHS and (inside := self._until(end)) is not None:
            self.pieces.append("\n\n")
            self._add_verbatim(self.source[start - len(f"\\begin{{{name}}}") : self.position])
            self.pieces.append("\n\n")
        elif name == "comment":
            self._until(end)
        elif name in _ARRANGED:
            _, self.position = _optional(self.source, self.position)
            for _ in range(_ARRANGED[name]):
                self._argument()
            self.pieces.append("\n\n")
            if name in _LISTS:
                self.lists.append(_LISTS[name])
        else:
            stated, self.position = _optional(self.source, self.position)
            heading = "\n\n## Abstract\n\n" if name == "abstract" else "\n\n"
            self.pieces.append(heading + (f"({self._inner(stated)}) " if stated else ""))

    def _code(self, name: str, inside: str) -> None:
        first, _, rest = inside.partition("\n")
        language = ""
        if name == "minted":
            language = first.rpartition("{")[2].strip("} \t")
            inside = rest
        elif first.strip().startswith("["):
            found = re.search(r"language=\{?([\w+#-]+)", first)
            language, inside = found[1].lower() if found else "", rest
        self.pieces.append("\n\n")
        self._add_verbatim(code_block(inside.strip("\n"), language).rstrip("\n"))
        self.pieces.append("\n\n")

    def _end(self, name: str) -> None:
        if name in _LISTS and self.lists:
            self.lists.pop()
        self.pieces.append("\n\n")
