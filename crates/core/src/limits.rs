//! The bounds on everything a client can send. Each is tested at the bound and one past it.

use std::time::Duration;

/// Longest name of a queue or a kind, in bytes.
pub const NAME_BYTES: usize = 128;
/// Largest payload, in bytes of JSON text.
pub const PAYLOAD_BYTES: usize = 1 << 20;
/// Largest result; a larger one ends the attempt as fatal `result_too_large`.
pub const RESULT_BYTES: usize = 1 << 20;
/// Longest error text kept; longer ones are truncated.
pub const ERROR_BYTES: usize = 64 << 10;
/// Log text kept of one attempt: the last so many bytes.
pub const LOG_BYTES: usize = 64 << 10;
/// Deepest nesting of JSON in a payload.
pub const JSON_DEPTH: usize = 64;
/// Most jobs in one batch submission.
pub const BATCH_JOBS: usize = 1_000;
/// Largest batch submission, in bytes.
pub const BATCH_BYTES: usize = 4 << 20;
/// Most rows of the store's inbox that are taken in at a time.
pub const INBOX_ROWS: usize = 1_000;
/// Most parents of a job.
pub const DEPENDENCIES: usize = 1_000;
/// Most parents that the jobs of one request name in all.
pub const DEPENDENCIES_OF_A_REQUEST: usize = 10_000;
/// Most tags of a job.
pub const TAGS: usize = 32;
/// Longest tag, in bytes.
pub const TAG_BYTES: usize = 128;
/// Most labels of a worker, or required by a job.
pub const LABELS: usize = 32;
/// Longest label name or value, in bytes.
pub const LABEL_BYTES: usize = 128;
/// Longest unique key or idempotency key, in bytes.
pub const KEY_BYTES: usize = 256;
/// Largest weight of a job's `fair_key`; the smallest is 1.
pub const FAIR_WEIGHT: u16 = 1_000;
/// Largest `weight` of a queue.
pub const QUEUE_WEIGHT: u16 = 1_000;
/// Largest `max_running` of a queue or of its keys.
pub const MAX_RUNNING: u32 = 1_000_000;
/// Largest number of starts, and largest burst, of a rate.
pub const RATE: u32 = 1_000_000;
/// Shortest period of a rate.
pub const RATE_PERIOD: Duration = Duration::from_millis(1);
/// Largest `max_depth` of a queue or of its keys.
pub const MAX_DEPTH: u32 = 1_000_000_000;
/// Longest time for which a submission to a full queue is held.
pub const HELD_FOR: Duration = Duration::from_secs(30);
/// Most submissions that are held at a time, of all queues together.
pub const HELD_SUBMISSIONS: usize = 1_024;
/// Shortest wait that may be worth one priority.
pub const AGEING: Duration = Duration::from_millis(100);
/// Most keys that are closed at a time, of all queues together.
pub const CLOSED_KEYS: usize = 10_000;
/// Longest W3C `traceparent`, in bytes.
pub const TRACE_BYTES: usize = 1_024;
/// Longest W3C `tracestate`, in bytes: as much as the standard asks everybody to carry on.
pub const TRACESTATE_BYTES: usize = 512;
/// Most threads of a job or of a worker.
pub const THREADS: u16 = 1_024;
/// Most attempts a job may be allowed.
pub const ATTEMPTS: u32 = 1_000;
/// Longest delay between attempts, timeout or uniqueness window.
pub const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// A uniqueness window without an end: 10,000 years, the longest duration that the wire can carry.
pub const FOREVER: Duration = Duration::from_secs(315_576_000_000);
/// Longest address that a mail can be sent to (RFC 5321: a path of 256, without its brackets).
pub const MAIL_ADDRESS_BYTES: usize = 254;
/// Longest name of a person who gets a mail.
pub const MAIL_NAME_BYTES: usize = 256;
/// Most queues or kinds one worker may name.
pub const WORKER_NAMES: usize = 256;
/// Jobs shown of the head of a queue when the caller does not say.
pub const HEAD_DEFAULT: usize = 20;
/// Most jobs shown of the head of a queue.
pub const HEAD_MAX: usize = 100;
/// Most jobs that are remembered of a worker that left.
pub const LEFT_JOBS: usize = 100;
/// Rows of a page when the caller does not say.
pub const PAGE_DEFAULT: usize = 50;
/// Most rows of a page.
pub const PAGE_MAX: usize = 500;
/// Rows that a list without a fitting index looks at before it says `complete: false`.
pub const SCAN_ROWS: usize = 100_000;
/// Most final jobs that are removed at once by name.
pub const DELETED_AT_ONCE: usize = 500;
/// Most jobs that a bulk operation can name one by one.
pub const OPERATION_IDS: usize = 1_000;
/// Jobs of a bulk operation that are acted upon at a time.
pub const OPERATION_CHUNK: usize = 250;
/// Most jobs per second of a bulk operation.
pub const OPERATION_RATE: u32 = 10_000;
/// Jobs per second of a bulk operation that does not say.
pub const OPERATION_RATE_DEFAULT: u32 = 500;
/// Most bulk operations under way at a time.
pub const OPERATIONS_RUNNING: usize = 16;
/// Bulk operations that are remembered after they are over.
pub const OPERATIONS_KEPT: usize = 200;
/// Longest reason of a bulk operation, and longest description of a saved view, in bytes.
pub const REMARK_BYTES: usize = 1_024;
/// Most intervals of a histogram.
pub const HISTOGRAM_BUCKETS: usize = 500;
/// Intervals of a histogram when the caller does not say.
pub const HISTOGRAM_BUCKETS_DEFAULT: usize = 60;
/// Longest time that final jobs are kept for, other than for ever.
pub const KEPT: Duration = Duration::from_secs(3_660 * 86_400);
/// How long an idempotency key is remembered.
pub const IDEMPOTENCY_KEPT: Duration = Duration::from_secs(24 * 3600);
/// How far ahead of the leader's term the highest term of a worker may be. Terms grow by one at each
/// takeover: whoever is further ahead was never told so by a leader, and must not use up the numbers.
pub const TERMS_AHEAD: u64 = 1_000_000;
/// Jobs that are looked for by id in one step of comparing memory with the store.
pub const SOUGHT_AT_ONCE: usize = 256;
/// Places in memory that are looked at in one step for jobs that no page showed.
pub const SWEPT_AT_ONCE: usize = 65_536;
/// Most schedules.
pub const SCHEDULES: usize = 10_000;
/// Largest payload of a schedule's job, in bytes: those of all schedules are kept in memory.
pub const SCHEDULE_PAYLOAD_BYTES: usize = 64 << 10;
/// Longest cron expression, in bytes.
pub const CRON_BYTES: usize = 256;
/// Shortest interval of a schedule.
pub const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// Longest jitter of a schedule.
pub const JITTER: Duration = Duration::from_secs(24 * 3600);
/// An occurrence that is fired no later than this is on time.
pub const ON_TIME: Duration = Duration::from_secs(60);
/// Most missed occurrences that a schedule makes up for at once.
pub const CATCH_UP: usize = 100;
/// The oldest of those, at most.
pub const CATCH_UP_WITHIN: Duration = Duration::from_secs(7 * 24 * 3600);
/// Instants of one schedule that are looked at in one step.
pub const INSTANTS_AT_ONCE: usize = 10_000;
/// Occurrences skipped in one step that have a row each; the older ones share one.
pub const SKIPPED_ROWS: usize = 100;
/// Schedules that fire in one step.
pub const FIRED_AT_ONCE: usize = 1_000;
/// Most occurrences of one backfill.
pub const BACKFILL: usize = 1_000;
/// Most instants that are shown ahead.
pub const UPCOMING: usize = 1_000;
/// How long the ledger of a schedule reaches back.
pub const LEDGER_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// And over how many instants, about.
pub const LEDGER_ROWS: u32 = 10_000;
/// Most leases in one assignment message.
pub const ASSIGN_LEASES: usize = 256;
/// Most results in one message from a worker.
pub const RESULTS_PER_MESSAGE: usize = 64;
/// Leases given to one worker beyond its threads, for kinds that are over in milliseconds. A round trip is two
/// commits; with fewer leases under way than could end in that time, the worker would wait for the disk.
pub const PREFETCH: u16 = 1_024;
/// Leases given to all workers of one sort together beyond their threads, unless [`PREFETCH_EACH`] lets each have more. What ends in the time of two commits depends on the store, not
/// on how many workers there are; and the more leases are under way, the farther apart are the rows of those that end together.
pub const PREFETCH_TOGETHER: usize = 4_096;
/// Leases that a worker may be given ahead however many workers are alike, if its even share of the jobs is as large.
pub const PREFETCH_EACH: usize = 64;
/// Queues and kinds that have buckets of their own in one minute; the rest is counted together.
pub const MINUTE_SERIES: usize = 500;
/// How long the buckets of a minute are kept.
pub const MINUTES_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Most points of a timeline.
pub const TIMELINE_POINTS: usize = 1_000;
/// Most lines of a timeline; the rest is one more.
pub const TIMELINE_SERIES: usize = 20;
/// Buckets that are looked at for a timeline before it says `complete: false`.
pub const TIMELINE_ROWS: usize = 200_000;
/// Most queues, or patterns of queues, that a caller is confined to.
pub const SCOPE_GLOBS: usize = 32;
/// Most logins of a user at a time.
pub const LOGINS: usize = 5;
/// A login that is not refreshed for so long is over.
pub const LOGIN_IDLE: Duration = Duration::from_secs(7 * 24 * 3600);
/// No login lasts longer.
pub const LOGIN_LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long an access token lasts.
pub const ACCESS_LASTS: Duration = Duration::from_secs(15 * 60);
/// How far the clocks of those who make access tokens may differ from ours.
pub const ACCESS_SKEW: Duration = Duration::from_secs(60);
/// Longest access token, in bytes.
pub const ACCESS_BYTES: usize = 8 << 10;
/// Shortest secret that access tokens are signed with, in bytes.
pub const ACCESS_SECRET_BYTES: usize = 32;
/// Shortest and longest password, in bytes.
pub const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 12..=1_024;
/// Failed logins that cost nothing.
pub const FREE_FAILURES: u32 = 5;
/// Failures are forgotten after this.
pub const FAILURES_KEPT: Duration = Duration::from_secs(15 * 60);
/// Addresses, or names, whose failures are remembered.
pub const FAILURES: usize = 10_000;
/// The longest wait after failed logins from one address.
pub const ADDRESS_WAITS: Duration = Duration::from_secs(300);
/// The longest wait after failed logins of one user: others must not be able to lock him out for long.
pub const USER_WAITS: Duration = Duration::from_secs(30);
/// Users, each with an address, whose logins there are remembered so that others cannot lock them out.
pub const LOGIN_PLACES: usize = 1_000;
/// Most entries of the audit log; the oldest are forgotten, a few hundred at a time.
pub const AUDIT_ENTRIES: usize = 10_000;
/// Most streams of live events at a time, of all callers together.
pub const EVENT_STREAMS: usize = 256;
/// Longest name of a worker in its certificate, in bytes.
pub const CERTIFICATE_NAME_BYTES: usize = 255;
/// Most requests per second that a token can be given.
pub const TOKEN_RATE: u32 = 1_000_000;
