import pytest
from tests.reading.conftest import codes
from tests.reading.html.pages import BODY, SENTENCES, page_with, read, text_of

from chapterhouse.types import BENIGN_NOTICES

# What would hang fails by the clock of pytest-timeout.
pytestmark = pytest.mark.timeout(120)

ENTITIES = '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9)
)
ARTICLE = " ".join(
    f"Sentence number {number} of the article says something." for number in range(20)
)
PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>Boats | The Paper</title>
<meta property="og:title" content="Boats"><meta name="author" content="A. Ferryman">
<meta property="article:published_time" content="1987-05-12">
<style>p {{ color: red }}</style><script>var secret = "script text";</script></head><body>
<header><a href="/">The Paper</a></header>
<nav><ul><li><a href="/a">Sports</a></li><li><a href="/b">Weather</a></li></ul></nav>
<div class="content"><article><h1>Boats</h1><p>{ARTICLE}</p><h2>Oars</h2><p>{ARTICLE}</p></article>
<aside class="sidebar"><p>Most read today: everything else.</p></aside></div>
<div class="related-articles"><ul><li><a href="/c">Another story</a></li></ul></div>
<footer>Copyright The Paper</footer></body></html>"""


def test_the_content_of_a_page_without_what_surrounds_it() -> None:
    extraction = read(PAGE)
    assert extraction.pages[0].text == f"# Boats\n\n{ARTICLE}\n\n## Oars\n\n{ARTICLE}"
    assert (extraction.format, extraction.title) == ("html", "Boats")
    assert extraction.metadata == {"author": "A. Ferryman", "date": "1987-05-12", "language": "en"}
    (notice,) = extraction.notices
    assert notice.code in BENIGN_NOTICES
    assert notice.sentence.startswith("93 of its 2,084 characters")


@pytest.mark.parametrize(
    ("body", "text", "title"),
    [
        ("<title> Of \n Boats </title><h1>Other</h1>", "# Other", "Of Boats"),
        ("<h1>Of Boats</h1>", "# Of Boats", "Of Boats"),
        (
            "<h1>Boats</h1><p>One.</p><ul><li>oars<li>sails</ul>bare text<p>Two.",
            "# Boats\n\nOne.\n\n- oars\n- sails\n\nbare text\n\nTwo.",
            "Boats",
        ),
        ("<p>See <a href='http://x.org/a?b=c'>the <b>log</b></a>.</p>", "See the log.", ""),
        ("<p>a <img alt='a boat &amp; oars'> b</p><img alt=DSC01.JPG>", "a a boat & oars b", ""),
        ("<p>&eacute; &amp;lt; &#8364; &nbsp;&copy;</p>", "é &lt; € ©", ""),
        (
            "<pre><code class='language-python'>if a &lt; b:\n    pass\n</code></pre>",
            "```python\nif a < b:\n    pass\n```",
            "",
        ),
        (
            (
                "<h2><button aria-expanded=false>How do I pay?</button></h2><p>By wire.</p>"
                "<details><summary>Who?</summary><p>The owner.</p></details>"
            ),
            "## How do I pay?\n\nBy wire.\n\n**Who?**\n\nThe owner.",
            "",
        ),
        ("<p>Price <span aria-hidden=true>12.99</span></p>", "Price 12.99", ""),
        ("<svg><text>Catch</text><path d=x /></svg><p>x</p>", "Catch\n\nx", ""),
        (f"<!DOCTYPE html [{ENTITIES}]><html><body><p>so &a8; far</p>", "so &a8; far", ""),
        ("", "", ""),
        ("<frameset></frameset>", "", ""),
        ("\0\0\0", "", ""),
    ],
    ids=range(14),
)
def test_what_a_page_shows_is_its_text(body: str, text: str, title: str) -> None:
    extraction = read(body)
    assert (extraction.pages[0].text, extraction.title) == (text, title)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><text>x</text></svg>",
        "<iframe srcdoc='<p>alert(1)</p>'></iframe>",
        "<a href='javascript:alert(1)'>plain link</a>",
        "<object data='x'>alert(1)</object>",
        "<ScRiPt>alert(1)</sCrIpT>",
        "<math><annotation-xml encoding='text/html'><script>alert(1)</script></math>",
    ],
)
def test_nothing_that_runs_is_left(hostile: str) -> None:
    text = text_of(f"<p>before</p>{hostile}<p>after</p>")
    assert "alert" not in text
    assert text.startswith("before")
    assert text.endswith("after")


def test_deep_nesting_ends_soon_and_keeps_the_text() -> None:
    extraction = read(
        "<p>above</p>" + "<div>" * 100_000 + "<p>deep &amp; down</p>" + "</div>" * 100_000
    )
    assert extraction.pages[0].text == "above\n\ndeep & down"
    assert codes(extraction) == ["layout-skipped"]


@pytest.mark.parametrize(
    "hostile",
    [
        "<p>" * 50_000 + "x",
        "<!--" * 50_000 + "x",
        "<p><b>" * 400 + "x",
        "<table><tr><td>" * 300 + "x",
        "<table>" + "<tr><td colspan=1000 rowspan=1000>x</td></tr>" * 3_000 + "</table>",
        "&" * 200_000 + "amp;",
        "<a " + "b=c " * 50_000 + ">x</a>",
        "<" * 100_000,
        "<!DOCTYPE " + "[" * 50_000,
    ],
    ids=range(9),
)
def test_hostile_pages_end_soon(hostile: str) -> None:
    read(hostile)


@pytest.mark.parametrize(
    "name",
    [
        "related-charges", "share-capital", "next-steps", "legal", "comments-of-the-auditor",
        "hidden-reserves", "author-rights", "tags-and-permits",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shell", ["{}", "<main>{}</main>", "<div id=content>{}</div>"])
@pytest.mark.parametrize("tag", ["section", "div"])
def test_no_section_vanishes_for_its_name(name: str, shell: str, tag: str) -> None:
    body = (
        f"<{tag}><p>{SENTENCES}</p></{tag}>"
        f"<{tag} class={name}><h2>One</h2><p>It falls due in May.</p></{tag}>"
        f"<{tag} id={name}><h2>Two</h2><p>Due: EUR 12 <a href=/x>a month</a></p></{tag}>"
        f"<{tag} class={name}><table><tr><th>Year<th>Due<tr><td>1987<td>412</table></{tag}>"
        f"<{tag} class={name}><p>{SENTENCES}</p></{tag}>"
    )
    text = page_with(shell.format(body))
    for part in ("## One\n\nIt falls due in May.", "## Two\n\nDue: EUR 12", "| 1987 | 412 |"):
        assert part in text
    assert text.count("harbour master") == 12
    assert "About the port" not in text


def test_links_share_buttons_and_threads_of_comments_go() -> None:
    comments = "".join(f"<li class=comment>I was there {n} times. Really!</li>" for n in range(3))
    text = page_with(
        f"<div><p>{SENTENCES}</p></div>",
        "<div class=related-stories><a href=/1>Another story</a> <a href=/2>A third</a></div>",
        "<div class=share><button>Share this</button></div>",
        f"<ol class=comments>{comments}</ol>",
        "<form class=newsletter><label>Sign up <input name=mail></label><button>Go</button></form>",
    )
    assert text.strip() == SENTENCES.strip()


def test_a_picture_that_leads_elsewhere_goes_unless_the_text_is_about_it() -> None:
    about = "This sheep is white and eats grass all day."
    text = page_with(
        f"<div><p>{SENTENCES}</p><p><a href=/l><img alt=Lucy></a>: {about}</p></div>",
        "<div><a href=/s><img alt='Another story'></a></div>",
    )
    assert f"Lucy: {about}" in text
    assert "Another story" not in text


LINKS = "".join(f"<li><a href=/{n}>Title {n}</a> Some words on it.</li>" for n in range(4))
TEASER = "<div class=next><h5><a href=/n>A new ferry</a></h5><p>It sails in May.</p></div>"
STEPS = "<div class=next-steps><h2><a href=#s>Steps</a></h2><p>Go there.</p></div>"
OFFER = "".join(f"<div><a href=/oar>{words}</a></div>" for words in ("Oar", "$17.99", "Buy"))
TERMS = "<dt>Beam<dd>Width<dt>Draught<dd>Depth<dt>Tons<dd>180<dt>Built<dd>1998"


@pytest.mark.parametrize(
    ("html", "stays", "goes"),
    [
        (f"<ul>{LINKS}</ul><div>{BODY}</div><div><ul>{LINKS}</ul></div>", "Part 3", "Title 2"),
        (f"<div>{BODY}{TEASER}{STEPS}</div>", "Go there.", "A new ferry"),
        (f"<div>{BODY}<div>{OFFER}</div></div>", "$17.99", "Home"),
        (f"<div><p>{SENTENCES}</p></div><dl class=meta>{TERMS}</dl>", "Tons 180 Built", "Home"),
    ],
    ids=["lists of links", "beginnings of articles", "an offer", "terms"],
)
def test_what_is_of_the_page_stays_and_what_leads_elsewhere_goes(
    html: str, stays: str, goes: str
) -> None:
    text = " ".join(page_with(html).split())
    assert stays in text
    assert goes not in text


@pytest.mark.parametrize(
    "gallery",
    [
        "<figure><img src=x><figcaption>Boats at anchor.</figcaption></figure>" * 3,
        (
            "<div class=caption><div class=full><div class=caption-full>Boats at anchor off "
            "Whitby, in May 1987. Photo: A. Smith</div></div>Image 1</div>"
            "<div class=strip-caption>Boats at anchor off Whitby, in May 1987.</div>"
        ),
    ],
    ids=range(2),
)
def test_a_caption_is_said_once_in_a_gallery(gallery: str) -> None:
    assert page_with(f"<div><p>{SENTENCES}</p>{gallery}</div>").count("at anchor") == 1


# --- tables ---


def test_a_table_with_spans_is_filled() -> None:
    text = text_of(
        "<table><caption>Catch</caption><tr><th>Place<th colspan=2>Fish</tr>"
        "<tr><td rowspan=2>Quay<td>cod<td>3</tr><tr><td>eel<td>4</tr></table>"
    )
    assert text.split("\n") == [
        "Catch", "", "| Place | Fish | Fish |", "| --- | --- | --- |", "| Quay | cod | 3 |",
        "| Quay | eel | 4 |",
    ]  # fmt: skip


def test_a_row_that_ends_under_a_tall_cell_is_filled() -> None:
    text = text_of("<table><tr><th>a<th>b</tr><tr><td>1<td rowspan=2>2</tr><tr><td>3</tr></table>")
    assert text.split("\n")[2:] == ["| 1 | 2 |", "| 3 | 2 |"]


CATCH = "<tr><td>Quay<td>412<td>9</tr><tr><td>Weir<td>377<td>8</tr>"


@pytest.mark.parametrize(
    ("rows", "heading"),
    [
        ("<tr><th>Place<th>Cod<th>Eel</tr>" + CATCH, "| Place | Cod | Eel |"),
        ("<thead><tr><td>Place<td>1987<td>1988</tr></thead>" + CATCH, "| Place | 1987 | 1988 |"),
        ("<tr><td><b>Quay</b><td><b>A 4</b><td><b>A 5</b></tr>" + CATCH, "| Quay | A 4 | A 5 |"),
        ("<tr><td>Place<td>Cod<td>Eel</tr>" + CATCH, "| Place | Cod | Eel |"),
        ("<tr></tr><tr><td>Dam<td>208<td>3</tr>" + CATCH, "|  |  |  |"),
        ("<tr><td>4<td>412<td>9</tr><tr><td>5<td>377<td>8</tr>", "|  |  |  |"),
        ("<tr><th>Boat<td>Tern</tr><tr><th>Owner<td>Ida</tr>", "|  |  |"),
        ("<tr><td>Boat<td>Tern 3</tr><tr><td>Owner<td>Ida</tr><tr><td>Fee<td>40</tr>", "|  |  |"),
        ("<tr><td><b>Owner</b><td>Ida 1</tr><tr><td><b>Fee</b><td>40</tr>", "|  |  |"),
    ],
    ids=["cells", "part", "bold", "texts", "values", "numbers", "names", "pairs", "bold names"],
)
def test_no_value_stands_under_a_row_that_is_no_heading(rows: str, heading: str) -> None:
    lines = text_of(f"<p>Of the year.</p><table>{rows}</table>").split("\n")
    assert lines[2] == heading
    assert len(lines) == 2 + rows.replace("<tr></tr>", "").count("<tr>") + 1 + heading.startswith(
        "|  |"
    )


SIZES = "<tr><td>Quay<td>4<td>5<td>6<td>7</tr><tr><td>Weir<td>5<td>6<td>7<td>8</tr>"
GROUPS = "| Place | Cod, small | Cod, large | Eel, small | Eel, large |"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            "<thead><tr><th rowspan=2>Place<th colspan=2>Cod<th colspan=2>Eel</tr>"
            "<tr><th>small<th>large<th>small<th>large</tr></thead>" + SIZES,
            [GROUPS],
        ),
        (
            "<tr><td><b>Place</b><td colspan=2><b>Cod</b><td colspan=2><b>Eel</b></tr><tr><td>"
            + "<td><b>small</b><td><b>large</b>" * 2 + "</tr>" + SIZES,
            [GROUPS],
        ),
        (
            "<tr><td>Place<td colspan=2>Cod<td colspan=2>Eel</tr><tr><td>"
            + "<td>small<td>large" * 2 + "</tr>" + SIZES,
            [GROUPS],
        ),
        (
            "<tr><th colspan=3>Catch of <i>May</i></tr><tr><th>Place<th>Cod<th>Eel</tr>" + CATCH,
            ["Catch of May", "", "| Place | Cod | Eel |"],
        ),
        (
            "<tr><th colspan=2>Tern</tr><tr><th>Owner<td>Ida</tr><tr><th>Port<td>Weir</tr>",
            ["Tern", "", "|  |  |"],
        ),
        (
            "<thead><tr><th>Place<th>Cod<th>Eel</tr></thead>"
            "<tfoot><tr><th>Sum<th>789<th>17</tr></tfoot>" + CATCH,
            ["| Place | Cod | Eel |"],
        ),
        (
            "<tr><th>Year<th>Place<th>Cod</tr><tr><th rowspan=2>1987</tr><tr><td>Quay<td>412</tr>",
            ["| Year | Place | Cod |"],
        ),
    ],
    ids=["part", "bold", "texts", "title", "title of names", "foot", "group of rows"],
)  # fmt: skip
def test_a_table_has_one_row_of_headings_below_its_title(rows: str, lines: list[str]) -> None:
    text = text_of(f"<p>Of the year.</p><table>{rows}</table>").split("\n")
    assert text[2 : 2 + len(lines)] == lines
    assert text[2 + len(lines)].startswith("| ---")


def test_a_table_used_for_layout_is_dissolved() -> None:
    text = text_of(
        f"<table><tr><td><p>menu</p></td><td><h1>Boats</h1><p>{ARTICLE}</p></td></tr></table>"
    )
    assert text == f"menu\n\n# Boats\n\n{ARTICLE}"


@pytest.mark.parametrize("span", ["100000000", "0", "-3", "two", "", "٣"])
def test_a_strange_span_does_no_harm(span: str) -> None:
    text = text_of(
        f"<table><tr><td colspan='{span}'>a</td><td>b</td></tr><tr><td>c<td>d</tr></table>"
    )
    assert "| c | d |" in text
    assert len(text) < 2_000
