import gc
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse import lazy_pattern
from chapterhouse.interfaces.cli.interrupts import WithoutCollection


@given(st.text("ab1 \n", max_size=20), st.sampled_from([0, re.IGNORECASE, re.MULTILINE]))
def test_a_pattern_finds_what_a_compiled_one_finds(text: str, flags: int) -> None:
    source = r"^(A+)|\d"
    now, later = re.compile(source, flags), lazy_pattern(source, flags)
    assert [found.span() for found in later.finditer(text)] == [
        found.span() for found in now.finditer(text)
    ]
    assert later.sub("-", text) == now.sub("-", text)
    assert (later.pattern, later.flags) == (now.pattern, now.flags)


def test_nothing_is_collected_while_modules_are_loaded() -> None:
    assert gc.isenabled()
    with suppress(ZeroDivisionError), WithoutCollection():
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()


# What a sync of unchanged folders has no use for.
UNUSED_BY_SYNC = {
    "chapterhouse.agents.councils",
    "chapterhouse.agents.curate",
    "chapterhouse.agents.personas",
    "chapterhouse.connectors.fetch",
    "chapterhouse.connectors.rclone",
    "watchfiles",
    "chapterhouse.connectors.fetched",
    "chapterhouse.ingest.prepare",
    "chapterhouse.reading.dispatch",
    "chapterhouse.retrieval.pipeline",
    "chapterhouse.text.language",
    "httpx2",
    "onnxruntime",
    "pathspec",
    "tokenizers",
}


def test_a_sync_of_unchanged_folders_loads_nothing_that_reads_or_fetches(tmp_path: Path) -> None:
    docs, home = tmp_path / "docs", str(tmp_path / "home")
    docs.mkdir()
    (docs / "tide.md").write_text("# Tide\n\nThe tide turns at noon.\n")
    script = (
        "import sys\n"
        "from chapterhouse.interfaces.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "print('MODULES', *sys.modules)\n"
        "sys.exit(code)\n"
    )
    found = ""
    for command in (("add", str(docs)), ("sync",), ("sync",)):  # the file is young at first
        done = subprocess.run(
            [sys.executable, "-c", script, *command, "--home", home],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = done.stdout
    assert "1 unchanged" in found
    assert UNUSED_BY_SYNC & set(found.partition("MODULES")[2].split()) == set()
