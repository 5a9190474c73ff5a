"""A meeting by hand: documents, claims on spans of them, replies, and the map that comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chapterhouse.council.disagreement.map import Facts, disagreement_map
from chapterhouse.council.disagreement.rows import CitedClaim, cite_claim, round_numbers
from chapterhouse.council.disagreement.sources import Known
from chapterhouse.types import (
    Citation,
    Claim,
    Concession,
    DisagreementMap,
    Evidence,
    MapRow,
    Reply,
    Stance,
    Statement,
    Support,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "varnholm-ferry"
DEPARTMENTS = {
    "operations": "departments/operations/position-late-sailing.md",
    "safety": "departments/safety/position-late-sailing.md",
    "finance": "departments/finance/position-late-sailing.md",
    "demand-study-2025": "departments/shared/demand-study-2025.txt",
    "policy-2023": "policies/severe-weather-policy-2023.md",
    "policy-2025": "policies/severe-weather-policy-2025.md",
}


@dataclass
class Meeting:
    """Documents by id, and what is said; citations and claims are numbered as they come."""

    texts: Mapping[str, str]
    known: Mapping[str, Known]
    members: tuple[str, ...]
    statements: list[Statement] = field(default_factory=list)
    citations: dict[int, Citation] = field(default_factory=dict)
    claims: int = 0

    def cite(self, document: str, quote: str) -> int:
        """Return the number of a new citation of a quotation."""
        start = self.texts[document].index(quote)
        number = len(self.citations) + 1
        self.citations[number] = Citation(
            number=number,
            document_id=document,
            title=self.known[document].title,
            source=self.known[document].source,
            section_path=(),
            page=None,
            page_kind="",
            page_label="",
            start=start,
            end=start + len(quote),
            quote=quote,
            text_sha256="",
        )
        return number

    def claim(
        self,
        member: str,
        document: str,
        quote: str,
        *,
        text: str = "",
        during: str = "first",
        support: Support = Support.QUOTED,
    ) -> str:
        """Let a member state something, and return the claim's id; no document, no citation."""
        numbers = (self.cite(document, quote),) if document else ()
        self.claims += 1
        claim = Claim(f"c{self.claims}", member, during, text or quote, numbers, support)
        self.statements.append(Statement(member, during, claims=(claim,)))
        return claim.id

    def reply(
        self,
        member: str,
        claim: str,
        stance: Stance,
        document: str,
        quote: str,
        *,
        during: str = "second",
    ) -> None:
        """Let a member reply on a claim with a quotation."""
        reply = Reply(member, during, claim, stance, quote, (self.cite(document, quote),))
        self.statements.append(Statement(member, during, replies=(reply,)))

    def concede(
        self, member: str, claim: str, to: str, *, accepted: bool, during: str = "third"
    ) -> None:
        """Let a member give up a claim."""
        given = Concession(member, during, claim, to, "I give way.", (), accepted)
        self.statements.append(Statement(member, during, concessions=(given,)))

    def map(self, members: Sequence[str] = ()) -> DisagreementMap:
        """Return the map of what was said."""
        facts = Facts(self.evidence(), self.known, self.texts.__getitem__)
        return disagreement_map(members or self.members, self.statements, self.citations, facts)

    def evidence(self) -> dict[int, Evidence]:
        """Return what each citation quotes, by its number."""
        return {
            number: Evidence(
                document_id=citation.document_id,
                start=citation.start,
                end=citation.end,
                text=citation.quote,
                language=self.known[citation.document_id].language,
                title=citation.title,
                date=self.known[citation.document_id].date,
            )
            for number, citation in self.citations.items()
        }

    def cited(self) -> list[CitedClaim]:
        """Return the claims in their order, each with what carries it."""
        numbers = round_numbers(self.statements)
        return [
            cite_claim(claim, numbers[said.round], self.evidence(), self.texts.__getitem__)
            for said in self.statements
            for claim in said.claims
        ]


def meeting(texts: Mapping[str, str], members: Sequence[str], **dates: str) -> Meeting:
    """Return a meeting over documents of one subject; dates by id with "_" for "-"."""
    known = {
        name: Known(
            id=name,
            title=f"Harbour {name}",
            source=f"files/{name}.txt",
            text_sha256=f"hash of {text}",
            date=dates.get(name.replace("-", "_"), ""),
            language="en",
        )
        for name, text in texts.items()
    }
    return Meeting(texts, known, tuple(members))


def departments() -> Meeting:
    """Return a meeting of the example's three departments, with nothing said."""
    texts = {
        name: (EXAMPLE / path).read_text(encoding="utf-8") for name, path in DEPARTMENTS.items()
    }
    made = meeting(texts, ("operations", "safety", "finance"))
    titles = {
        name: text.splitlines()[0].lstrip("# ")
        for name, text in texts.items()
        if text.startswith("#")
    }
    made.known = {
        name: replace(
            known,
            title=titles.get(name, name.replace("-", " ")),
            source=f"varnholm-ferry/{DEPARTMENTS[name]}",
            date=name[-4:] if name.startswith("policy") else "",
        )
        for name, known in made.known.items()
    }
    return made


def row_of(found: DisagreementMap, claim: str) -> MapRow:
    """Return the row in which a claim stands."""
    (row,) = [row for row in found.rows if claim in row.claims]
    return row


def stances(row: MapRow) -> dict[str, str]:
    """Return how each member stands to a row."""
    return {cell.member: cell.stance.value for cell in row.cells}
