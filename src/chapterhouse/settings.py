"""Every setting, in one frozen tree.

Defaults < file < environment < workspace < database < call. The file is ``chapterhouse.toml`` in
the home folder; a workspace may have a ``workspace.toml`` of its own, and values in its database;
an environment variable is spelled ``CHAPTERHOUSE_SEARCH__LIMIT=5``.
"""

import re
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

HOME_FILE = "chapterhouse.toml"
WORKSPACE_FILE = "workspace.toml"
PREFIX = "CHAPTERHOUSE_"
LONGEST = 1_500  # characters of a chunk, unless a setting says otherwise
# Settings that may hold keys or passwords.
SECRET: Final = frozenset({"extra_body", "address"})
_CHECKSUM = r"^([0-9a-f]{64})?$"  # SHA-256, or nothing


class _Frozen(BaseModel):
    """A part of the tree.

    Attributes:
        changeable: The settings that may be changed in the database of a workspace, by whoever may
            administer it over a network. Nothing is that is not named: no secret, no address, and
            nothing that names a program, a folder or a file of the machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    changeable: ClassVar[frozenset[str]] = frozenset()


class _OfWorkspace(_Frozen):
    """A part of which no setting belongs to the machine: all of them are changeable."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls.changeable = frozenset(cls.model_fields)


Strategy = Literal[
    "sentence",
    "fixed",
    "topic",
    "semantic",
    "density",
    "hierarchical",
    "adaptive",
]


class ChunkingSettings(_OfWorkspace):
    """How documents are cut. What was cut before is cut again by ``rebuild``."""

    strategy: Strategy = "hierarchical"
    by_format: dict[str, Strategy] = {}  # by extension or format, before strategy
    target: int = Field(default=0, ge=0, le=100_000)  # characters; 0: 700
    minimum: int = Field(default=100, ge=1, le=100_000)  # at most a quarter of the maximum
    # The length of each chunk for "fixed"; 0: 1,000 for "sentence", else 1,500.
    maximum: int = Field(default=0, ge=0, le=100_000)
    overlap: int = Field(default=200, ge=0)  # characters, for "fixed"

    @model_validator(mode="after")
    def _lengths_go_together(self) -> "ChunkingSettings":
        longest = self.maximum or LONGEST
        is_fixed = "fixed" in {self.strategy, *self.by_format.values()}
        if is_fixed and self.overlap >= longest:
            raise ValueError(f"overlap ({self.overlap}) must be less than maximum ({longest})")
        if self.target and not self.minimum <= self.target <= longest:
            raise ValueError(
                f"minimum ({self.minimum}) <= target ({self.target}) <= maximum ({longest}) "
                "must hold"
            )
        return self


class ReadingSettings(_Frozen):
    """How files are read."""

    changeable = frozenset({"maximum_megabytes"})

    workers: int = Field(default=2, ge=1, le=64)  # reading processes
    maximum_megabytes: int = Field(default=100, ge=1, le=4_096)  # of one file


