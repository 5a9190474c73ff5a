"""Questions made from documents without a model."""

from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.collection import fixture_file, question_task
from chapterhouse.evaluation.comparing import evaluate
from chapterhouse.evaluation.datasets import Question, question_line, read_questions
from chapterhouse.evaluation.measuring import holds
from chapterhouse.evaluation.synthetic import own_questions, synthetic_questions


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = Path(__file__).parents[2] / "examples" / "varnholm-ferry"
    library = Library.open(tmp_path_factory.mktemp("ferry"))
    library.documents.add(folder)
    library.close()
    return library


def of_kind(questions: tuple[Question, ...], kind: str) -> list[Question]:
    return [question for question in questions if question.note == kind]


def test_questions_of_all_kinds_are_made(library: Library) -> None:
    questions = synthetic_questions(library)
    texts = {question.text: question for question in questions}
    definition = texts["What is a slipway?"]
    assert definition.required == ("papers/glossary.md",)
    assert definition.answers == ("A slipway is a ramp on which boats are moved to the water.",)
    heading = texts["Reduced harbour dues"]
    assert heading.answers == ("Members of the sailing club pay half of the harbour dues.",)
    clozes = of_kind(questions, "cloze")
    assert "The gauge at the Kessel quay shows the water above chart datum in … ." not in texts
    assert any("…" in question.text and "harbour dues" in question.text for question in clozes)
    for question in clozes:
        before, after = question.text.split("…")
        (sentence,) = question.answers
        plain = sentence.replace("**", "")
        assert plain.startswith(before)
        assert plain.endswith(after)
        assert len(before + after) < len(plain)


def test_the_expected_text_stands_in_the_required_document(ferry: Library) -> None:
    with Library.open(ferry.home) as opened:
        for question in synthetic_questions(opened, 60):
            (source,) = question.required
            text = opened.documents.body(opened.documents.get(source).id).text
            for answer in question.answers:
                assert answer in text


def test_the_same_library_gives_the_same_questions_spread_over_its_documents(
    ferry: Library,
) -> None:
    with Library.open(ferry.home) as one, Library.open(ferry.home) as two:
        questions = synthetic_questions(one, 44)
        assert questions == synthetic_questions(two, 44)
        counts = [question.required for question in questions]
        documents = set(counts)
        assert len(documents) >= 18
        assert max(counts.count(entry) for entry in documents) <= 3
    assert len({question.id for question in questions}) == len(questions) == 44
    assert len({question.note for question in questions}) == 3


def test_they_can_be_written_read_and_evaluated(library: Library, tmp_path: Path) -> None:
    questions = synthetic_questions(library)
    path = tmp_path / "q.jsonl"
    path.write_text("".join(f"{question_line(entry)}\n" for entry in questions), "utf-8")
    found = evaluate(question_task(read_questions(path), library, "q.jsonl"))
    assert found.measures["required@10"].mean == 1.0
    assert found.measures["passage@10"].mean == 1.0


def test_a_file_of_questions_comes_before_made_ones(library: Library) -> None:
    made = own_questions(library, 3)
    assert (made.kind, made.questions) == ("synthetic", synthetic_questions(library, 3))
    fixture_file(library).write_text("".join(f"{question_line(one)}\n" for one in made.questions))
    own = own_questions(library, 1)
    assert own.kind == "questions"
    assert [one.id for one in own.questions] == [one.id for one in made.questions]


def test_shelves_restrict_them(library: Library, tmp_path: Path) -> None:
    (tmp_path / "menu.md").write_text(
        "# Menu\n\nA pancake is a flat cake that is fried in a pan.\n"
    )
    library.documents.add(tmp_path / "menu.md", shelf="kitchen")
    questions = synthetic_questions(library, shelves=["kitchen"])
    assert {
        source.rpartition("/")[2] for question in questions for source in question.required
    } == {"menu.md"}
    assert all(question.shelves == ("kitchen",) for question in questions)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ein Kranbalken ist ein Holz am Bug, an dem der Anker hängt.", "Was ist ein Kranbalken?"),
        ("Le bossoir est une pièce de bois à laquelle l'ancre pend.", "Qu'est-ce que bossoir ?"),
        ("La serviola es una pieza de madera de la que cuelga el ancla.", "¿Qué es la serviola?"),
    ],
)
def test_definitions_are_asked_for_in_their_language(
    tmp_path: Path, text: str, question: str
) -> None:
    (tmp_path / "a.txt").write_text(f"{text}\n", "utf-8")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "a.txt")
        assert question in {entry.text for entry in synthetic_questions(library)}


def test_scripts_without_spaces_lose_a_pair_of_characters(tmp_path: Path) -> None:
    sentence = (
        "港口办公室每天早上九点开门，"
        "星期日全天关闭，客人停泊费用为每米八十欧元，会员只需支付一半的费用。"
    )
    (tmp_path / "a.txt").write_text(sentence + "\n", "utf-8")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "a.txt")
        (question,) = synthetic_questions(library)
    assert len(question.text) == len(sentence) - 1
    assert holds(sentence, question.answers)


@pytest.mark.parametrize("text", ["x", "- a list item that is long enough to be a sentence.", "1"])
def test_documents_without_sentences_are_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_text(text, "utf-8")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "a.md")
        with pytest.raises(UsageError, match="No question could be made from 1 document"):
            synthetic_questions(library)


def test_a_shelf_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with (
        Library.open(tmp_path / "home") as library,
        pytest.raises(NotFoundError, match="no shelf 'attic'"),
    ):
        synthetic_questions(library, shelves=("attic",))


def test_what_stands_in_several_documents_is_not_asked(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.md").write_text(
            f"# Terms of carriage\n\nA ferry is a boat that carries people over the water.\n\n"
            f"# Only in {name}nna\n\nThe {name}nna boat sails from the northern quay at noon.\n",
            "utf-8",
        )
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "a.md", tmp_path / "b.md")
        texts = {question.text for question in synthetic_questions(library)}
    assert "Terms of carriage" not in texts
    assert "What is a ferry?" not in texts
    assert texts
