//! Every statement, by the name of its operation. The files say what each does and why.

use crate::schema::statement;

macro_rules! statements {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(pub(super) const $name: &str = statement(include_str!(concat!("sql/", $file, ".sql")));)*

        /// Every file, so that a test can look at each.
        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$(($file, include_str!(concat!("sql/", $file, ".sql")))),*];
    };
}

statements! {
    ADD_COUNT = "add_count",
    ADD_FAILURE_TRENDS = "add_failure_trends",
    ADD_FAILURES = "add_failures",
    ADD_MINUTES = "add_minutes",
    ADVANCE_BATCH = "advance_batch",
    ANY_EDGE = "any_edge",
    CANCEL_WANTED = "cancel_wanted",
    CLOSE_KEY = "close_key",
    COUNTED_QUEUES = "counted_queues",
    DELETE_ASSIGNMENT = "delete_assignment",
    DELETE_ATTEMPTS = "delete_attempts",
    DELETE_DOCUMENT = "delete_document",
    DELETE_EDGES = "delete_edges",
    DELETE_FINAL = "delete_final",
    DELETE_JOB = "delete_job",
    DELETE_LOGS = "delete_logs",
    DELETE_PAYLOAD = "delete_payload",
    DELETE_SCHEDULE = "delete_schedule",
    DELETE_SESSION = "delete_session",
    END_JOB = "end_job",
    FINAL_TO_JOB = "final_to_job",
    FIND_ANSWER = "find_answer",
    FIND_ASSIGNMENTS = "find_assignments",
    FIND_EDGES = "find_edges",
    FIND_ENDED = "find_ended",
    FIND_FINAL = "find_final",
    FIND_FAILURE = "find_failure",
    FIND_FINAL_STATE = "find_final_state",
    FIND_GONE = "find_gone",
    FIND_HOLDER = "find_holder",
    FIND_INLINE_PAYLOAD = "find_inline_payload",
    FIND_JOB = "find_job",
    FIND_LAST_ATTEMPT = "find_last_attempt",
    FIND_LEASABLE = "find_leasable",
    FIND_LOG = "find_log",
    FIND_MINUTE = "find_minute",
    FIND_OCCURRENCE = "find_occurrence",
    FIND_PAYLOAD = "find_payload",
    FIND_QUEUE = "find_queue",
    FIND_SESSION = "find_session",
    FORGET_FAILURE_TRENDS = "forget_failure_trends",
    FORGET_FAILURES = "forget_failures",
    FORGET_OCCURRENCES = "forget_occurrences",
    FREE_UNIQUE_KEY = "free_unique_key",
    INSERT_ASSIGNMENT = "insert_assignment",
    INSERT_ATTEMPT = "insert_attempt",
    INSERT_EDGE = "insert_edge",
    INSERT_JOB = "insert_job",
    INSERT_PAYLOAD = "insert_payload",
    JOB_AGAIN = "job_again",
    JOB_IS_FINAL = "job_is_final",
    JOB_IS_LIVE = "job_is_live",
    LAST_ATTEMPT = "last_attempt",
    LIST_ATTEMPTS = "list_attempts",
    LIST_CHILDREN = "list_children",
    LIST_DOCUMENTS = "list_documents",
    LIST_FAILURE_TRENDS = "list_failure_trends",
    LIST_FAILURES = "list_failures",
    LIST_FINALS = "list_finals",
    LIST_FINALS_BY_STATE = "list_finals_by_state",
    LIST_JOBS = "list_jobs",
    LIST_LEASED_JOBS = "list_leased_jobs",
    LIST_MINUTES = "list_minutes",
    LIST_PARENTS = "list_parents",
    LIST_OCCURRENCES = "list_occurrences",
    LOAD_ASSIGNMENTS = "load_assignments",
    LOAD_CLOSED_KEYS = "load_closed_keys",
    LOAD_COUNTERS = "load_counters",
    LOAD_JOB = "load_job",
    LOAD_JOBS = "load_jobs",
    LOAD_KINDS = "load_kinds",
    LOAD_LAST_SEQ = "load_last_seq",
    LOAD_MARKS = "load_marks",
    LOAD_QUEUES = "load_queues",
    LOAD_SCHEDULES = "load_schedules",
    LOAD_SESSIONS = "load_sessions",
    OLDEST_FINALS = "oldest_finals",
    OPEN_KEY = "open_key",
    PAGE_JOBS = "page_jobs",
    PRUNE_ANSWERS = "prune_answers",
    PRUNE_CLOSED_KEYS = "prune_closed_keys",
    PRUNE_FAILURE_TRENDS = "prune_failure_trends",
    PRUNE_MINUTES = "prune_minutes",
    PRUNE_UNIQUE_KEYS = "prune_unique_keys",
    PUT_ANSWER = "put_answer",
    PUT_DOCUMENT = "put_document",
    PUT_HOLDER = "put_holder",
    PUT_KIND = "put_kind",
    PUT_LOG = "put_log",
    PUT_OCCURRENCE = "put_occurrence",
    PUT_MARK = "put_mark",
    PUT_QUEUE = "put_queue",
    PUT_SCHEDULE = "put_schedule",
    PUT_SESSION = "put_session",
    READ_FINAL_UNIQUE = "read_final_unique",
    READ_LEADER = "read_leader",
    READ_OUTCOMES = "read_outcomes",
    RUN_NOW = "run_now",
    SETTLE_EDGES = "settle_edges",
    SET_STANDING = "set_standing",
    TAKE_COUNT = "take_count",
    TAKE_MARK = "take_mark",
    TAKE_OVER = "take_over",
}

#[cfg(test)]
mod tests {
    use super::{ALL, statement};
    use crate::sqlite::migrate;

    fn empty() -> rusqlite::Connection {
        let mut conn = rusqlite::Connection::open_in_memory().unwrap();
        migrate::climb(&mut conn, migrate::latest()).unwrap();
        conn
    }

    #[test]
    fn every_statement_says_what_it_does_and_fits_the_schema() {
        let conn = empty();
        for (name, sql) in ALL {
            assert!(sql.starts_with("-- ") && !statement(sql).contains("--"), "{name}");
            conn.prepare(statement(sql)).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    /// A constraint or a clause may make SQLite build a table for each execution, which costs as much as the row.
    #[test]
    fn what_runs_once_per_job_builds_no_table_of_its_own() {
        let conn = empty();
        for sql in
            [super::FIND_LEASABLE, super::FIND_JOB, super::INSERT_JOB, super::END_JOB, super::DELETE_JOB]
        {
            let mut explain = conn.prepare(&format!("EXPLAIN {sql}")).unwrap();
            let steps = explain.raw_query().mapped(|row| row.get::<_, String>(1));
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert!(
                steps.len() > 3 && !steps.iter().any(|step| step.contains("Ephemeral")),
                "{sql}\n{steps:?}"
            );
        }
    }
}
