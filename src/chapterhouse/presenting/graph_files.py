"""The graph as files that other programs read: GraphML, JSON-LD, Cypher.

Each link has its sentence and where that stands.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from chapterhouse.errors import UsageError
from chapterhouse.types.graph import Entity, RelatedEntity, RelationType

Links = Sequence[tuple[Entity, RelatedEntity]]
Writer = Callable[[Sequence[Entity], Links], str]

_MARKS: Final = (b"<graphml", b'"https://schema.org"', b"MERGE (:Entity ")
_TYPES: Final = {
    "person": "Person", "organization": "Organization", "location": "Place",
    "product": "Product", "technology": "SoftwareApplication", "concept": "DefinedTerm",
}  # fmt: skip
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NODE: Final = ("name", "kind", "documents", "sentences")
_NUMBERS: Final = {"significance": "double"} | dict.fromkeys(
    ("documents", "sentences", "together", "start", "end"), "int"
)
_EDGE: Final = ("relation", "together", "significance", "document", "start", "end", "evidence")


def writer(form: str) -> Writer:
    """Return what writes a form of file; a UsageError for an unknown one."""
    known: dict[str, Writer] = {"graphml": graphml, "jsonld": json_ld, "cypher": cypher}
    if form not in known:
        raise UsageError(
            f"A graph is not written as .{form}.",
            hint=f"Name a file that ends with .{', .'.join(known)}.",
        )
    return known[form]


def is_ours(data: bytes) -> bool:
    """Whether a file is one that was written here."""
    return any(mark in data[:1_000] for mark in _MARKS)


def graphml(entities: Sequence[Entity], links: Links) -> str:
    """Return GraphML, as Gephi, yEd and networkx read it."""
    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, names in (("node", _NODE), ("edge", _EDGE)):
        for name in names:
            type_ = {"attr.name": name, "attr.type": _NUMBERS.get(name, "string")}
            ET.SubElement(root, "key", {"id": f"{kind}-{name}", "for": kind, **type_})
    graph = ET.SubElement(root, "graph", edgedefault="directed")
    for one in entities:
        _fill(ET.SubElement(graph, "node", id=_clean(one.id)), _facts(one))
    for one, other in links:
        ends = {"source": _clean(one.id), "target": _clean(other.entity.id)}
        directed = {} if _is_typed(other) else {"directed": "false"}
        _fill(ET.SubElement(graph, "edge", ends | directed), _evidence(other))
    ET.indent(root, "")
    text: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return text.decode() + "\n"


def json_ld(entities: Sequence[Entity], links: Links) -> str:
    """Return JSON-LD in the terms of schema.org; links as ``relatedTo``, ``isPartOf`` and so on."""
    found: dict[str, dict[str, list[dict[str, object]]]] = {}
    for one, other in links:
        value = {"entity": {"@id": _address(other.entity)}, **_evidence(other)}
        found.setdefault(one.id, {}).setdefault(_camel(other.relation), []).append(value)
    graph = [
        {
            "@id": _address(one),
            "@type": _TYPES[one.kind.value],
            "name": one.name,
            "alternateName": list(one.names[1:]),
            **found.get(one.id, {}),
        }
        for one in entities
    ]
    context = {"@vocab": "https://schema.org/"}
    return (
        json.dumps(
            {"@context": ["https://schema.org", context], "@graph": graph},
            ensure_ascii=False,
            indent=1,
        )
        + "\n"
    )


def cypher(entities: Sequence[Entity], links: Links) -> str:
    """Return statements that make the graph in Neo4j, Memgraph or Kùzu."""
    lines = [f"MERGE (:Entity {_map({'id': one.id, **_facts(one)})});" for one in entities]
    for one, other in links:
        ends = f"(a:Entity {_map({'id': one.id})}), (b:Entity {_map({'id': other.entity.id})})"
        type_ = other.relation.upper()
        lines.append(f"MATCH {ends} MERGE (a)-[:{type_} {_map(_evidence(other))}]->(b);")
    return "\n".join((*lines, ""))


def _facts(one: Entity) -> dict[str, object]:
    values = (one.name, one.kind.value, one.documents, one.sentences)
    return dict(zip(_NODE, values, strict=True))


def _evidence(one: RelatedEntity) -> dict[str, object]:
    place = one.evidence
    counts = (one.relation.value, one.together, one.significance)
    values = (*counts, place.document_id, place.start, place.end, place.text)
    return dict(zip(_EDGE, values, strict=True))


def _is_typed(one: RelatedEntity) -> bool:
    return one.relation is not RelationType.RELATED_TO


def _camel(relation: RelationType) -> str:
    first, *others = relation.value.split("_")
    return first + "".join(map(str.capitalize, others))


def _fill(element: ET.Element, values: dict[str, object]) -> None:
    for name, value in values.items():
        data = ET.SubElement(element, "data", key=f"{element.tag}-{name}")
        data.text = _clean(str(value))


def _clean(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)


def _address(one: Entity) -> str:
    return f"urn:chapterhouse:entity:{one.id.replace(' ', '_')}"


def _map(values: dict[str, object]) -> str:
    # A string of JSON is one of Cypher: both escape with a backslash.
    pairs = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return f"{{{', '.join(pairs)}}}"
