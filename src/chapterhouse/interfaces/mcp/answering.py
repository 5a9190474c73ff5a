"""The tool that answers a question with citations."""

from dataclasses import replace

from chapterhouse.interfaces.mcp.arguments import AskArguments
from chapterhouse.interfaces.mcp.failures import told_lines, without_paths
from chapterhouse.interfaces.mcp.results import AnswerResult, Outcome, citation_result
from chapterhouse.interfaces.mcp.service import Service, Tell
from chapterhouse.presenting import wording
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.replying.request import Choices
from chapterhouse.types import Answer, Progress


async def ask(service: Service, arguments: AskArguments, tell: Tell) -> Outcome:
    """Put a question to the library or a persona."""

    def on_progress(progress: Progress) -> None:
        tell(f"Read {progress.done} of {progress.total} changed files.")

    answer = await service.ask(
        lambda: service.library.ask_async(
            arguments.question,
            persona=arguments.persona,
            choices=Choices(remember=service.remember, use_kept=service.remember),
            on_progress=on_progress,
        )
    )
    shown = replace(
        answer,
        notice=without_paths(answer.notice),
        refreshed=without_paths(answer.refreshed),
        warnings=told_lines(answer.warnings),
    )
    return Outcome(_result(shown), answer_markdown(shown))


def _result(answer: Answer) -> AnswerResult:
    return AnswerResult(
        question=answer.question,
        outcome=answer.outcome,
        certainty=answer.certainty,
        route=answer.route,
        notice=answer.notice,
        persona=answer.persona,
        display_name=answer.display_name,
        text=answer.text,
        sentences=answer.sentences,
        citations=tuple(map(citation_result, answer.citations)),
        conflicts=answer.conflicts,
        would_help=answer.would_help,
        confidence=round(answer.confidence, 6),
        method=answer.method,
        documents_searched=answer.searched.documents,
        reservations=tuple(map(without_paths, wording.reservations(answer.searched))),
        handed_to=answer.handed_to,
        refreshed=answer.refreshed,
        warnings=answer.warnings,
    )
