"""Every setting, in one frozen tree: defaults < file < environment < workspace < call.

The file is ``chapterhouse.toml`` in the home folder; a workspace may have a ``workspace.toml`` of
its own; an environment variable is spelled ``CHAPTERHOUSE_SEARCH__LIMIT=5``.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from chapterhouse.errors import UsageError

HOME_FILE = "chapterhouse.toml"
WORKSPACE_FILE = "workspace.toml"
_PREFIX = "CHAPTERHOUSE_"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChunkingSettings(_Frozen):
    """How documents are cut. A change takes effect on ``docs reprocess``."""

    strategy: Literal["sentence", "fixed"] = "sentence"
    maximum: int = Field(default=1_000, ge=100, le=100_000)  # characters, for "sentence"
    size: int = Field(default=1_500, ge=1, le=100_000)  # characters, for "fixed"
    overlap: int = Field(default=200, ge=0)  # characters, for "fixed"

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "ChunkingSettings":
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be less than size ({self.size})")
        return self


class ReadingSettings(_Frozen):
    """How files are read."""

    workers: int = Field(default=2, ge=1, le=64)  # reading processes
    maximum_megabytes: int = Field(default=100, ge=1, le=4_096)  # of one file


class TokenSettings(_Frozen):
    """How tokens are counted: an estimate, or exactly with the tokenizer of Llama 2."""

    tokenizer: Literal["estimate", "llama-2"] = "estimate"


class EmbeddingSettings(_Frozen):
    """Whether chunks get vectors from the built-in table. A change needs ``docs reprocess``."""

    enabled: bool = True


class SearchSettings(_Frozen):
    """What a search returns when the call does not say."""

    limit: int = Field(default=10, ge=1, le=1_000)  # hits
    per_document: int = Field(default=3, ge=0, le=1_000)  # hits of one document; 0: no cap


class AnswerSettings(_Frozen):
    """What an answer holds when the call does not say."""

    sentences: int = Field(default=4, ge=1, le=50)


class Settings(_Frozen):
    """The whole tree."""

    chunking: ChunkingSettings = ChunkingSettings()
    reading: ReadingSettings = ReadingSettings()
    tokens: TokenSettings = TokenSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    search: SearchSettings = SearchSettings()
    answer: AnswerSettings = AnswerSettings()


class _WithEnvironment(Settings, BaseSettings):
    """The tree as the environment changes it."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix=_PREFIX, env_nested_delimiter="__"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the base class's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, which arrives as arguments."""
        return (env_settings, init_settings)


def load_settings(home: Path, workspace_folder: Path) -> Settings:
    """Return the settings of a workspace.

    Raises:
        UsageError: a file is not TOML, or names a setting that does not exist or a value that it
            cannot have; the message names the setting and the reason, the hint the file.
    """
    home_file, own_file = home / HOME_FILE, workspace_folder / WORKSPACE_FILE
    _refuse_unknown_variables(os.environ)
    try:
        shared = _WithEnvironment(**_read(home_file)).model_dump()
    except ValidationError as error:
        raise _explained(error, home_file) from None
    try:
        return Settings.model_validate(_merged(shared, _read(own_file)))
    except ValidationError as error:
        raise _explained(error, own_file) from None


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    """A misspelled variable would otherwise be silently without effect."""
    known = {
        f"{_PREFIX}{section}__{name}".upper()
        for section, field in Settings.model_fields.items()
        for name in field.annotation.model_fields  # type: ignore[union-attr]  # all are models
    }
    for variable in sorted(environment):
        if variable.startswith(_PREFIX) and "__" in variable and variable not in known:
            raise UsageError(
                f"The variable {variable} names no setting.",
                hint=f"Settings look like {min(known)}; see docs/settings.md.",
            )


def _explained(error: ValidationError, path: Path) -> UsageError:
    problems = [
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in error.errors()
    ]
    return UsageError(
        f"The settings do not fit: {'; '.join(problems)}.",
        hint=f"Look into {path} and the variables that start with CHAPTERHOUSE_.",
    )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Mapping[str, Any]:
    merged = dict(under)
    for name, value in over.items():
        below = under.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[name] = {**below, **value}
        else:
            merged[name] = value
    return merged
