"""The demo: read the example into a fresh library, ask three questions, show the answers.

    make demo

Writes only to ``.demo/`` and needs no network.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ".demo"
DONE, NOT_FOUND, PARTLY = 0, 3, 4
QUESTIONS = {
    "A number in a spreadsheet": "What will harbour works and dredging cost in 2026?",
    "Where an older and a newer document disagree": (
        "Up to how much may stranded passengers claim for lodging a night?"
    ),
    "What the documents do not answer": "How many parking spaces are there at the Osk pier?",
}
NEXT = f"""
--- Next ---

The library of this demo lies in {HOME}/; more questions stand in examples/README.md. Try

  .venv/bin/chapterhouse ask "Who voted against the budget for 2026?" --home {HOME}
  .venv/bin/chapterhouse search "leading lights Osk" --explain --home {HOME}
  .venv/bin/chapterhouse docs show annual-safety-report-2025.pdf --home {HOME}

and then your own documents:

  .venv/bin/chapterhouse add ~/Documents
"""


def chapterhouse(*arguments: str, accept: set[int]) -> None:
    """Show a command, run it, and stop where it ends in a way that the demo does not expect."""
    print(f"\n$ chapterhouse {' '.join(_quoted(word) for word in arguments)}\n", flush=True)
    command = [sys.executable, "-m", "chapterhouse", *arguments, "--home", HOME]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in accept:
        raise SystemExit(code)


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else shlex.quote(word)


def main() -> None:
    shutil.rmtree(ROOT / HOME, ignore_errors=True)
    chapterhouse("add", "examples/varnholm-ferry", accept={DONE, PARTLY})
    for number, (title, question) in enumerate(QUESTIONS.items(), 1):
        print(f"\n--- {number}. {title} ---")
        chapterhouse("ask", question, accept={DONE, NOT_FOUND})
    print(NEXT)


if __name__ == "__main__":
    main()
