from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.models import model_servers
from tests.models.chat_server import ChatServer, Reply, Request, chat_server

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.evaluation.model_trial import Trial, try_model
from chapterhouse.settings import LanguageModelSettings

Answers = Callable[[Request], Any] | Sequence[Any]


def settings_of(server: ChatServer) -> LanguageModelSettings:
    return LanguageModelSettings(
        engine="llamacpp", base_url=server.url, model="tiny", maximum_tokens=512
    )


def trial_of(answers: Answers, folder: Path) -> Trial:
    with chat_server(answers, pages=model_servers.llama_cpp(slots=2, context=8_192)) as server:
        return try_model(settings_of(server), folder)


def test_a_good_model_passes_and_leaves_nothing(tmp_path: Path) -> None:
    trial = trial_of(model_servers.good, tmp_path)
    assert (trial.passed, trial.verdict) == (True, "It answered and cited the right line.")
    assert trial.model == "llamacpp/tiny"
    assert trial.answer.citations[0].quote == model_servers.LINE
    assert (trial.context_size, trial.slots) == (8_192, 2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (["I like boats."], "cited no line that carries it"),
        (["The crane lifts 12 tonnes. [1]"], "cited no line that carries it"),
        (["ready", Reply(status=500, body={"error": "it broke"})], "it broke"),
    ],
)
def test_a_weak_model_is_told_plainly(answers: Answers, verdict: str, tmp_path: Path) -> None:
    trial = trial_of(answers, tmp_path)
    assert not trial.passed
    assert verdict in trial.verdict
    assert not list(tmp_path.iterdir())


def test_a_model_that_does_not_write_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="wrote nothing"):
        trial_of([""], tmp_path)
    with pytest.raises(UsageError, match="No language model is chosen"):
        try_model(LanguageModelSettings(), tmp_path)
