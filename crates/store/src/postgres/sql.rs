//! Every statement, by the name of its operation. The files say what each does and why.

/// One statement, and the name of its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sql {
    /// The operation, which is also how a prepared statement is found.
    pub(super) name: &'static str,
    /// Without its opening comment.
    pub(super) text: &'static str,
}

macro_rules! statements {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(pub(super) const $name: Sql =
            Sql { name: $file, text: statement(include_str!(concat!("sql/", $file, ".sql"))) };)*
    };
}

/// A file without its opening comment.
const fn statement(file: &'static str) -> &'static str {
    let bytes = file.as_bytes();
    let mut at = 0;
    while bytes[at] == b'-' {
        while bytes[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    file.split_at(at).1
}

statements! {
    ADVANCE_BATCH = "advance_batch",
    ANNOUNCE = "announce",
    ASSERT_TERM = "assert_term",
    AWAIT_TERM = "await_term",
    BEGIN_BATCH = "begin_batch",
    BEGIN_TERM = "begin_term",
    CLOSE_SESSIONS = "close_sessions",
    COPY_JOBS = "copy_jobs",
    COUNTED_DAYS = "counted_days",
    DELETE_ASSIGNMENTS = "delete_assignments",
    DROP_DAY = "drop_day",
    DROP_EMPTY_DAY = "drop_empty_day",
    END_DEAD_JOBS = "end_dead_jobs",
    END_GUARDS = "end_guards",
    END_JOBS = "end_jobs",
    END_SWEEP = "end_sweep",
    EXPECT_LEASABLE = "expect_leasable",
    EXPECT_NO_FINALS = "expect_no_finals",
    FIND_ASSIGNMENTS = "find_assignments",
    FIND_FINALS = "find_finals",
    FIND_JOBS = "find_jobs",
    FIND_LAST_ATTEMPT = "find_last_attempt",
    FIND_LOG = "find_log",
    FIND_PAYLOADS = "find_payloads",
    FORGET_JOBS = "forget_jobs",
    FORGET_SESSIONS = "forget_sessions",
    INSERT_ASSIGNMENTS = "insert_assignments",
    INSERT_JOBS = "insert_jobs",
    INSERT_PAYLOADS = "insert_payloads",
    JOBS_AGAIN = "jobs_again",
    KNOW_ANSWERS = "know_answers",
    KNOW_CLOSED = "know_closed",
    KNOW_FINALS = "know_finals",
    KNOW_HOLDERS = "know_holders",
    KNOW_JOBS = "know_jobs",
    KNOW_LOGS = "know_logs",
    LARGEST_ID = "largest_id",
    LAST_FENCES = "last_fences",
    LIST_ATTEMPTS = "list_attempts",
    LIST_DAYS = "list_days",
    LIST_SERVERS = "list_servers",
    LOAD_ASSIGNMENTS = "load_assignments",
    LOAD_COUNTERS = "load_counters",
    LOAD_JOBS = "load_jobs",
    LOAD_LAST_SEQ = "load_last_seq",
    LOAD_QUEUES = "load_queues",
    LOAD_SESSIONS = "load_sessions",
    LOCK_GUARD = "lock_guard",
    LOCK_TERM = "lock_term",
    LOOK_LEADER = "look_leader",
    MAKE_DAYS = "make_days",
    MOVE_JOBS = "move_jobs",
    OLDEST_DEAD = "oldest_dead",
    OLDEST_HISTORY = "oldest_history",
    OPEN_SESSIONS = "open_sessions",
    PATCH_JOBS = "patch_jobs",
    PRUNE_ANSWERS = "prune_answers",
    PRUNE_COUNTERS = "prune_counters",
    PRUNE_UNIQUE_KEYS = "prune_unique_keys",
    PUT_ANSWERS = "put_answers",
    PUT_ATTEMPTS = "put_attempts",
    PUT_HOLDERS = "put_holders",
    PUT_LOGS = "put_logs",
    PUT_QUEUES = "put_queues",
    PUT_SWEEP = "put_sweep",
    READ_BATCH = "read_batch",
    READ_SETTINGS = "read_settings",
    READ_SWEEP = "read_sweep",
    REMOVE_FINALS = "remove_finals",
    RENEW = "renew",
    RESIGN = "resign",
    REVIVE_JOBS = "revive_jobs",
    SCAN_CANCELLED = "scan_cancelled",
    SCAN_DEAD = "scan_dead",
    SCAN_HISTORY = "scan_history",
    SCAN_JOBS = "scan_jobs",
    SCAN_LEASED = "scan_leased",
    SHOW_LEADER = "show_leader",
    SWEEP_TRACES = "sweep_traces",
    UNLOCK_TERM = "unlock_term",
    WAL_POSITION = "wal_position",
    WITHDRAW = "withdraw",
}

/// What the connection that writes batches needs, prepared when it opens so that no batch waits for it.
pub(super) const WRITES: &[Sql] = &[
    ADVANCE_BATCH,
    ASSERT_TERM,
    BEGIN_BATCH,
    CLOSE_SESSIONS,
    COPY_JOBS,
    COUNTED_DAYS,
    DELETE_ASSIGNMENTS,
    DROP_DAY,
    DROP_EMPTY_DAY,
    END_DEAD_JOBS,
    END_JOBS,
    END_SWEEP,
    EXPECT_LEASABLE,
    EXPECT_NO_FINALS,
    FORGET_JOBS,
    FORGET_SESSIONS,
    INSERT_ASSIGNMENTS,
    INSERT_JOBS,
    INSERT_PAYLOADS,
    JOBS_AGAIN,
    KNOW_ANSWERS,
    KNOW_CLOSED,
    KNOW_FINALS,
    KNOW_HOLDERS,
    KNOW_JOBS,
    KNOW_LOGS,
    LARGEST_ID,
    LAST_FENCES,
    LIST_DAYS,
    LOAD_ASSIGNMENTS,
    LOAD_QUEUES,
    LOAD_SESSIONS,
    MAKE_DAYS,
    OLDEST_DEAD,
    OLDEST_HISTORY,
    OPEN_SESSIONS,
    PATCH_JOBS,
    PRUNE_ANSWERS,
    PRUNE_COUNTERS,
    PRUNE_UNIQUE_KEYS,
    PUT_ANSWERS,
    PUT_ATTEMPTS,
    PUT_HOLDERS,
    PUT_LOGS,
    PUT_QUEUES,
    PUT_SWEEP,
    READ_BATCH,
    READ_SWEEP,
    REMOVE_FINALS,
    REVIVE_JOBS,
    SWEEP_TRACES,
];
