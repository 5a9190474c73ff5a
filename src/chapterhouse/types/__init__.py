"""The values that travel through Chapterhouse: frozen, standard library only.

Offsets are counts of Unicode code points into ``Body.text`` (the canonical text of a document),
half open: ``text[start:end]``. Times are whole seconds since 1970 in UTC. Hashes are lower-case
hexadecimal SHA-256.
"""

from chapterhouse.types.access import (
    AccessLevel as AccessLevel,
    ApiKey as ApiKey,
    AuditEntry as AuditEntry,
    AuditOutcome as AuditOutcome,
    Grant as Grant,
    LoginSession as LoginSession,
    User as User,
)
from chapterhouse.types.analytics import (
    Analytics as Analytics,
    DocumentFigures as DocumentFigures,
    DocumentUse as DocumentUse,
    OutcomeCounts as OutcomeCounts,
    QuestionFigures as QuestionFigures,
    QuestionOutcome as QuestionOutcome,
    QuestionRecord as QuestionRecord,
    UnansweredQuestion as UnansweredQuestion,
)
from chapterhouse.types.answers import (
    EXTRACTIVE as EXTRACTIVE,
    QUOTED as QUOTED,
    Answer as Answer,
    AnswerOutcome as AnswerOutcome,
    AnswerSentence as AnswerSentence,
    Citation as Citation,
    Draft as Draft,
    Route as Route,
    Searched as Searched,
    VersionDifference as VersionDifference,
)
from chapterhouse.types.archive import (
    ArchiveMember as ArchiveMember,
    ExportReport as ExportReport,
    Manifest as Manifest,
    RestoreReport as RestoreReport,
    Snapshot as Snapshot,
)
from chapterhouse.types.asking import (
    Alias as Alias,
    AliasKind as AliasKind,
    Context as Context,
    Correction as Correction,
    Excerpt as Excerpt,
    FollowUp as FollowUp,
    Fusion as Fusion,
    Hit as Hit,
    Query as Query,
    Question as Question,
    Rewriting as Rewriting,
    Scored as Scored,
    SearchResult as SearchResult,
    Turn as Turn,
    Variant as Variant,
    VariantKind as VariantKind,
    WeightedTerm as WeightedTerm,
    corrected as corrected,
)
from chapterhouse.types.claims import (
    Evidence as Evidence,
    Mismatch as Mismatch,
    MismatchKind as MismatchKind,
    Opinion as Opinion,
    OpinionKind as OpinionKind,
    Quotation as Quotation,
)
from chapterhouse.types.documents import (
    BENIGN_NOTICES as BENIGN_NOTICES,
    DEFAULT_SHELF as DEFAULT_SHELF,
    INCOMPLETE as INCOMPLETE,
    Body as Body,
    Chunk as Chunk,
    Document as Document,
    ExtractedPage as ExtractedPage,
    Extraction as Extraction,
    Kind as Kind,
    Member as Member,
    Notice as Notice,
    Page as Page,
    Range as Range,
    Section as Section,
    Span as Span,
    Status as Status,
    Trust as Trust,
    shelf_names as shelf_names,
)
from chapterhouse.types.events import (
    AnswerEvent as AnswerEvent,
    AskEvent as AskEvent,
    CouncilEvent as CouncilEvent,
    DraftEvent as DraftEvent,
    MeetingEvent as MeetingEvent,
    MeetingEventKind as MeetingEventKind,
    MinutesEvent as MinutesEvent,
    ReadingEvent as ReadingEvent,
)
from chapterhouse.types.jobs import (
    FINISHED as FINISHED,
    OPEN as OPEN,
    UPLOAD as UPLOAD,
    FileInFlight as FileInFlight,
    Job as Job,
    JobState as JobState,
    Step as Step,
    source_result as source_result,
)
from chapterhouse.types.ledger import (
    AddReport as AddReport,
    Change as Change,
    FileMove as FileMove,
    FileOutcome as FileOutcome,
    FileRecord as FileRecord,
    Ignored as Ignored,
    Progress as Progress,
)
from chapterhouse.types.memory import (
    Memory as Memory,
    MemoryHit as MemoryHit,
)
from chapterhouse.types.minutes import (
    Absence as Absence,
    Agreement as Agreement,
    Gap as Gap,
    Ground as Ground,
    MemberTurn as MemberTurn,
    Minutes as Minutes,
    ParticipantRecord as ParticipantRecord,
    Point as Point,
    Reply as Reply,
    Stance as Stance,
    Statement as Statement,
)
from chapterhouse.types.personas import (
    Persona as Persona,
)
from chapterhouse.types.removal import (
    FileSearch as FileSearch,
    Removal as Removal,
    RemovalState as RemovalState,
    Traces as Traces,
)
from chapterhouse.types.scope import (
    Scope as Scope,
)
from chapterhouse.types.settings import (
    Origin as Origin,
    SettingChange as SettingChange,
    SettingValue as SettingValue,
    StoredSetting as StoredSetting,
)
from chapterhouse.types.sources import (
    USUAL_TRUST as USUAL_TRUST,
    Move as Move,
    Source as Source,
    SourceKind as SourceKind,
    StayingDocuments as StayingDocuments,
    StayReason as StayReason,
    SyncReport as SyncReport,
)
from chapterhouse.types.state import (
    Check as Check,
    CorpusCounts as CorpusCounts,
    EmbeddingProgress as EmbeddingProgress,
    EncoderRecord as EncoderRecord,
    EncoderStatus as EncoderStatus,
    FormatSupport as FormatSupport,
    LibraryStatus as LibraryStatus,
)
from chapterhouse.types.table import (
    GAP as GAP,
    Aspect as Aspect,
    TableCell as TableCell,
    TableRow as TableRow,
)
from chapterhouse.types.terms import (
    TermRows as TermRows,
    TokenVectors as TokenVectors,
)
from chapterhouse.types.writing import (
    ModelLimits as ModelLimits,
    OutputFormat as OutputFormat,
    Tool as Tool,
    ToolCall as ToolCall,
    ToolPassage as ToolPassage,
    ToolText as ToolText,
    Usage as Usage,
    WantedCall as WantedCall,
    Writing as Writing,
)
