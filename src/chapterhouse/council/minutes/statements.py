"""What was said in a meeting, by round and member."""

from chapterhouse.council.minutes import wording
from chapterhouse.council.minutes.reader import Reader
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Line,
    Paragraph,
    Part,
    Style,
    Words,
    plain,
)
from chapterhouse.presenting.wording import method, used
from chapterhouse.text.counting import counted
from chapterhouse.types import Claim, Concession, Reply, Statement


def rounds(reader: Reader) -> tuple[Part, ...]:
    """Return a part for each round, with a part for each who spoke."""
    said = enumerate(reader.minutes.statements, start=1)
    numbered = [(number, statement) for number, statement in said]
    names = dict.fromkeys((*reader.minutes.rounds, *(s.round for _, s in numbered)))
    parts = []
    for place, name in enumerate(names, start=1):
        spoken = tuple(_statement(reader, s, n) for n, s in numbered if s.round == name)
        if spoken:
            key = f"{reader.place}round-{place}"
            parts.append(Part(key, f"Round {place}: {wording.round_title(name)}", (), spoken))
    return tuple(parts)


def _statement(reader: Reader, said: Statement, number: int) -> Part:
    blocks: list[Block] = []
    if said.position:
        blocks.append(Paragraph(plain(said.position)))
    if said.option:
        chosen = (Words("Would choose: ", Style.QUIET), Words(said.option, Style.STRONG))
        blocks.append(Paragraph(chosen))
    lines = [
        *(_claim(reader, claim) for claim in said.claims),
        *(_reply(reader, reply) for reply in said.replies),
        *(concession_line(reader, given) for given in said.concessions),
        *((Words("Lacks: ", Style.QUIET), Words(text)) for text in said.missing),
        *((Words("Asks: ", Style.QUIET), Words(text)) for text in said.open_questions),
    ]
    blocks += [Bullets(tuple(lines))] if lines else []
    blocks.append(Paragraph((Words(_how(said), Style.QUIET),)))
    return Part(f"{reader.place}statement-{number}", reader.title(said.member), tuple(blocks))


def _claim(reader: Reader, claim: Claim) -> Line:
    said = reader.carried(claim.text, claim.support, claim.problems, claim.citations)
    return (reader.claim(claim.id, stated=True), Words(" "), *said)


def _reply(reader: Reader, reply: Reply) -> Line:
    said = reader.carried(reply.text, reply.support, reply.problems, reply.citations)
    against = f": {reply.values[0]} against {reply.values[1]}" if any(reply.values) else ""
    details = (Words(f" ({reply.by.value}{against})", Style.QUIET),) if reply.by else ()
    stance = Words(f"{wording.STANCES[reply.stance]} ", Style.STRONG)
    between: Line = (Words(": "),) if reply.text else ()
    return (stance, reader.claim(reply.claim), *details, *between, *said)


def _how(said: Statement) -> str:
    """Return how a statement came about."""
    told = [method(said.method)]
    if said.tool_calls:
        names = ", ".join(dict.fromkeys(call.name for call in said.tool_calls))
        told.append(f"{counted(len(said.tool_calls), 'tool call')} ({names})")
    if said.rejected:
        told.append(f"left out, for it cites nothing that was given: {', '.join(said.rejected)}")
    if said.usage:
        told.append(used(said.usage))
    line = "; ".join(told)
    return f"{line[:1].upper()}{line[1:]}."


def concession_line(reader: Reader, given: Concession) -> Line:
    """Return who gives what up for what, and whether it counts."""
    to: Line = (Words(" for "), reader.claim(given.to)) if given.to else ()
    verdict = "accepted" if given.accepted else "not accepted"
    style = Style.STRONG if given.accepted else Style.WARNING
    said: Line = (Words(": "), Words(given.text)) if given.text else ()
    reason = (Words(f" ({given.reason})", Style.QUIET),) if given.reason else ()
    return (
        Words(f"{reader.title(given.member)} ", Style.STRONG),
        Words("gives up "),
        reader.claim(given.claim),
        *to,
        *said,
        *reader.cited(given.citations),
        Words(" — "),
        Words(verdict, style),
        *reason,
    )
