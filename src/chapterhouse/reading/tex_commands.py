"""What LaTeX commands stand for, as far as that is a matter of words."""

from collections.abc import Mapping
from types import MappingProxyType

HEADINGS: Mapping[str, int] = MappingProxyType(
    {
        "title": 1,
        "part": 1,
        "chapter": 1,
        "section": 2,
        "subsection": 3,
        "subsubsection": 4,
        "paragraph": 5,
        "subparagraph": 6,
        "frametitle": 2,
    }
)
# Commands whose arguments nobody sees, and how many they have.
HIDDEN: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("label", "pagestyle", "thispagestyle", "vspace", "hspace", "index"), 1),
        **dict.fromkeys(("bibliographystyle", "pagenumbering", "color", "hypersetup"), 1),
        **dict.fromkeys(("includegraphics", "graphicspath", "selectlanguage", "phantom"), 1),
        **dict.fromkeys(("setlength", "addtolength", "setcounter", "addtocounter", "rule"), 2),
        **dict.fromkeys(("hyphenation", "textcolor", "colorbox"), 1),
        **dict.fromkeys(("newenvironment", "renewenvironment"), 3),
        **dict.fromkeys(("usepackage", "documentclass", "usetikzlibrary", "cline"), 1),
        "multicolumn": 2,
        "multirow": 2,
        "DeclareMathOperator": 2,
        "newtheorem": 2,
        "definecolor": 3,
    }
)
# Commands that only say how it looks.
_LAYOUT = """
appendix backmatter baselineskip begingroup bf bfseries bigskip boldmath bottomrule break
centering cleardoublepage clearpage em endgroup footnotesize frontmatter fussy hfil hfill hline
hrule Huge huge ignorespaces indent it itshape LARGE Large large leavevmode listoffigures
listoftables mainmatter maketitle mdseries medskip midrule newpage noindent nolinebreak nonumber
nopagebreak normalfont normalsize null onecolumn pagebreak protect raggedleft raggedright relax
rm rmfamily sc scriptsize scshape sf sffamily sl sloppy slshape small smallskip strut
tableofcontents textwidth tiny titlepage toprule tt ttfamily twocolumn unskip upshape vfill
xspace
"""
LAYOUT = frozenset(_LAYOUT.split())
# Commands that stand for a sign or a few letters.
_SIGNS = """
LaTeX=LaTeX LaTeXe=LaTeX2e TeX=TeX BibTeX=BibTeX ldots=… dots=… textellipsis=… ss=ß ae=æ AE=Æ
oe=œ OE=Œ o=ø O=Ø aa=å AA=Å l=ł L=Ł i=i j=j S=§ P=¶ copyright=© textcopyright=© textregistered=®
texttrademark=™ pounds=£ euro=€ texteuro=€ EUR=€ degree=° textdegree=° textbackslash=\\
textasciitilde=~ textasciicircum=^ textunderscore=_ textbar=| textless=< textgreater=>
textendash=– textemdash=— textquotedblleft=“ textquotedblright=” textquoteleft=‘
textquoteright=’ glqq=„ grqq=“ flqq=« frqq=» guillemotleft=« guillemotright=» slash=/ and=and
"""
SIGNS: Mapping[str, str] = MappingProxyType(
    {name: sign for name, _, sign in (pair.partition("=") for pair in _SIGNS.split())}
    | {"quad": " ", "qquad": " ", "space": " ", "newline": "\n", "linebreak": "\n"}
    | {"par": "\n\n", "today": ""}
)
# Combining characters of the accents; those of letters are commands with a letter for a name.
ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "`": "\u0300",
        "'": "\u0301",
        "^": "\u0302",
        "~": "\u0303",
        '"': "\u0308",
        "=": "\u0304",
        ".": "\u0307",
        "u": "\u0306",
        "v": "\u030c",
        "H": "\u030b",
        "c": "\u0327",
        "k": "\u0328",
        "r": "\u030a",
        "d": "\u0323",
        "b": "\u0331",
    }
)
CODE = frozenset({"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt"})
MATHS = frozenset(
    name + star
    for name in ("equation", "align", "gather", "multline", "eqnarray", "alignat", "flalign")
    for star in ("", "*")
) | {"math", "displaymath", "tikzpicture"}
# Environments whose arguments say how it looks, and how many in braces they have.
ARRANGED: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("figure", "figure*", "table", "table*", "document", "itemize"), 0),
        **dict.fromkeys(("enumerate", "description", "frame", "center"), 0),
        **dict.fromkeys(("tabular", "array", "longtable", "minipage", "thebibliography"), 1),
        **dict.fromkeys(("multicols", "supertabular"), 1),
        **dict.fromkeys(("tabular*", "tabularx", "tabulary"), 2),
    }
)
