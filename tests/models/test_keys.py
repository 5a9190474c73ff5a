from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from chapterhouse.errors import EngineError, MissingExtraError, UsageError
from chapterhouse.models import keys
from chapterhouse.models.keys import KeySource
from chapterhouse.models.presets import key_source
from chapterhouse.settings import LanguageModelSettings

KEY = "sk-canary-77aa"
PLACE = "https://api.example.org/v1"


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A real keyring backend that forgets everything."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise keyring.errors.KeyringLocked(f"locked, with {KEY} in it")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    source = KeySource("language_model", variable="SOME_KEY")
    assert source
    assert source.read(PLACE) == KEY
    assert KEY not in repr(source)
    assert not KeySource("language_model")
    assert KeySource("language_model").read(PLACE) == ""
    for value in (None, "", "  ", "a\nb", "schlüssel"):
        monkeypatch.delenv("SOME_KEY")
        monkeypatch.setenv("SOME_KEY" if value is not None else "OTHER_KEY", value or "")
        with pytest.raises(EngineError, match="variable SOME_KEY") as caught:
            source.read(PLACE)
        assert "schlüssel" not in caught.value.message + caught.value.hint
        monkeypatch.setenv("SOME_KEY", "")


def test_a_key_comes_from_the_keyring(ring: MemoryKeyring) -> None:
    source = KeySource("models.fast", entry="chapterhouse/openai/me")
    with pytest.raises(EngineError, match="keyring entry chapterhouse/openai/me") as caught:
        source.read(PLACE)
    assert "keyring set chapterhouse/openai me" in caught.value.hint
    assert "models.fast.key_entry" in caught.value.hint
    keyring.set_password("chapterhouse/openai", "me", KEY)
    source.check(PLACE)
    assert source.read(PLACE) == KEY
    assert KEY not in repr(source)


def test_a_key_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    source = KeySource("language_model", file=str(path))
    with pytest.raises(EngineError, match=r"cannot be read: FileNotFoundError") as caught:
        source.read(PLACE)
    assert "language_model.key_variable" in caught.value.hint
    path.write_text(f"{KEY}\n")
    assert source.read(PLACE) == KEY
    assert KEY not in repr(source)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(EngineError, match=r"cannot be read: UnicodeDecodeError"):
        source.read(PLACE)
    path.write_text("")
    with pytest.raises(EngineError, match="is not set"):
        source.read(PLACE)


def test_a_service_s_usual_variable_holds_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def source(**values: str) -> KeySource:
        return key_source(LanguageModelSettings.model_validate({"model": "m", **values}))

    assert source(engine="google").variable == "GEMINI_API_KEY"
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert source(engine="google").variable == "GOOGLE_API_KEY"
    assert source(engine="anthropic", key_file="/run/key").variable == ""
    assert not source(engine="anthropic", base_url="https://gateway.example.org/v1")
    assert not source(engine="ollama")


def test_a_keyring_that_is_locked_is_told(ring: MemoryKeyring) -> None:
    ring.locked = True
    with pytest.raises(EngineError, match=r"cannot be read: KeyringLocked\.") as caught:
        KeySource("language_model", entry="openai/me").read(PLACE)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error} {getattr(error, 'hint', '')}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("entry", ["openai", "/me", "openai/"])
def test_an_entry_has_a_service_and_a_user(entry: str) -> None:
    with pytest.raises(UsageError, match=r"language_model\.key_entry") as caught:
        KeySource("language_model", entry=entry).check(PLACE)
    assert "SERVICE/USER" in caught.value.hint


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="'keyring'"):
        KeySource("language_model", entry="openai/me").check(PLACE)


def test_a_key_travels_unencrypted_at_home_alone() -> None:
    source = KeySource("language_model", entry="openai/me")
    with pytest.raises(UsageError, match=r"unencrypted to api\.example\.org") as caught:
        source.check("http://api.example.org/v1")
    assert "key_entry" in caught.value.hint
    source.check(PLACE)
    KeySource("language_model").check("http://api.example.org/v1")
    for host in ("127.0.0.1", "localhost", "10.1.2.3", "[::1]", "gpu-box"):
        source.check(f"http://{host}:8000/v1")
