"""Print how many modules and lines each package has, beside the last release and the target.

``make size`` needs no environment: it parses the tracked files of the work tree and, for the
column of the last release, those of a commit (``--base``, by default the newest tag, and where
there is none the commit at which the house was examined).
"""

import argparse
import ast
import io
import shutil
import subprocess
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

EXAMINED: Final = "d46cc7eb"  # 109,304 lines in 594 modules
_GIT: Final = shutil.which("git") or "git"
_FOLDERS: Final = ("src", "tests", "benchmarks", "scripts", "docs")
SOURCE: Final = "src/chapterhouse/"
KINDS: Final = ("code", "docstring", "comment", "blank")
# Lines of src after the cut, and stations on the way: the owner's plan (issues 32 to 34).
TARGETS: Final[Mapping[str, int]] = {"src": 65_000, "tests": 52_000, "benchmarks": 12_000}


def git(*arguments: str) -> str:
    """Return what a git command prints."""
    return subprocess.check_output((_GIT, *arguments), text=True)


def last_release() -> str:
    """Return the newest tag that the work tree comes from, or where the house was examined."""
    tags = git("tag", "--merged", "HEAD", "--sort=-creatordate").split()
    return tags[0] if tags else EXAMINED


def texts_of(commit: str) -> Iterable[tuple[str, str]]:
    """Yield path and text of each file that is counted; an empty commit is the work tree."""
    if commit:
        archive = subprocess.check_output((_GIT, "archive", commit, *_FOLDERS))
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for member in files:
                stream = files.extractfile(member) if _is_counted(member.name) else None
                if stream is not None:
                    yield member.name, stream.read().decode()
        return
    for name in git("ls-files", *_FOLDERS).splitlines():
        if _is_counted(name) and Path(name).exists():  # it may be removed and not committed yet
            yield name, Path(name).read_text("utf-8")


def _is_counted(name: str) -> bool:
    return name.endswith(".md" if name.startswith("docs/") else ".py")


def count_lines(text: str) -> Counter[str]:
    """Count the lines of a module by kind."""
    lines = text.splitlines()
    kind_of = ["blank" if not line.strip() else "code" for line in lines]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            kind_of[token.start[0] - 1] = "comment"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                    kind_of[row] = "docstring"
    return Counter(kind_of)


def package_of(name: str) -> str:
    """Return what a file is counted under: the first folder below the source, or the tree's."""
    if name.startswith(SOURCE):
        inside, _, rest = name.removeprefix(SOURCE).partition("/")
        return inside if rest else "(top level)"
    return f"{name.partition('/')[0]}/"


def measure(commit: str) -> dict[str, Counter[str]]:
    """Return modules and lines by package, of the work tree by kind, too."""
    found: dict[str, Counter[str]] = {}
    for name, text in texts_of(commit):
        row = found.setdefault(package_of(name), Counter())
        row.update(modules=1, lines=len(text.splitlines()))
        if not commit and name.endswith(".py"):
            row.update(count_lines(text))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default=last_release(), help="the commit to compare with")
    base = parser.parse_args().base
    now, before = measure(""), measure(base)
    head = ("package", "modules", *KINDS, "lines", f"at {base[:9]}", "change")
    print(f"{head[0]:<14}" + "".join(f"{name:>13}" for name in head[1:]))
    inside = sorted(name for name in now.keys() | before.keys() if not name.endswith("/"))
    outside = [name for name in ("tests/", "benchmarks/", "scripts/", "docs/") if name in now]
    total = {"src": (_sum(now, inside), _sum(before, inside))}
    total |= {name.rstrip("/"): (now[name], before.get(name, Counter())) for name in outside}
    for name in inside:
        print(_row(name, now.get(name, Counter()), before.get(name, Counter())))
    for name, (here, there) in total.items():
        target = f"   target {TARGETS[name]:,}" if name in TARGETS else ""
        print(_row(name.upper(), here, there) + target)


def _sum(found: Mapping[str, Counter[str]], names: Iterable[str]) -> Counter[str]:
    return sum((found.get(name, Counter()) for name in names), Counter())


def _row(name: str, now: Mapping[str, int], before: Mapping[str, int]) -> str:
    numbers = [now.get(kind, 0) for kind in ("modules", *KINDS, "lines")]
    change = now.get("lines", 0) - before.get("lines", 0)
    cells = [f"{number:>13,}" for number in (*numbers, before.get("lines", 0))]
    return f"{name:<14}" + "".join(cells) + f"{change:>+13,}"


if __name__ == "__main__":
    main()
