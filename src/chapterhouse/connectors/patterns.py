"""Patterns of files that a source reads or leaves out, as in ``.gitignore``."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.connectors.folder import Leaves, nothing_left_out
from chapterhouse.errors import UsageError
from chapterhouse.loading import lazy

if TYPE_CHECKING:
    import pathspec
else:
    pathspec = lazy("pathspec")

_UNCLOSED: Final = re.compile(r"(?<!\\)\[[^\]]*$")  # git takes it for one that fits nothing


def left_out(include: Sequence[str], exclude: Sequence[str]) -> Leaves:
    """Return what says of a path below the root whether patterns leave it out.

    A file is read where a pattern of ``include`` fits it, or there is none, and no pattern of
    ``exclude`` does. Folders that ``exclude`` fits are not looked into.

    Source of the patterns' meaning: https://git-scm.com/docs/gitignore#_pattern_format

    Raises:
        UsageError: a pattern is none.
    """
    if not include and not exclude:
        return nothing_left_out
    included, excluded = _compiled(include), _compiled(exclude)

    def leaves(path: str, *, is_folder: bool) -> bool:
        if excluded.match_file(f"{path}/" if is_folder else path):
            return True
        return bool(include) and not is_folder and not included.match_file(path)

    return leaves


def _compiled(patterns: Sequence[str]) -> "pathspec.GitIgnoreSpec":
    for pattern in patterns:
        if not pattern.strip() or "\n" in pattern or _UNCLOSED.search(pattern):
            raise UsageError(f"{pattern!r} is no pattern.", hint="Write it as in .gitignore: *.log")
    try:
        return pathspec.GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise UsageError(
            f"A pattern cannot be used: {error}", hint="Write it as in .gitignore: drafts/"
        ) from error
