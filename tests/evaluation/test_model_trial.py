"""Trying a language model out: real servers over loopback that are good, weak or odd."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models import model_servers
from tests.models.chat_server import ChatServer, Reply, Request, ToolCall, chat_server

from chapterhouse.errors import EngineError
from chapterhouse.evaluation.model_trial import QUESTION, Trial, try_model
from chapterhouse.models import servers
from chapterhouse.settings import LanguageModelSettings, Settings

Answers = Callable[[Request], Reply]


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is served where models usually are."""
    monkeypatch.setattr(servers, "_USUAL_PORTS", ())
    monkeypatch.setenv("OLLAMA_HOST", "192.0.2.1")  # another machine, which is not asked
    monkeypatch.setenv("LLAMA_ARG_HOST", "192.0.2.1")


def trial_of(
    answers: Answers,
    folder: Path,
    *,
    length: int = 16_384,
    slots: int = 8,
    told: list[str] | None = None,
) -> Trial:
    """Try a model out that a server serves with a context of so many tokens."""
    pages = model_servers.vllm("tiny", length=length)
    with chat_server(answers, pages=pages, slots=slots) as server:
        chosen = settings_of(server)
        return try_model(chosen, Settings(), folder, (told if told is not None else []).append)


def settings_of(server: ChatServer) -> LanguageModelSettings:
    return LanguageModelSettings(
        engine="vllm", base_url=server.url, model="tiny", maximum_tokens=512
    )


def but(where: Callable[[Request], bool], *says: Reply) -> Answers:
    """Answer well, but say this where it is asked for something."""
    left = list(says)

    def answers(request: Request) -> Reply:
        if not where(request):
            return model_servers.good(request)
        return left.pop(0) if len(left) > 1 else left[0]

    return answers


def found(trial: Trial) -> dict[str, tuple[bool, str]]:
    return {one.name: (one.passed, one.sentence) for one in trial.found}


def works(trial: Trial) -> dict[str, str]:
    return {one.name: one.sentence for one in trial.works}


def is_question(request: Request) -> bool:
    return QUESTION in request.everything_else and "[1] " in request.everything_else


def has_tools(request: Request) -> bool:
    return bool(request.body.get("tools"))


def wants_form(request: Request) -> bool:
    return '{"time": "HH:MM"' in request.system


def test_a_good_model_passes_everything_and_leaves_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    trial = trial_of(model_servers.good, tmp_path, told=told)
    assert all(passed for passed, _ in found(trial).values())
    assert all(one.passed for one in trial.works)
    assert trial.model == "vllm/tiny"
    assert trial.answer.citations[0].quote == model_servers.LINE
    assert (trial.context_size, trial.slots) == (16_384, 0)
    assert found(trial)["context"] == (True, "It takes 16,384 tokens.")
    assert works(trial)["councils"] == "yes, as many calls at once as there are members"
    assert told[-1] == "asking it two things at once"
    assert len(told) == 6
    assert list(tmp_path.iterdir()) == []


def test_a_server_of_one_slot_is_asked_one_thing_at_a_time(tmp_path: Path) -> None:
    trial = trial_of(model_servers.good, tmp_path, slots=1)
    assert trial.slots == 1
    assert works(trial)["councils"] == "yes, one call at a time"


@pytest.mark.parametrize(
    ("name", "where", "says", "sentence"),
    [
        ("citation", is_question, Reply("The café opens at nine on Sundays. [1]"), "cited no line"),
        (
            "citation",
            is_question,
            Reply("The ferry to Osk leaves from pier 3. [1]"),
            "cited no line",
        ),
        ("citation", is_question, Reply(status=400, body={"error": "no"}), "It gave no answer: "),
        ("tools", has_tools, Reply("The code is K417."), "did not call the tool"),
        ("tools", has_tools, Reply(status=400, body={"error": "no tools"}), "service refuses"),
        ("form", wants_form, Reply("At 07:40."), "did not answer with the JSON"),
        ("form", wants_form, Reply(json.dumps({"time": "07:40", "pier": 4})), "something else"),
        ("form", wants_form, Reply("[]"), "something else"),
        ("form", wants_form, Reply(status=400, body={"error": "no"}), "It gave nothing"),
        ("rewriting", lambda r: '"terms"' in r.system, Reply("No idea."), "no other words"),
    ],
)
def test_what_a_model_cannot_do_is_found_and_costs_nothing_else(
    tmp_path: Path, name: str, where: Callable[[Request], bool], says: Reply, sentence: str
) -> None:
    trial = trial_of(but(where, says), tmp_path)
    results = found(trial)
    assert not results[name][0]
    assert sentence in results[name][1]
    assert [other for other, (passed, _) in results.items() if not passed] == [name]
    part = {"citation": "asking", "form": "councils"}.get(name, name)
    assert [one.name for one in trial.works if not one.passed] == [part]


def test_a_tool_whose_result_is_ignored_is_no_use(tmp_path: Path) -> None:
    calls = Reply(calls=[ToolCall("pier_code", {"pier": 3})])
    trial = trial_of(but(has_tools, calls, Reply("It is B7.")), tmp_path)
    assert found(trial)["tools"] == (False, "It called the tool and ignored the result.")
    assert works(trial)["tools"].startswith("no: ")


def test_a_context_that_is_too_small_is_told_with_what_to_start(tmp_path: Path) -> None:
    passed, sentence = found(trial_of(model_servers.good, tmp_path, length=2_048))["context"]
    assert not passed
    assert sentence.startswith("It takes 2,048 tokens, a full prompt with its answer is ")
    assert sentence.endswith("Give it more: vllm serve --max-model-len 16384.")


def test_who_is_not_there_cannot_be_tried(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="No language model is chosen"):
        try_model(LanguageModelSettings(engine="none"), Settings(), tmp_path)
    with chat_server(model_servers.good) as server:
        gone = settings_of(server)
    with pytest.raises(EngineError):
        try_model(gone, Settings(), tmp_path)
    assert list(tmp_path.iterdir()) == []
