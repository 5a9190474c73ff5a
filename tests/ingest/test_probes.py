"""What a removed document is known by is of it, and little where there are many."""

from typing import Any

from chapterhouse.ingest.probes import choose_probes, merged
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Probes, Scope

EVERYTHING = Scope.everything()


def _documents(home: Any, number: int) -> list[Any]:
    for one in range(number):
        text = f"Harbourmaster number {one} lets every berth for a whole season. " * 40
        home.write(f"papers-{one}.md", text)
    home.add()
    return list(home.store.documents(EVERYTHING))


def test_probes_are_of_the_document(home: Any) -> None:
    (document,) = _documents(home, 1)
    probes = choose_probes([document], home.store)
    chunks = home.store.chunks_of(document.id, EVERYTHING)
    assert probes.keys == {chunk.key: document.id for chunk in chunks}
    assert probes.sources == {document.id: document.source}
    terms = analyse(chunks[0].text, document.language)
    assert set(probes.terms) <= set(terms)
    for phrase in probes.phrases:
        texts = [analyse(chunk.text, document.language) for chunk in chunks]
        assert any(list(phrase) == t[at : at + 6] for t in texts for at in range(len(t)))
    assert "harbourmaster" in probes.words
    assert probes.vectors["hash:8"].shape[1] == 8
    assert any(b"Harbourmaster number 0" in piece for some in probes.pieces for piece in some)


def test_many_documents_give_few_each(home: Any, monkeypatch: Any) -> None:
    documents = _documents(home, 4)
    monkeypatch.setattr("chapterhouse.ingest.probes._MOST", 4)
    probes = choose_probes(documents, home.store)
    assert len(probes.vectors["hash:8"]) == 4
    assert len(probes.words) <= 4
    assert len(probes.sources) == 4


def test_of_nothing_there_are_none(home: Any) -> None:
    assert choose_probes([], home.store).sources == {}
    assert merged([Probes(), Probes()]).pieces == ()
