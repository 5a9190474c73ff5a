"""Spans by what is done in them, with the names of OpenTelemetry's GenAI conventions.

https://github.com/open-telemetry/semantic-conventions-genai. What they have no name for is called
``chapterhouse.*``. And what a span records of the value that comes out of it.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

from chapterhouse.telemetry.spans import OPERATION, AttributeValue, Recorder, span
from chapterhouse.types import Answer, MemberTurn, Minutes, SearchResult, Writing

TOOL_TYPE: Final = "gen_ai.tool.type"
DOCUMENTS: Final = "gen_ai.retrieval.documents"
INPUT: Final = "gen_ai.input.messages"
INSTRUCTIONS: Final = "gen_ai.system_instructions"
OUTPUT: Final = "gen_ai.output.messages"
QUERY: Final = "gen_ai.retrieval.query.text"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
# Events of a tool's execution; the third is ``exception``.
START: Final = "start"
STOP: Final = "stop"

UNKNOWN_TOOL: Final = "unknown"  # a model made its name up, of whatever it had read

_PROVIDERS: Final = {
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
}  # others are called as our engines are
_LONGEST: Final = 100  # characters of a name

Spanned = AbstractContextManager[Recorder, bool | None]


def retrieval_span(query: str, shelves: Sequence[str], top_k: int) -> Spanned:
    """Open the span of a search: on some shelves, or on all where none is named."""
    source = ",".join(shelves)
    attributes: dict[str, AttributeValue] = {"gen_ai.request.top_k": top_k}
    if source:
        attributes["gen_ai.data_source.id"] = source
    return _operation("retrieval", source, attributes, {QUERY: query})


def tool_span(tool: str) -> Spanned:
    """Open the span of a tool's execution; ``UNKNOWN_TOOL`` where there is no such tool."""
    return _operation(
        "execute_tool", tool, {"gen_ai.tool.name": _named(tool), TOOL_TYPE: "function"}, {}
    )


def agent_span(agent: str, question: str) -> Spanned:
    """Open the span of a question to a persona, a member of a council, or the library."""
    return _operation(
        "invoke_agent", agent, {"gen_ai.agent.name": _named(agent)}, {INPUT: question}
    )


def workflow_span(council: str, question: str) -> Spanned:
    """Open the span of a council's meeting."""
    return _operation(
        "invoke_workflow", council, {"gen_ai.workflow.name": _named(council)}, {INPUT: question}
    )


def round_span(name: str, number: int, members: int) -> Spanned:
    """Open the span of a round: its number from 1, and how many speak in it."""
    attributes: dict[str, AttributeValue] = {"chapterhouse.round.name": _named(name)}
    return span(
        f"round {_named(name)}",
        {**attributes, "chapterhouse.round.number": number, "chapterhouse.round.members": members},
    )


def chat_span(model: str, instructions: str, prompt: str) -> Spanned:
    """Open the span of one piece of writing, with the calls of tools on its way.

    The model is named by its fingerprint, as ``openai/llama3``.
    """
    engine, slash, name = model.partition("/")
    if not slash:
        engine, name = "", model
    attributes = {"gen_ai.request.model": _named(name)}
    if engine:
        attributes["gen_ai.provider.name"] = _PROVIDERS.get(engine, engine)
    content = {INSTRUCTIONS: instructions, INPUT: prompt} if instructions else {INPUT: prompt}
    return _operation("chat", name, attributes, content)


def _operation(
    operation: str,
    of: str,
    attributes: Mapping[str, AttributeValue],
    content: Mapping[str, object],
) -> Spanned:
    name = f"{operation} {_named(of)}".strip()
    return span(name, {OPERATION: operation, **attributes}, content)


def _named(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def record_hits(recorder: Recorder, found: SearchResult) -> None:
    """Tell how much was found, and as content what: ids and titles, no text."""
    if not recorder.listening:
        return
    recorder.set("chapterhouse.retrieval.hits", len(found.hits))
    recorder.set("chapterhouse.retrieval.searched_documents", found.documents)
    recorder.set("chapterhouse.retrieval.searched_chunks", found.chunks)
    recorder.set_content(
        DOCUMENTS,
        [
            {"id": hit.chunk.id, "score": hit.score, "title": hit.document.title}
            for hit in found.hits
        ],
    )


def record_writing(recorder: Recorder, writing: Writing) -> None:
    """Tell what a piece of writing used, and as content its text."""
    used = writing.usage
    recorder.set("chapterhouse.usage.requests", used.calls)
    recorder.set("gen_ai.usage.input_tokens", used.prompt_tokens)
    recorder.set("gen_ai.usage.output_tokens", used.completion_tokens)
    recorder.set("gen_ai.response.finish_reasons", ("length" if writing.cut else "stop",))
    recorder.set("chapterhouse.chat.tool_calls", len(writing.tool_calls))
    recorder.set_content(OUTPUT, writing.text)


def record_answer(recorder: Recorder, given: Answer) -> None:
    """Tell what became of a question, and as content the answer."""
    if not recorder.listening:
        return
    recorder.set("chapterhouse.answer.found", given.found)
    recorder.set("chapterhouse.answer.route", given.route.value)
    recorder.set("chapterhouse.answer.cached", given.cached)
    recorder.set("chapterhouse.answer.citations", len(given.citations))
    recorder.set_content(OUTPUT, given.text)


def record_turn(recorder: Recorder, turn: MemberTurn) -> None:
    """Tell how much a member said, and as content what."""
    if not recorder.listening:
        return
    recorder.set("chapterhouse.method", turn.method)
    recorder.set("chapterhouse.statements", len(turn.statements))
    recorder.set("chapterhouse.replies", len(turn.replies))
    recorder.set("chapterhouse.answer.citations", len(turn.citations))
    replies = (f"{one.statement}: {one.stance.value}. {one.reason}" for one in turn.replies)
    lines = (*(one.position for one in turn.statements), *replies)
    recorder.set_content(OUTPUT, "\n".join(lines))


def record_minutes(recorder: Recorder, minutes: Minutes) -> None:
    """Tell what came of a meeting in numbers, and as content its decision."""
    if not recorder.listening:
        return
    recorder.set("chapterhouse.method", minutes.method)
    recorder.set("chapterhouse.statements", len(minutes.statements))
    recorder.set(
        "chapterhouse.statements.opposed", sum(1 for one in minutes.agreement if one.oppose)
    )
    recorder.set("chapterhouse.absences", len(minutes.absences))
    recorder.set("chapterhouse.answer.citations", len(minutes.citations))
    recorder.set_content(OUTPUT, "\n".join(point.text for point in minutes.decision))
