"""Words that a line's end parts: whether the hyphen there is the word's own."""

import pytest

from chapterhouse.text.hyphens import join_lines, join_torn, words_of


@pytest.mark.parametrize(
    ("before", "behind", "text", "wanted"),
    [
        ("the inter-", "national board", "", "the international board"),
        ("a new break-", "water.", "", "a new breakwater."),
        ("The well-", "known engineer", "", "The well-known engineer"),
        ("his well-", "ness and", "", "his wellness and"),
        ("all high-", "ways here", "", "all highways here"),
        ("a long-", "term plan", "", "a long-term plan"),
        ("they co-", "operate", "We co-operate here.", "they co-operate"),
        ("they co-", "operate", "We cooperate or co-operate.", "they cooperate"),
        ("the state-of-the-", "art winch", "", "the state-of-the-art winch"),
        ("all up-", "to-date lists", "", "all up-to-date lists"),
        ("a well-estab-", "lished firm", "", "a well-established firm"),
        ("by e-", "mail", "", "by e-mail"),
        ("model B-", "235 is", "", "model B-235 is"),
        ("the COVID-", "19 rules", "", "the COVID-19 rules"),
        ("die Zeppelin-", "Werke in", "", "die Zeppelin-Werke in"),
        ("aus Friedrichs-", "hafen.", "", "aus Friedrichshafen."),
        ("eine US-", "amerikanische Firma", "", "eine US-amerikanische Firma"),
        ("alle Vor-", "und Nachteile", "", "alle Vor- und Nachteile"),
        ("die Hafen-", "oder Seefahrt", "", "die Hafen- oder Seefahrt"),
        ("inter-", "and intranational", "", "inter- and intranational"),
        ("le soir-", "même", "", "le soir-même"),
        ("une infor-", "mation", "", "une information"),
        ("peut-", "être demain", "", "peut-être demain"),
        ("la informa-", "ción", "", "la información"),
        ("междуна-", "родный", "", "международный"),
        ("KOM-", "MISSION", "Die KOMMISSION tagt.", "KOMMISSION"),
        ("so\u00ad", "weit", "", "soweit"),
        ("well\u00ad", "ness", "", "wellness"),
    ],
)
def test_a_hyphen_stays_where_it_is_the_words_own(
    before: str, behind: str, text: str, wanted: str
) -> None:
    assert join_torn(before, behind, words_of(f"{text}\n{before}\n{behind}")) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The inter-\nnational board.\nNext.", "The international\nboard.\nNext."),
        ("Werke in Friedrichs-\nhafen.\n", "Werke in Friedrichshafen.\n"),
        ("a manu-\nfacturer Zeppelin-\nWerke in", "a manufacturer\nZeppelin-Werke\nin"),
        ("  die Gemein-\n  schaft hat", "  die Gemeinschaft\n  hat"),
        ("Vor-\nund Nachteile", "Vor-\nund Nachteile"),
        ("a list:\n- one\n- two-\n\n- three", "a list:\n- one\n- two-\n\n- three"),
        ("| inter-\nnational |", "| inter-\nnational |"),
        ("port -\nstarboard", "port -\nstarboard"),
        ("x = a-\nb", "x = a-\nb"),
        ("Harbour     inter-\nnational", "Harbour     inter-\nnational"),
        ("see https://a.example/crew-\nlists now", "see https://a.example/crew-\nlists now"),
        ("nothing torn\nhere", "nothing torn\nhere"),
    ],
)  # fmt: skip
def test_the_rest_of_a_word_moves_up_in_a_plain_text(text: str, wanted: str) -> None:
    assert join_lines(text) == wanted
