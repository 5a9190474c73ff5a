"""The demo: read the example, ask three questions, compare contracts, and let a council meet.

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
DONE, PARTLY, NO_ANSWER = 0, 4, 6
QUESTIONS = {
    "A sentence on a page of a PDF": "When were the life rafts serviced?",
    "An older and a newer document that both answer": (
        "Up to how much may stranded passengers claim for lodging a night?"
    ),
    "What the documents do not answer": "What is the capital of Peru?",
}
COUNCIL = ("personas", "councils")  # folders of a home folder, ready made
CONTRACTS = "examples/contracts"
MATTER = "How many passengers may MV Teal carry under amber?"
MINUTES = f"{HOME}/minutes.md"
NEXT = f"""
--- Next ---

The library of this demo lies in {HOME}/; more questions stand in
examples/README.md. Let this shell find the command and the library, and try

  export PATH="$PWD/.venv/bin:$PATH" CHAPTERHOUSE_HOME="$PWD/{HOME}"

  chapterhouse ask "Who voted against the budget for 2026?"
  chapterhouse search "leading lights Osk" --explain
  chapterhouse docs show annual-safety-report-2025.pdf
  chapterhouse ask "How long must I rest between watches?" --persona safety

The council is what stands in {HOME}/councils/late-sailing/council.json and in
{HOME}/personas/. Change it, ask it something else, take the minutes along:

  chapterhouse convene late-sailing "How bright are the leading lights at Osk?"
  chapterhouse convene late-sailing "What would it cost?" --output minutes.html
  chapterhouse convene late-sailing "When can it start?" --dry-run

and then your own documents, in a library of their own:

  unset CHAPTERHOUSE_HOME
  chapterhouse add ~/Documents
"""


def chapterhouse(*arguments: str, accept: set[int]) -> None:
    """Show a command, run it, and stop where it ends in a way that the demo does not expect."""
    print(f"\n$ chapterhouse {' '.join(_quoted(word) for word in arguments)}\n", flush=True)
    command = [sys.executable, "-m", "chapterhouse", *arguments, "--home", HOME]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in accept:
        raise SystemExit(code)


def convene() -> None:
    """Let the council meet, and take the minutes along."""
    chapterhouse("convene", "late-sailing", MATTER, "--output", MINUTES, "--quiet", accept={DONE})


def furnish(*folders: str) -> None:
    """Copy folders of the example into the home folder of the demo."""
    print(f"\n$ cp -R {' '.join(f'examples/{name}' for name in folders)} {HOME}/", flush=True)
    for name in folders:
        shutil.copytree(ROOT / "examples" / name, ROOT / HOME / name, dirs_exist_ok=True)


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else shlex.quote(word)


def main() -> None:
    shutil.rmtree(ROOT / HOME, ignore_errors=True)
    chapterhouse("add", "examples/varnholm-ferry", accept={DONE, PARTLY})
    for number, (title, question) in enumerate(QUESTIONS.items(), 1):
        print(f"\n--- {number}. {title} ---")
        chapterhouse("ask", question, accept={DONE, NO_ANSWER})
    print(f"\n--- {len(QUESTIONS) + 1}. A council of four contracts ---")
    template = ("--template", "contracts", "--each", CONTRACTS)
    chapterhouse("council", "new", "contracts", *template, accept={DONE})
    chapterhouse("convene", "contracts", "Until when does it run?", "--quiet", accept={DONE})
    print(f"\n--- {len(QUESTIONS) + 2}. A council of three who have read different things ---")
    furnish(*COUNCIL)
    convene()
    print(NEXT)


if __name__ == "__main__":
    main()