def _plain_address(value: str, like: str, instead: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0):
        raise ValueError(f"an address looks like {like}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"an address holds no user, key or query; {instead}")
    return value


class _ServiceSettings(_Frozen):
    """Where a model's service is and how patiently it is asked."""

    base_url: str = ""
    key_variable: str = ""  # the environment variable that holds the key, never the key
    timeout_seconds: float = Field(default=60.0, gt=0, le=3_600)
    attempts: int = Field(default=5, ge=1, le=20)
    trust_environment: bool = False  # proxies and certificates

    @field_validator("base_url")
    @classmethod
    def _is_a_plain_address(cls, value: str) -> str:
        return _plain_address(value, "https://HOST/v1", "name a key_variable")

    @field_validator("key_variable")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if value and not (value.isascii() and value.isidentifier()):
            raise ValueError("name an environment variable here, never the key itself")
        return value

    def _require(self, engine: str, *names: str) -> None:
        missing = [name for name in names if not getattr(self, name)]
        if missing:
            raise ValueError(f"the engine '{engine}' needs {' and '.join(missing)}")


class EmbeddingSettings(_ServiceSettings):
    """What makes the vectors; those of an encoder are made in the background."""

    changeable = frozenset({"batch", "background"})

    engine: Literal["built-in", "openai", "folder", "none"] = "built-in"
    model: str = ""  # as the service calls it
    revision: str = ""  # a name of your own for the model's version, where nothing tells it
    folder: str = ""  # of the model's files
    file: str = ""  # its weights in there, where there are several
    checksum: str = Field(default="", pattern=_CHECKSUM)  # of the model's files
    dimensions: int = Field(default=0, ge=0, le=65_536)  # 0: as the model has them
    shorten: bool = False  # cut longer vectors to ``dimensions``
    pooling: Literal["", "mean", "cls", "last"] = ""  # empty: as the folder says, else mean
    question_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()  # that gain by the vectors; empty: all
    batch: int = Field(default=64, ge=1, le=2_048)  # texts a request
    maximum_characters: int = Field(default=8_000, ge=100, le=1_000_000)  # of a text sent
    background: bool = True  # whether commands start a process that makes missing vectors

    @model_validator(mode="after")
    def _is_whole(self) -> "EmbeddingSettings":
        needs = {"openai": ("base_url", "model"), "folder": ("folder",)}
        self._require(self.engine, *needs.get(self.engine, ()))
        if self.shorten and not self.dimensions:
            raise ValueError("shorten needs dimensions")
        return self


class RerankSettings(_ServiceSettings):
    """What puts the best candidates of a search in their final order."""

    changeable = frozenset({"engine", "depth"})

    engine: Literal["features", "none", "folder", "http"] = "features"
    model: str = ""  # as the service calls it
    folder: str = ""  # of the model's files
    file: str = ""  # its weights in there, where there are several
    checksum: str = Field(default="", pattern=_CHECKSUM)  # of the model's files
    depth: int = Field(default=60, ge=1, le=1_000)  # candidates
    timeout_seconds: float = Field(default=15.0, gt=0, le=3_600)
    attempts: int = Field(default=2, ge=1, le=20)

    @model_validator(mode="after")
    def _is_whole(self) -> "RerankSettings":
        needs = {"http": ("base_url", "model"), "folder": ("folder",)}
        self._require(self.engine, *needs.get(self.engine, ()))
        return self


class LanguageModelSettings(_ServiceSettings):
    """The model that writes, if there is one."""

    changeable = frozenset({"maximum_tokens", "temperature", "thinking"})

    # A service by its name; "openai" with a base_url: any that speaks its protocol.
    engine: Literal[
        "none",
        "openai",
        "anthropic",
        "google",
        "mistral",
        "openrouter",
        "ollama",
        "lmstudio",
        "llamacpp",
        "vllm",
    ] = "none"
    model: str = ""  # as the service calls it
    key_entry: str = ""  # where a keyring holds the key: SERVICE/USER; instead of key_variable
    key_file: str = ""  # the path of a file that holds the key and nothing else; likewise
    maximum_tokens: int = Field(default=1_024, ge=1, le=1_000_000)  # of what it writes
    context_size: int = Field(default=0, ge=0, le=100_000_000)  # tokens; 0: as the server says
    temperature: float = Field(default=0.0, ge=0, le=2)
    reasoning: bool = False  # whether it is one that thinks first and takes no temperature
    thinking: Literal["", "off", "low", "medium", "high"] = ""  # empty: as the model does
    calls_at_once: int = Field(default=0, ge=0, le=1_000)  # 0: as many as there are
    extra_body: dict[str, Any] = {}  # put into every request as it is
    timeout_seconds: float = Field(default=120.0, gt=0, le=3_600)
    attempts: int = Field(default=3, ge=1, le=20)

    @model_validator(mode="after")
    def _is_whole(self) -> "LanguageModelSettings":
        if self.engine != "none":
            self._require(self.engine, "model")
        if sum(map(bool, (self.key_variable, self.key_entry, self.key_file))) > 1:
            raise ValueError("name one of key_variable, key_entry and key_file")
        return self


class SearchSettings(_OfWorkspace):
    """What a search returns when the call does not say."""

    limit: int = Field(default=10, ge=1, le=1_000)  # hits
    per_document: int = Field(default=0, ge=0, le=1_000)  # hits of one document; 0: no cap
    fusion: Literal["scores", "ranks"] = "scores"  # how lists become one
    bm25_min_score: float = Field(default=0.0, ge=0)  # of a chunk found by its words
    vector_threshold: float = Field(default=-1.0, ge=-1, le=1)  # cosine, if found by its vector
    min_similarity: float = Field(default=0.0, ge=0, le=1)  # least final score
    duplicates: float = Field(default=0.9, ge=0, le=1)  # likeness of texts told once; 0: tell all
    recency: float = Field(default=0.0, ge=0, le=1)  # how far a document's age counts
    tool_description: str = Field(default="", max_length=2_000)  # of search_documents; empty: ours


class ExpansionSettings(_OfWorkspace):
    """In which other ways a question is put to the index."""

    names: bool = True  # what the documents call the same thing
    parts: bool = True  # the several things that a question asks
    neighbours: bool = True  # what names somebody or something that the first hits name
    # Whether a language model writes other forms of it, in one call, for a further search.
    rewrite: Literal["never", "when-weak", "always"] = "when-weak"
    model: str = ""  # the name of one for that; empty: whoever answers


_Purpose = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
_Tokens = Annotated[int, Field(ge=1, le=10_000_000)]


class PackingSettings(_OfWorkspace):
    """What a context holds when the call does not say."""

    maximum: int = Field(default=2_000, ge=1, le=10_000_000)  # tokens
    # Tokens by what a context is for, where the call names that.
    budgets: dict[_Purpose, _Tokens] = {"chat": 2_000, "recipe": 4_000, "code": 3_000}
    hits: int = Field(default=12, ge=1, le=1_000)  # to choose from
    widen: Literal["no", "surroundings", "parent"] = "no"  # what a hit takes in around it


class AnswerSettings(_OfWorkspace):
    """What an answer holds when the call does not say."""

    words: int = Field(default=250, ge=10, le=2_000)  # of the parts that are quoted
    cache: bool = True  # answers that a model wrote are kept until anything changes
    # "model": the model is asked once more what the sources say about each sentence of its answer.
    check: Literal["rules", "model"] = "rules"


class MemorySettings(_OfWorkspace):
    """What is remembered of questions and answers."""

    enabled: bool = True
    days: int = Field(default=365, ge=0, le=36_500)  # until it is forgotten; 0: never
    # Earlier answers that a model is reminded of; unset: 3 in a conversation, else none.
    recall: int | None = Field(default=None, ge=0, le=20)


class AnalyticsSettings(_OfWorkspace):
    """What is counted of questions."""

    enabled: bool = True
    days: int = Field(default=365, ge=0, le=36_500)  # until a question is dropped; 0: never
    text: bool = False  # whether questions are recorded as they were asked


class TelemetrySettings(_Frozen):
    """Who is told what was done to answer, beside whoever asked for it on the command line."""

    content: bool = False  # whether OpenTelemetry also gets questions, arguments and results
    endpoint: str = ""  # of a collector, OTLP over HTTP; empty: nothing is sent

    @field_validator("endpoint")
    @classmethod
    def _is_a_plain_address(cls, value: str) -> str:
        return _plain_address(
            value, "http://localhost:4318", "set OTEL_EXPORTER_OTLP_HEADERS in the environment"
        )


class CloudSettings(_Frozen):
    """How cloud drives are read, through rclone."""

    rclone: str = ""  # path of the program; empty: the one on PATH, else the extra's


class StoreSettings(_Frozen):
    """Where the documents of a home's workspaces are, and all that is known of them.

    The variable ``CHAPTERHOUSE_STORE`` is short for the address, ``CHAPTERHOUSE_OBJECTS`` for the
    other one.
    """

    address: str = Field(default="", repr=False)  # postgresql://…; empty: SQLite, in the home
    objects: str = ""  # s3://BUCKET/PREFIX, for larger original files; empty: with the documents
    statement_seconds: int = Field(default=600, ge=1, le=86_400)  # of PostgreSQL, for one statement

    @field_validator("address")
    @classmethod
    def _is_of_postgresql(cls, value: str) -> str:
        if value and not value.startswith(("postgresql://", "postgres://")):
            raise ValueError("an address looks like postgresql://USER:PASSWORD@HOST/DATABASE")
        return value

    @field_validator("objects")
    @classmethod
    def _is_of_s3(cls, value: str) -> str:
        parts = urlsplit(value)
        plain = re.fullmatch(r"[a-z0-9][a-z0-9.-]+", parts.netloc)
        if value and (parts.scheme != "s3" or not plain or parts.query or parts.fragment):
            raise ValueError(
                "an address looks like s3://BUCKET/PREFIX; keys and the server's address are in the"
                " variables of AWS, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL"
            )
        return value


class Settings(_Frozen):
    """The whole tree."""

    chunking: ChunkingSettings = ChunkingSettings()
    reading: ReadingSettings = ReadingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    language_model: LanguageModelSettings = LanguageModelSettings()
    search: SearchSettings = SearchSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    packing: PackingSettings = PackingSettings()
    answer: AnswerSettings = AnswerSettings()
    memory: MemorySettings = MemorySettings()
    analytics: AnalyticsSettings = AnalyticsSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    cloud: CloudSettings = CloudSettings()
    store: StoreSettings = StoreSettings()
    models: dict[str, LanguageModelSettings] = {}  # further models, by a name of your own
