"""What spans are told of the values that come out of them."""

from chapterhouse.telemetry import operations
from chapterhouse.telemetry.spans import Recorder
from chapterhouse.types import Answer, Minutes, SearchResult, Statement, Writing


def tell_hits(recorder: Recorder, found: SearchResult) -> None:
    """Tell how much was found, and as content what: ids and titles, no text."""
    if not recorder.listening:
        return
    recorder.set(operations.HITS, len(found.hits))
    recorder.set(operations.SEARCHED_DOCUMENTS, found.documents)
    recorder.set(operations.SEARCHED_CHUNKS, found.chunks)
    recorder.tell(
        operations.DOCUMENTS,
        [
            {"id": hit.chunk.id, "score": hit.score, "title": hit.document.title}
            for hit in found.hits
        ],
    )


def tell_writing(recorder: Recorder, writing: Writing) -> None:
    """Tell what a piece of writing used, and as content its text."""
    used = writing.usage
    recorder.set(operations.REQUESTS, used.calls)
    recorder.set(operations.INPUT_TOKENS, used.prompt_tokens)
    recorder.set(operations.OUTPUT_TOKENS, used.completion_tokens)
    if used.cost is not None:
        recorder.set(operations.COST, float(used.cost))
    recorder.set(operations.FINISH_REASONS, ("length" if writing.cut else "stop",))
    recorder.set(operations.TOOL_CALLS, len(writing.tool_calls))
    recorder.tell(operations.OUTPUT, writing.text)


def tell_answer(recorder: Recorder, given: Answer) -> None:
    """Tell what became of a question, and as content the answer."""
    if not recorder.listening:
        return
    recorder.set(operations.ANSWER_FOUND, given.found)
    recorder.set(operations.ANSWER_ROUTE, given.route.value)
    recorder.set(operations.ANSWER_KEPT, given.kept)
    recorder.set(operations.CITATIONS, len(given.citations))
    recorder.tell(operations.OUTPUT, given.text)


def tell_statement(recorder: Recorder, said: Statement) -> None:
    """Tell how much a member said, and as content what."""
    if not recorder.listening:
        return
    recorder.set(operations.METHOD, said.method)
    recorder.set(operations.CLAIMS, len(said.claims))
    recorder.set(operations.REPLIES, len(said.replies))
    recorder.set(operations.CONCESSIONS, len(said.concessions))
    recorder.set(operations.CITATIONS, len(said.citations))
    claims = [claim.text for claim in said.claims]
    replies = [f"{reply.claim}: {reply.stance.value}. {reply.text}" for reply in said.replies]
    gone = [f"{given.claim} given up. {given.text}" for given in said.concessions]
    lines = filter(None, (said.position, *claims, *replies, *gone))
    recorder.tell(operations.OUTPUT, "\n".join(lines))


def tell_minutes(recorder: Recorder, minutes: Minutes) -> None:
    """Tell what came of a meeting in numbers, and as content its decision."""
    if not recorder.listening:
        return
    recorder.set(operations.METHOD, minutes.method)
    recorder.set(operations.CLAIMS, len(minutes.claims))
    recorder.set(operations.DISPUTES, len(minutes.map.disputes))
    recorder.set(operations.ABSENCES, len(minutes.absences))
    recorder.set(operations.CITATIONS, len(minutes.citations))
    recorder.tell(operations.OUTPUT, "\n".join(point.text for point in minutes.decision))
