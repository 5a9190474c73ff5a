"""Whose question it is: routes of questions put to personas without a model.

    python benchmarks/routing.py

Twelve articles of XQuAD (English) become twelve personas, each with three of the article's five
paragraphs and no profile. Each is asked questions about the paragraphs they have (to be answered),
about the other two (not for them to answer, but of their field: insufficient), and about other
articles (out of scope). The thresholds of ``answering/route.py`` were chosen on the other
thirty-six articles, see ``--choose``.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence

from chapterhouse.library import Library
from chapterhouse.text.naming import slug
from judged_sets import CorpusDocument, Dataset, load_dataset
from measuring import Machine, Row, Table, data_folder, finish

ARTICLES = 12
KEPT = 3  # paragraphs of each article
ASKED = 12  # questions of each kind to each persona
SEED = 4
KINDS = ("kept paragraph", "left-out paragraph", "other article")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true", help="measure the other articles")
    choosing = parser.parse_args().choose
    machine = Machine()
    dataset = load_dataset(data_folder() / "retrieval" / "xquad-en")
    articles: dict[str, list[CorpusDocument]] = {}
    for document in dataset.documents:
        articles.setdefault(document.title, []).append(document)
    names = sorted(articles)
    random.Random(SEED).shuffle(names)
    chosen = names[ARTICLES:] if choosing else names[:ARTICLES]
    counts = ask_all({name: articles[name] for name in chosen}, dataset)
    rows: tuple[Row, ...] = tuple(
        (kind, sum(counts[kind].values()), *(share(counts[kind], route) for route in ROUTES))
        for kind in KINDS
    )
    if choosing:
        print(*rows, sep="\n")
        return
    table = Table("Routes", ("question about", "questions", *ROUTES), rows)
    finish("routing", "Whose question it is", [], [table], machine.setting())


ROUTES = ("answered", "insufficient", "out-of-scope")


def share(counts: Mapping[str, int], route: str) -> str:
    return f"{counts[route] / max(sum(counts.values()), 1):.1%}"


def ask_all(
    articles: Mapping[str, Sequence[CorpusDocument]], dataset: Dataset
) -> Mapping[str, Counter[str]]:
    """Return how often each kind of question took each route."""
    chooser = random.Random(SEED)
    of_document: dict[str, list[str]] = {}
    for identifier, relevant in dataset.relevant.items():
        for document in relevant:
            of_document.setdefault(document, []).append(dataset.questions[identifier])
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    with tempfile.TemporaryDirectory() as home, Library.open(home) as library:
        for name, documents in articles.items():
            make_persona(library, name, documents[:KEPT])
        everyone = sorted({q for ds in articles.values() for d in ds for q in of_document[d.id]})
        for name, documents in articles.items():
            own = {
                KINDS[0]: [q for d in documents[:KEPT] for q in of_document[d.id]],
                KINDS[1]: [q for d in documents[KEPT:] for q in of_document[d.id]],
            }
            mine = frozenset(own[KINDS[0]] + own[KINDS[1]])
            own[KINDS[2]] = [q for q in everyone if q not in mine]
            for kind, questions in own.items():
                for question in chooser.sample(questions, min(ASKED, len(questions))):
                    told = library.answers.ask(question, persona=persona_slug(name), remember=False)
                    counts[kind][told.route.value] += 1
    return counts


def make_persona(library: Library, name: str, documents: Sequence[CorpusDocument]) -> None:
    folder = library.personas.create(persona_slug(name), display_name=name.replace("_", " "))
    for document in documents:
        title = name.replace("_", " ")
        (folder.raw / f"{document.id}.md").write_text(f"# {title}\n\n{document.text}\n", "utf-8")
    library.personas.update(persona_slug(name))


def persona_slug(name: str) -> str:
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in slug(name))
    return "-".join(filter(None, plain.split("-")))


if __name__ == "__main__":
    main()
