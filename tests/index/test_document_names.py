from chapterhouse.index.document_names import names_in
from chapterhouse.types import Document, Status

TEXT = "The Harbour Safety Board (HSB) met. The HSB closed the gate."


def _document() -> Document:
    return Document(
        id="a", source="docs/log.md", location="/docs/log.md", title="Harbour log", format="md",
        method="test", sha256="", text_sha256="", size=0, modified=0, status=Status.READY,
        shelves=("crew", "library"),
    )  # fmt: skip


def test_a_document_gives_both_directions_of_a_name_and_its_words_on_every_shelf() -> None:
    names = names_in(_document(), TEXT)
    pairs = {(name, other) for _, _, name, other, _ in names.aliases}
    assert ("HSB", "Harbour Safety Board") in pairs
    assert ("Harbour Safety Board", "HSB") in pairs
    assert all(document == "a" for _, document in names.titled)
    assert {shelf for shelf, _ in names.words} == {"crew", "library"}
