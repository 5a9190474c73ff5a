import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits

SOURCE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc} % comment
\newcommand{\product}{Heron}
\newcommand{\pair}[2]{#1 and #2}
\title{Harbour \emph{Rules}}
% \author{Nobody}
\author{Ada \and Bob}
\begin{document}
\maketitle
\begin{abstract}
Short.
\end{abstract}
\section[short]{The
  Fleet}\label{sec:fleet}
The \textbf{\product} has 180~seats --- 50\,\% on deck.
See \ref{sec:fleet} and \cite[p. 3]{knuth}.\footnote{Not $x_1 < 2$ in \emph{winter}.}
Stra\ss e, Andr\'e, \"Uber, \v{S}koda, na\"{\i}ve, cost \$5 \& more\_less.

% whole line
\begin{itemize}
  \item rope
  \begin{enumerate}
    \item short
  \end{enumerate}
  \item[anchor] heavy
\end{itemize}
\begin{verbatim}
% not a comment \section{x}
   {indented}
\end{verbatim}
\begin{lstlisting}[language=Python]
leave("nine")
\end{lstlisting}
\begin{equation}
  a^2 + \alpha
\end{equation}
\begin{tabular}{lr}
\hline
Vessel & Seats \\
Heron & 180
\end{tabular}
\subsection*{Use \verb|x_{1}|}
\href{https://example.org/a_b}{Link} and \url{https://example.org/%7E}. \pair{one}{two} \unknown
\end{document}
not shown
"""
EXPECTED = r"""# Harbour Rules

Ada and Bob

## Abstract

Short.

## The Fleet

The Heron has 180 seats — 50 % on deck.
See [sec:fleet] and [knuth, p. 3]. (Not $x_1 < 2$ in winter.)
Straße, André, Über, Škoda, naïve, cost $5 & more_less.

- rope

  1. short

- anchor: heavy

```
% not a comment \section{x}
   {indented}
```

```python
leave("nine")
```

\begin{equation}
  a^2 + \alpha
\end{equation}

Vessel & Seats
Heron & 180

### Use `x_{1}`

Link (https://example.org/a_b) and https://example.org/%7E. one two \unknown"""


def text_of(source: str) -> str:
    return read(source.encode(), "a.tex", Limits()).pages[0].text


def test_a_document_is_read_as_it_is_set() -> None:
    extraction = read(SOURCE.encode(), "a.tex", Limits())
    assert extraction.pages[0].text == EXPECTED
    assert (extraction.format, extraction.title) == ("tex", "Harbour Rules")
    assert extraction.notices == ()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("glu% comment\n  ed\n", "glued"),
        ("one % comment\n\ntwo", "one\n\ntwo"),
        ("5\\% of", "5% of"),
        ("\\begin{theorem}[Euler] It holds.\\end{theorem}", "(Euler) It holds."),
        ("\\begin{quote}Said.\\end{quote}", "Said."),
        ("\\textcolor{red}{danger}", "danger"),
        ("price $5 and more", "price $5 and more"),
        ("a \\(x\\) b \\[y\\]", "a \\(x\\) b \\[y\\]"),
        ("\\input{chapters/one}", "\\input{chapters/one}"),
        ("\\emph{never closed", "never closed"),
        ("\\begin{verbatim}never closed", "never closed"),
        ("\\section{never closed", "never closed"),
        ("stray } brace \\", "stray brace \\"),
        ("``quoted'' pages 1--2", "“quoted” pages 1–2"),
    ],
)
def test_pieces(source: str, text: str) -> None:
    assert text_of(source) == text


WORD = st.text("abcdefgh", min_size=2, max_size=6)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    kinds = ("emph{%s}", "section{%s}", "footnote{%s}", "begin{itemize}\\item %s\\end{itemize}")
    more = ("begin{quote}%s\\end{quote}", "unheardof{%s}", "begin{verbatim}\n%s\n\\end{verbatim}")
    one = st.tuples(st.sampled_from(kinds + more), WORD).map(lambda pair: "\\" + pair[0] % pair[1])
    return st.lists(st.one_of(one, inner), min_size=1, max_size=4).map(" ".join)


@given(st.recursive(WORD.map("W{}".format), nested, max_leaves=12))
def test_no_word_is_lost_or_moved(source: str) -> None:
    commands = r"\\(?:begin|end)\{\w+\}|\\\w+"
    wanted = re.findall(r"[a-zW]+", re.sub(commands, " ", source))
    assert re.findall(r"[a-zW]+", text_of(source)) == wanted


@given(st.text(alphabet="\\{}[]$%&~\"'`^abc \n", max_size=60))
def test_anything_ends_in_text(source: str) -> None:
    read(source.encode() or b" ", "a.tex", Limits())
