//! The JSON of the REST API: what travels in each body, both ways.
//!
//! The server writes these types and reads the requests among them field by field (so that every
//! mistake is named at once); the command line reads them back. Names are `snake_case`, moments are
//! RFC 3339 in UTC, durations are humane texts (`"1h30m"`) where a person sets them and whole
//! milliseconds (`…_ms`) where they were measured.

mod access;
mod audit;
mod claim;
mod cluster;
pub mod duration;
mod explain;
mod failure;
mod head;
mod job;
mod job_events;
mod kind;
mod limits;
mod operation;
mod problem;
mod queue;
mod related;
mod scaling;
mod schedule;
mod search;
mod stats;
mod submit;
mod system;
mod timeseries;
mod worker;

pub use access::{
    LoggedInBody, LoginRequest, LogoutRequest, PasswordRequest, RefreshRequest, TokenBody, TokenRequest,
    TokensBody, UserBody, UserRequest, UsersBody, WhoBody,
};
pub use audit::{AuditBody, AuditEntryBody};
pub use claim::{
    ClaimRequest, CompleteRequest, ExtendRequest, FailRequest, LogRequest, ProgressRequest, ReleaseRequest,
};
pub use cluster::{ClusterBody, LeaderBody, RoleName, ServerBody};
pub use duration::{HumanDuration, Timeout};
pub use explain::{ExplainBody, GateBody, PositionBody, QueueAheadBody};
pub use failure::{FailureBody, FailuresBody, GroupRequest, RecentBody, WindowBody};
pub use head::{HeadBody, HeadJobBody};
pub use job::{
    AttemptBody, AttemptsBody, CancelBody, JobBody, JobPage, ProgressBody, RetryBody, ScanBody, ScanMode,
};
pub use job_events::{JobEventBody, JobEventsBody};
pub use kind::{KindBody, KindPut, KindsBody};
pub use limits::{
    AgeingBody, KeyBody, KeyClose, KeysBody, OrNone, QueueLimitsBody, QueueLimitsPut, RateError, RateText,
};
pub use operation::{OperationBody, OperationRequest, OperationsBody, PreviewBody};
pub use problem::{FieldProblem, ProblemBody};
pub use queue::{
    CountsBody, KeepBody, PurgeBody, QueueBody, QueuePut, QueuesBody, RetentionBody, RetentionPut,
};
pub use related::{RelatedBody, RelatedPage, RelationsBody};
pub use scaling::ScalingBody;
pub use schedule::{
    BackfillRequest, FiredBody, InstantBody, OccurrenceBody, OccurrencesBody, OriginBody, ScheduleBody,
    SchedulePreview, ScheduleRequest, ScheduleStatus, SchedulesBody, UpcomingBody,
};
pub use search::{BucketBody, HistogramBody, ViewBody, ViewPut, ViewsBody};
pub use stats::{
    CapabilitiesBody, CheckBody, FindingBody, KindStatsBody, LimitsBody, ReadyBody, StatsBody, VerdictBody,
};
pub use submit::{
    BatchBody, BatchRequest, BatchResult, BatchSummary, Durability, ImportBody, ImportError, NewJobRequest,
    ParentRequest, RetryRequest, SubmittedBody,
};
pub use system::{SettingBody, SystemBody, SystemRetentionBody, SystemStoreBody};
pub use timeseries::{FigureBody, Metric, PointBody, SeriesBody, TimeseriesBody};
pub use worker::{HeldBody, LeaseBody, LeftBody, WorkerBody, WorkersBody};
