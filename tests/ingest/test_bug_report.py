"""The report is searched for canaries that stand in every field which could name something."""

import json
from typing import Any

import pytest

from chapterhouse.ingest.bug_report import REPORT, bug_report
from chapterhouse.ingest.environment import Surroundings
from chapterhouse.settings import Settings
from chapterhouse.types import EncoderStatus, Finding, Memory, Remedy, Verification

CANARY = "canary"
SETTINGS = {
    "search": {"limit": 7},
    "answer": {"check": "model"},
    "embedding": {
        "engine": "openai",
        "base_url": f"http://{CANARY}.example/v1",
        "model": f"{CANARY}-model",
        "key_variable": f"{CANARY}_KEY",
        "question_prefix": CANARY,
        "languages": [CANARY],
    },
    "chunking": {"by_format": {f".{CANARY}": "fixed"}},
    "language_model": {"extra_body": {CANARY: CANARY}, "key_entry": f"{CANARY}/{CANARY}"},
    "telemetry": {"endpoint": f"http://{CANARY}.example:4318"},
    "models": {CANARY: {"engine": "none", "model": CANARY}},
}


@pytest.fixture
def around(home: Any) -> Surroundings:
    home.write(f"{CANARY}/{CANARY}.md", f"# {CANARY}\n\nText of the {CANARY}.\n")
    home.write(f"{CANARY}/broken.md", f"ENCRYPTED {CANARY}\n")
    home.add(home.folder / CANARY, shelf=CANARY)
    home.store.memories().remember(
        Memory("", CANARY, 1, 0, f"{CANARY}?", CANARY, found=True, method=CANARY)
    )
    encoder = EncoderStatus("active", CANARY, f"{CANARY}/1", 0, 1, f"{CANARY} is away")
    settings = Settings.model_validate(SETTINGS)
    folder = home.folder.parent / "home"
    return Surroundings("0.1.0", settings, folder, home.store, {}, (encoder,), is_embedding=True)


def _report(around: Surroundings) -> dict[str, Any]:
    findings = (
        Finding("text", f"{CANARY} is damaged", Remedy.REREAD, CANARY, f"read {CANARY}"),
        Finding("lexical index", CANARY, Remedy.REINDEX, CANARY),
        Finding("text", f"{CANARY}", Remedy.REREAD),
    )
    return bug_report(around, Verification(findings))


def test_no_name_text_question_path_address_or_key_is_in_it(around: Surroundings) -> None:
    text = json.dumps(_report(around))
    assert CANARY not in text.casefold()
    assert str(around.folder) not in text


def test_what_helps_is_in_it(around: Surroundings) -> None:
    found = _report(around)
    assert found["format"].startswith(REPORT)
    assert found["findings"] == {"lexical index: reindex": 1, "text: reread": 2}
    assert (found["documents"], found["by_status"]["rejected"]) == (1, 1)
    assert found["settings"]["search.limit"] == 7
    assert found["settings"]["embedding.engine"] == "openai"
    assert found["settings"]["embedding.base_url"] == "(set)"
    assert found["encoders"] == [{"role": "active", "done": 0, "total": 1, "problem": True}]
    assert found["models"] == 1
