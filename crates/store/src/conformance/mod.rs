//! The suite that every store must pass: one claim per function, by theme.
//!
//! [`run`] takes a way to make an empty store. [`dump`] reads everything that a store tells, so that two
//! stores, or one before and after a restart, can be compared. [`election`] is for stores that several servers
//! share.

mod attempts;
mod behind;
mod brought;
mod dump;
pub mod election;
mod elsewhere;
mod finals;
mod joint;
mod leader;
mod ledgers;
mod lists;
mod live;
mod logs;
mod minutes;
mod parents;
mod removal;
mod schedules;
mod search;
mod sessions;
mod terms;

use std::pin::Pin;
use std::sync::Arc;

use crate::store::Store;

pub use dump::{Dump, dump};

/// A claim about stores, and what shows it.
struct Claim {
    name: &'static str,
    run: fn(Arc<dyn Store>) -> Story,
}

/// What is told of a claim.
pub type Story = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! claims {
    ($($theme:ident: $($claim:ident),* $(,)?;)*) => {
        [$($(Claim {
            name: concat!(stringify!($theme), "::", stringify!($claim)),
            run: |store| Box::pin($theme::$claim(store)),
        }),*),*]
    };
}

const CLAIMS: &[Claim] = &claims! {
    terms:
        a_term_is_larger_than_every_earlier_one_and_than_what_was_asked_for,
        a_deposed_leader_changes_nothing,
        two_terms_of_one_number_are_told_apart,
        a_number_is_applied_once_and_answered_again,
        an_unusual_answer_is_also_given_again,
        a_number_that_does_not_follow_is_refused,
        numbers_begin_again_with_each_term,
        a_refused_batch_leaves_no_trace_and_takes_no_number;
    behind:
        a_batch_builds_on_the_one_in_front_of_it,
        a_batch_waits_for_one_that_has_to_look_things_up,
        a_key_is_answered_alike_while_its_first_answer_is_under_way,
        a_batch_is_refused_with_the_one_in_front_of_it,
        a_batch_stands_although_the_one_behind_it_is_refused;
    ledgers:
        an_idempotency_key_gives_the_same_answer,
        an_idempotency_key_with_another_request_takes_nothing_in,
        an_idempotency_key_that_ran_out_is_new_again,
        idempotency_keys_of_two_callers_never_meet,
        a_unique_key_is_held_while_its_job_lives,
        two_jobs_of_one_submission_share_a_unique_key,
        a_unique_key_is_scoped_by_kind,
        success_holds_a_unique_key_as_long_as_asked,
        success_holds_a_unique_key_for_ever_if_asked,
        death_and_cancellation_free_a_unique_key,
        a_death_that_nobody_knows_about_holds_a_unique_key_like_success,
        replay_claims_a_unique_key_again,
        an_id_is_used_once;
    attempts:
        a_new_job_reads_back_whole,
        a_lease_makes_a_job_running_and_its_end_does_not,
        an_assignment_stays_until_its_last_lease_ended,
        a_failed_attempt_is_kept_and_the_job_waits,
        an_attempt_that_never_began_leaves_no_record,
        a_late_report_under_a_lost_lease_is_refused,
        a_job_has_one_lease,
        a_fence_only_grows,
        cancel_and_run_now_touch_only_live_jobs;
    joint:
        a_job_is_leased_in_the_batch_that_submits_it,
        a_refused_batch_keeps_neither_the_job_nor_its_lease,
        a_lease_of_a_submission_that_was_nothing_new_is_void,
        an_assignment_with_a_void_lease_goes_with_the_last_of_the_others,
        only_a_submission_before_it_in_the_batch_excuses_a_lease,
        a_job_that_exists_is_leased_by_its_own_rules_however_often_it_is_named;
    brought:
        what_comes_along_is_a_payload_that_is_wanted_and_leased,
        wanting_a_payload_excuses_no_lease;
    finals:
        a_final_job_keeps_everything,
        a_job_that_is_not_kept_is_forgotten,
        a_waiting_job_ends_without_an_attempt,
        a_leased_or_final_job_cannot_be_finished,
        replay_keeps_the_attempts_and_renews_the_allowance,
        replay_of_a_live_or_unknown_job_changes_nothing,
        large_payloads_survive_ending_and_replay,
        counters_equal_the_counted_rows,
        the_largest_sequence_outlives_its_job;
    removal:
        purge_removes_the_oldest_dead_of_one_queue,
        retention_removes_finished_jobs_before_dead_ones,
        retention_is_per_queue,
        retention_is_bounded_by_its_limit,
        ledger_entries_that_ran_out_are_pruned,
        removed_jobs_leave_no_attempts_or_logs;
    sessions:
        a_closed_session_stays_closed,
        a_claim_is_forgotten_when_closed,
        a_session_reads_back_whole,
        only_open_sessions_get_leases,
        a_session_cannot_be_closed_over_a_lease,
        queue_settings_read_back,
        a_closed_key_is_known_until_it_is_opened_or_its_time_has_passed,
        a_mark_is_known_until_its_own_lease_takes_it_off;
    elsewhere:
        kind_settings_read_back,
        a_kind_is_transactional_or_the_store_says_that_it_cannot_be,
        a_lease_remembers_that_it_is_transactional,
        a_transactional_lease_can_end_like_any_other,
        the_end_of_a_job_that_is_gone_is_answered_with_how_it_ended,
        a_row_that_is_not_in_the_inbox_was_taken_in_before;
    logs:
        a_log_is_kept_per_attempt_and_trimmed_at_its_bound,
        a_log_of_a_final_job_is_ignored;
    search:
        a_filter_finds_the_same_jobs_in_every_store,
        a_filter_pages_like_any_list,
        failures_are_counted_by_group_and_the_last_is_the_sample,
        failures_are_counted_over_time,
        what_was_counted_over_time_goes_with_its_age_and_its_group,
        groups_that_were_not_seen_for_long_are_forgotten,
        documents_are_kept_replaced_and_forgotten,
        deletion_removes_final_jobs_and_leaves_live_ones_alone;
    minutes:
        buckets_add_up_over_batches_and_minutes,
        what_was_nothing_new_is_not_counted,
        a_batch_that_is_refused_or_sent_again_counts_once_or_not_at_all,
        a_timeline_is_narrowed_by_queue_and_kind,
        old_minutes_are_forgotten_the_oldest_first;
    parents:
        a_blocked_job_is_shown_as_such_until_it_is_released,
        a_blocked_job_can_end,
        a_parent_that_is_not_there_takes_nothing_in,
        parents_that_are_final_settle_their_edges_at_once,
        a_duplicate_parent_stands_for_the_job_that_holds_its_key,
        an_edge_is_settled_by_its_policy_and_once,
        a_leader_that_begins_knows_who_waits_for_whom,
        an_edge_is_settled_in_the_order_of_the_batch,
        an_edge_is_known_as_long_as_its_child,
        related_jobs_come_in_pages;
    live:
        live_jobs_come_in_pages_by_id,
        a_page_says_at_which_batch_of_which_term_it_was_read,
        a_page_has_the_leases_and_the_edges_of_its_own_jobs,
        what_is_sought_and_not_live_is_told_with_its_end;
    schedules:
        a_schedule_reads_back_whole_and_goes_with_its_ledger,
        an_occurrence_is_written_with_its_job_and_fires_once,
        a_row_moves_only_as_the_ledger_allows,
        a_firing_that_is_sent_again_is_answered_the_same,
        a_unique_key_in_the_way_is_told_in_the_ledger,
        a_refused_batch_leaves_the_ledger_alone,
        a_ledger_pages_and_is_forgotten_up_to_an_instant;
    lists:
        a_list_is_newest_first_and_pages_by_key,
        the_last_page_says_so,
        each_filter_holds_alone_and_with_others,
        states_follow_the_lease_and_the_clock,
        final_states_are_listed_apart,
        payloads_come_in_the_order_asked_for;
};

/// Shows every claim on a store of its own.
///
/// # Panics
/// If a claim does not hold; its name is printed.
pub async fn run(make: impl Fn() -> Arc<dyn Store>) {
    for claim in CLAIMS {
        let failed = NameOnPanic(claim.name);
        (claim.run)(make()).await;
        std::mem::forget(failed);
    }
}

/// Leads an empty store through a bit of everything, and leaves it with live, leased and final jobs, ledgers,
/// sessions and settings. For tests of what survives.
///
/// # Panics
/// If the store refuses any of it.
pub async fn live_through(store: Arc<dyn Store>) {
    dump::live_through(store).await;
}

/// Says which claim did not hold.
struct NameOnPanic(&'static str);

impl Drop for NameOnPanic {
    fn drop(&mut self) {
        #[expect(clippy::print_stderr, reason = "a failing test tells where it was")]
        {
            eprintln!("the claim that failed: {}", self.0);
        }
    }
}
