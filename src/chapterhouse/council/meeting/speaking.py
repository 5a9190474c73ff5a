"""A turn by a model: told what lies before it, asked for a form, and checked sentence by sentence.

::

    excerpts, claims of others with their evidence -> prompt -> JSON -> sentences -> judged, cited

What cannot be read as the form is asked for once more, and then taken as prose. What a model
claims is put on record with how far the documents carry it, whatever that is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.board import board, excerpts_for, tools_for
from chapterhouse.council.meeting.checking import statement_of
from chapterhouse.council.meeting.output_format import (
    ask_again,
    format_of,
    shape_in_words,
    spoken_pieces,
)
from chapterhouse.council.meeting.seating import Speaker
from chapterhouse.council.meeting.turn import OnText, Turn
from chapterhouse.council.meeting.turn_output import Output, read_turn
from chapterhouse.council.meeting.workbench import at_bench
from chapterhouse.errors import EngineError
from chapterhouse.protocols import LanguageModel
from chapterhouse.replying.desk import Desk
from chapterhouse.replying.metered import Metered
from chapterhouse.replying.parts import Parts
from chapterhouse.types import OutputFormat, Statement, Tool, ToolCall, Writing

_SHOWN_MARKER: Final = re.compile(r"⟦(\^[^⟦⟧\n]{1,400}|\d{1,4})⟧")
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a model is given in a turn."""

    desk: Desk
    instructions: str
    prompt: str
    tools: tuple[Tool, ...]
    form: OutputFormat


def prepared(speaker: Speaker, turn: Turn, parts: Parts) -> Prepared:
    """Return what a model is given in a turn; nothing is asked of it yet.

    Args:
        speaker: Who speaks.
        turn: What is asked.
        parts: What the library is made of.
    """
    desk = Desk(speaker.request, parts)
    if speaker.grounding != "tool":
        desk.lay(excerpts_for(speaker, turn))
    said = tuple(board(speaker, turn, parts, desk))
    tools = tools_for(speaker, desk, parts)
    form = format_of(turn.round.kind, turn.council.options)
    return Prepared(
        desk,
        prompts.instructions(speaker, turn, shape_in_words(form), tools=bool(tools)),
        prompts.user_message(turn, desk.laid(), desk.nonce, *said),
        tools,
        form,
    )


async def spoken_turn(
    speaker: Speaker, turn: Turn, parts: Parts, on_text: OnText | None = None
) -> Statement:
    """Return what a model says in a round, checked.

    Args:
        speaker: Who speaks; they have a model.
        turn: What is asked.
        parts: What the library is made of.
        on_text: Is given what the model writes as it comes, before it is checked.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    assert speaker.model is not None
    given = await at_bench(partial(prepared, speaker, turn, parts))
    model = Metered(speaker.model)
    read = partial(read_turn, options=turn.council.options)
    spoken, writing = await heard(model, given, read, on_text)
    statement = await at_bench(partial(statement_of, spoken, speaker, turn, given.desk, parts))
    return replace(
        statement,
        method=model.fingerprint,
        usage=model.usage,
        tool_calls=calls_of(writing),
        warnings=(*statement.warnings, _CUT) if writing.cut else statement.warnings,
    )


async def heard(
    model: LanguageModel,
    given: Prepared,
    read: Callable[[str], Output],
    on_text: OnText | None,
) -> tuple[Output, Writing]:
    """Return what a model said in the form that was asked for, and its first text.

    What is not in that form is asked for once more, without tools; what then is not is prose.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    writing = await model.write(
        given.instructions,
        given.prompt,
        tools=given.tools,
        on_text=spoken_pieces(on_text) if on_text else None,
        output=given.form,
    )
    said = read(writing.text)
    if said.in_form:
        return said, writing
    written = prompts.data_shown("WHAT YOU WROTE", writing.text, "written", given.desk.nonce)
    try:
        second = await model.write(ask_again(given.form), written, output=given.form)
    except EngineError:
        return said, writing
    again = read(_with_markers(second.text))
    return (again if again.in_form else said), writing


def _with_markers(text: str) -> str:
    """Return a text whose markers are spelt as their writer spelt them before they were shown."""
    return _SHOWN_MARKER.sub(r"[\1]", text)


def calls_of(writing: Writing) -> tuple[ToolCall, ...]:
    """Return what a model looked up, without what it was told."""
    return tuple(replace(call, result="") for call in writing.tool_calls)
