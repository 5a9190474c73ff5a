"""What a question says exactly decides: codes, numbers, dates, names of files, the newest."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from chapterhouse.library import Library
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import Answer

FILES: Final = {
    "offers/acme/offer.md": "# Offer\n\nThe price is 18,900 euros.\n",
    "offers/nord/offer.md": "# Offer\n\nThe price is 19,200 euros.\n",
    "offers/zenit/offer.md": "# Offer\n\nThe price is 17,950 euros.\n",
    "Pläne/Bauhof.md": "# Plan\n\nDer Zaun wird im Herbst erneuert.\n",
    "notes/2024-01-05.md": "---\naliases: [Winch day]\n---\nWe repaired the winch with Tor.\n",
    "notes/2024-02-05.md": "We painted the shed.\n",
    "notes/badge.md": "---\ntags: [UI/UX]\naliases: [Willkommensmappe]\n---\nHere is a badge.\n",
    "brief.md": "# Brief\n\nDie Abnahme war am 28. November 2023, die Rechnung kam im März 2024.\n",
    "lettre.md": "# Lettre\n\nLe chantier ouvre le 6 mai 2025.\n",
    "pumps.md": "# Pumps\n\n| Code | Flow |\n|---|---|\n"
    + "".join(f"| P-{n} | {n * 3} litres |\n" for n in range(100, 160)),
    "release.md": "# Release notes\n\n"
    + "".join(f"## Version {a}.{b}\n\nIt has {a * b} fixes.\n\n" for a in (9, 10) for b in (2, 11)),
    "fees/2024.md": "# Minutes of 12 May 2024\n\nThe board set the fee at 45 euros.\n",
    "fees/2026.md": "# Minutes of 10 May 2026\n\nThe board set the fee at 58 euros.\n",
    "fees/2025.md": "# Minutes of 9 May 2025\n\nThe board set the fee at 52 euros.\n",
    "staff.md": "Dr. Jürgen Müller runs the lab. Dvořák keeps the keys. Åsa Öberg audits.\n",
    "tools.md": "# Tools\n\nThe solver is written in C++.\n\nThe viewer is written in C#.\n",
    "people.md": "Mira (mira.holt@lund.example) orders paper. Jon (jon.holt@lund.example) orders"
    " ink.\n",
    "contacts.csv": "Contact,Day\nkasse@havn.example,Monday\nvakt@havn.example,Sunday\n",
    "team.html": "<html><body><p>Redaktion: redaktion@blatt.example, offen bis 17 Uhr.</p>"
    "<p>Anzeigen: anzeigen@blatt.example, offen bis 12 Uhr.</p></body></html>",
    "bureau.txt": "Le guichet (guichet@ville.example) ferme à midi. La mairie"
    " (mairie@ville.example) ferme à 18 heures.\n",
    "lease.md": "# Lease\n\nThe contract says what the tenant owes. The contract ends in May.\n\n"
    "Neither side owes damages for force majeure.\n",
    "net.md": "# Net\n\nThe gateway answers on port 8443. The phone is +47 22 33 44 55.\n",
}  # fmt: skip
# A question, what is shown first, and what is not shown.
ASKED: Final = (
    ("What is the price of acme?", "18,900", ""),
    ("What is the price of Zenit?", "17,950", ""),
    ("Was wird am Bauhof erneuert?", "Zaun", ""),
    ("What happened on January 5th, 2024?", "winch", ""),
    ("notes from February 2024", "shed", "winch"),
    ("Winch day", "repaired", "shed"),
    ("Willkommensmappe", "badge", ""),
    ("Which note is tagged UI/UX?", "badge", ""),
    ("What was on 2023-11-28?", "Abnahme", "chantier"),
    ("What opens on 6 May 2025?", "chantier", "Abnahme"),
    ("Que se passe-t-il le 6 mai 2025 ?", "chantier", ""),
    ("What flow has P-123?", "369 litres", "P-124"),
    ("How many fixes has version 9.11?", "99 fixes", "18 fixes"),
    ("How many fixes has the latest version?", "110 fixes", "99 fixes"),
    ("What is the current fee?", "58 euros", ""),
    ("Who is Juergen Mueller?", "lab", ""),
    ("what does Dvorak keep", "keys", ""),
    ("Who is Asa Oberg?", "audits", ""),
    ("What is written in C++?", "C++", "C#"),
    ("What is written in C#?", "C#", "C++"),
    ('What does the contract say about "force majeure"?', "Neither side", "ends in May"),
    ("What does the contract say about “ends in May”?", "ends in May", "Neither side"),
    ("+4722334455", "22 33 44 55", ""),
    ("What does jon.holt@lund.example order?", "ink", "paper"),
    ("On which day is vakt@havn.example there?", "Sunday", "Monday"),
    ("Bis wann ist anzeigen@blatt.example offen?", "12 Uhr", "17 Uhr"),
    ("À quelle heure ferme mairie@ville.example ?", "18 heures", "midi"),
)
# Of each pair one speaks of what is asked in the words of the question, and is of another.
NAMED: Final = {
    "suppliers/Kestrel/terms.txt": "Orders can be cancelled until three weeks before dispatch.\n",
    "suppliers/Osprey/terms.txt": "The notice period for a cancellation is two days. Cancellation"
    " within the notice period is free.\n",
    "clients/baltica.html": "<html><body><p>Invoices are due after 45 days.</p></body></html>",
    "clients/nordica.html": "<html><body><p>The payment term is 14 days. The term of payment"
    " starts with the invoice.</p></body></html>",
    "Mieter/Sommer/Vertrag.md": "# Vertrag\n\nDas Entgelt macht im Monat 930 Euro aus.\n",
    "Mieter/Winter/Vertrag.md": "# Vertrag\n\nDie Miete beträgt 780 Euro. Die Miete ist im"
    " Voraus zu zahlen.\n",
    "chantiers/garonne.md": "---\naliases: [Pont des Arts]\n---\nLes travaux durent neuf mois.\n",
    "chantiers/loire.md": "La durée du chantier est de six mois. La durée peut changer.\n",
    "cabins/Dovre.csv": "room,beds\nblue,two\n",
    "cabins/Rondane.csv": "sleeping places,how many sleeping places\nthe cabin,eight\n",
    "合同/泽尼特/条款.txt": "设备出现问题时，三年之内可以免费修理。\n",
    "合同/阿克米/条款.txt": "保修期为一年。保修期从交货之日开始。\n",
}
ASKED_BY_NAME: Final = (
    ("What is the notice period for a cancellation at Kestrel?", "three weeks"),
    ("what is the notice period for a cancellation at kestrel", "three weeks"),
    ("What is Baltica's payment term?", "45 days"),
    ("Wie hoch ist die Miete von Sommer?", "930"),
    ("Quelle est la durée du chantier du Pont des Arts ?", "neuf mois"),
    ("How many sleeping places has Dovre?", "two"),
    ("泽尼特的保修期多长？", "三年"),
)


# Long lists: what a row answers by a column that the question names, and what no column says.
LISTS: Final = {
    "stock.csv": "Article,Bin,Min stock,Supplier\n"
    + "".join(f"ART-{n},B{n % 40},{n % 7},Firm {n % 13}\n" for n in range(16_270, 16_370)),
    "boats.csv": "Boat,Price per day,Seats\n"
    + "".join(f"BT-{n},{n} euros,{n % 9}\n" for n in range(20, 90)),
    "lager.csv": "Teil;Lieferant;Prüfung\n"
    + "".join(f"TX-{n};Haus {n % 11};{n % 28 + 1}.3.2025\n" for n in range(405, 525)),
    "pièces.md": "# Pièces\n\n| Référence | Fournisseur | Stock |\n|---|---|---|\n"
    + "".join(f"| PC-{n} | Atelier {n % 9} | {n} |\n" for n in range(930, 1_010)),
}
ASKED_OF_LISTS: Final = (
    ("Who supplies ART-16293?", "Firm 4"),
    ("What is the minimum stock of ART-16350?", "B30"),
    ("In which bin is ART-16287 stored?", "B7"),
    ("What is the price of BT-44?", "44 euros"),
    ("Wer liefert TX-412?", "Haus 5"),
    ("An welchem Tag war die Prüfung von TX-518?", "15.3.2025"),
    ("Qui fournit PC-955 ?", "Atelier 1"),
)
SAID_BY_NO_COLUMN: Final = (
    "Who designed ART-16293?", "When was the stock of ART-16293 sold?", "Who supplies ART-17293?",
    "Which person has BT-44?", "Wer lackiert TX-412?", "Qui a peint PC-955 ?",
)  # fmt: skip


def filled(folder: Path, files: Mapping[str, str]) -> Library:
    for name, text in files.items():
        path = folder / "papers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    library = Library.open(folder / "home")
    library.documents.add(folder / "papers")
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with filled(tmp_path_factory.mktemp("exact"), FILES) as opened:
        yield opened


def first_of(answer: Answer) -> str:
    return answer.sentences[0].text if answer.sentences else ""


def test_what_is_named_exactly_is_shown_first(library: Library) -> None:
    wrong = []
    for asked, first, absent in ASKED:
        answer = library.answers.ask(asked)
        if first not in first_of(answer) or (absent and absent in answer.text):
            wrong.append((asked, answer.text))
    assert wrong == []


def test_a_name_that_only_documents_of_it_have_decides(tmp_path: Path) -> None:
    with filled(tmp_path, NAMED) as library:
        answers = {asked: library.answers.ask(asked) for asked, _ in ASKED_BY_NAME}
        wrong = [
            (asked, answers[asked].text)
            for asked, first in ASKED_BY_NAME
            if first not in first_of(answers[asked])
        ]
        assert wrong == []
        of_both = library.search.hits("How long is the notice period at Kestrel and at Osprey?")
        places = [hit.document.source.split("/")[-2] for hit in of_both.hits[:2]]
        assert sorted(places) == ["Kestrel", "Osprey"]


def test_a_name_may_be_a_date_of_several_words(tmp_path: Path) -> None:
    files = {
        "addendum October 2020.md": "# Addendum October 2020\n\nWe are the processor of data.\n",
        "addendum 2021.md": "# Addendum 2021\n\nWe are the controller of the data.\n",
        "canteen.md": "# Canteen\n\nSoup is served at noon.\n",
    }
    with filled(tmp_path, files) as library:
        asked = "what became of our role between the October 2020 and the 2021 addendum?"
        first, second = library.search.hits(asked).hits[:2]
        assert {first.document.title, second.document.title} == {
            "Addendum October 2020",
            "Addendum 2021",
        }


NOTICES = {"Birch": "four weeks", "Alder": "two months", "Maple": "one year"}
LEASES = {
    f"{name.lower()}.txt": f"Lease with {name}\n\nRent is due in May. The notice is {notice}.\n"
    for name, notice in NOTICES.items()
}


def test_of_several_names_each_document_shows_its_own(tmp_path: Path) -> None:
    with filled(tmp_path, LEASES) as library:
        for asked in (
            "Which notice do the Birch lease and the Alder lease have?",
            "Which notice does the Birch lease have, the Alder lease, the Maple lease?",
        ):
            answer = library.answers.ask(asked)
            shown = [notice for name, notice in NOTICES.items() if name in asked]
            assert all(notice in answer.text for notice in shown)


def test_a_name_of_another_or_of_nothing_has_no_answer(tmp_path: Path) -> None:
    with filled(tmp_path, LEASES) as library:
        for asked in (
            "Which notice does the Birch lease of the Alder lease have?",
            "Which notice do the Birch lease and the Cedar lease have?",
        ):
            assert not library.answers.ask(asked).found


def test_a_name_that_others_speak_of_leaves_the_choice_to_what_fits(tmp_path: Path) -> None:
    files = {
        "Kestrel/terms.txt": "Invoices are due after 45 days.\n",
        "list.txt": "Kestrel has a notice period of three weeks.\n",
    }
    with filled(tmp_path, files) as library:
        assert "three weeks" in first_of(library.answers.ask("What notice period has Kestrel?"))


def test_a_row_of_a_long_list_answers_what_one_of_its_columns_says(tmp_path: Path) -> None:
    with filled(tmp_path, LISTS) as library:
        answers = {asked: library.answers.ask(asked) for asked, _ in ASKED_OF_LISTS}
        wrong = [
            (asked, answers[asked].outcome, answers[asked].text)
            for asked, value in ASKED_OF_LISTS
            if answers[asked].outcome != "answer" or value not in first_of(answers[asked])
        ]
        assert wrong == []
        for asked in SAID_BY_NO_COLUMN:
            assert library.answers.ask(asked).outcome != "answer", asked


NOTES: Final = "pays late " * 20  # a row that is too long to be shown whole
PEOPLE: Final = (
    "Index,First Name,Last Name,Company,City,Country,Email,Notes\n"
    f"1,Ana,Soto,Rasmussen Group,East Leonard,Chile,a@smith.info,{NOTES}\n"
    f"2,Roy,Berry,Murillo-Perry,Isabelborough,Antigua,r@hogan.com,{NOTES}\n"
    f"3,Roy,Olsen,Dominguez,Bensonview,Chile,o@benson.org,{NOTES}\n"
)


def test_of_a_row_its_cells_with_words_of_the_question_are_shown_and_no_row_with_fewer(
    tmp_path: Path,
) -> None:
    with filled(tmp_path, {"people.csv": PEOPLE}) as library:
        told = library.answers.ask("What is the email of Roy Berry?")
        assert told.outcome == "answer"
        assert "First Name: Roy · Last Name: Berry · Email: r@hogan.com" in told.text
        assert "Olsen" not in told.text
        told = library.answers.ask("Which company is in Chile?")
        assert told.outcome == "answer"
        assert "Rasmussen Group" in told.text
        assert "Company: Dominguez · Country: Chile" in told.text
        assert "Murillo" not in told.text
        assert library.answers.ask("What is the salary of Roy Berry?").outcome != "answer"


def test_what_is_named_and_nowhere_is_no_answer(library: Library) -> None:
    for asked in ("What flow has P-500?", "How many fixes has version 9.12?", "port 8444"):
        assert library.answers.ask(asked).outcome != "answer", asked


def test_documents_of_one_title_are_told_apart(library: Library, tmp_path: Path) -> None:
    shown = answer_markdown(library.answers.ask("What is the price in the offer?"))
    for folder in ("acme", "nord", "zenit"):
        assert f"({folder}/offer.md)" in shown


def test_a_file_that_is_moved_goes_by_its_new_folder(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "a.md").write_text("# Offer\n\nThe price is seven crowns.\n")
    with Library.open(tmp_path / "home") as library:
        library.sources.add(str(folder))
        library.sources.sync()
        assert library.search.hits("old").hits
        (folder / "old").rename(folder / "zenit")
        library.sources.sync()
        assert library.search.hits("zenit").hits
        assert not library.search.hits("old").hits
        assert not library.faults()


def test_of_two_versions_that_fit_alike_the_newer_is_first(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        for year, number in ((2023, 90), (2025, 120), (2024, 100)):
            path = tmp_path / f"rules-{year}.md"
            path.write_text(f"# Rules\n\nThe ferry carries {number} guests, or fewer at night.\n")
            library.documents.add(path)
        hits = library.search.hits("How many guests does the ferry carry?").hits
        assert [hit.document.source[-7:-3] for hit in hits] == ["2025", "2024", "2023"]
        (hit, *_) = library.search.hits("rules 2023: How many guests?").hits
        assert "90" in hit.chunk.text


AGREEMENT: Final = {
    "arden.txt": "Non-disclosure agreement with Arden\n\nArden keeps secret what it learns of the"
    " slipway. This agreement is governed by the laws of Queensland.\n"
}


def test_a_word_that_is_nowhere_is_no_gap_where_its_meaning_is_there(tmp_path: Path) -> None:
    with filled(tmp_path, AGREEMENT) as library:
        answer = library.answers.ask("Which law covers the Arden agreement?")
        assert answer.outcome == "answer"
        assert "Queensland" in answer.text
        asked = "Which bank holds the deposit of the Arden agreement?"
        assert library.answers.ask(asked).outcome != "answer"
