//! Seeded bugs, so that the simulator can show that it bites.
//!
//! Each variant names a way in which an earlier draft of the protocol was wrong, or could be. With
//! the cargo feature `sabotage` a test may switch one on for its thread; without it (what ships)
//! [`active`] is the constant `false` and the compiler removes every trace.

/// A deliberate mistake in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// The worker counts its TTL from the receipt of the answer instead of the sending of the ping.
    TtlFromReceipt,
    /// A session's jobs move before its expiry is committed.
    ExpiryBeforeCommit,
    /// After a takeover the leader waits only `session_ttl` for sessions to resume.
    ShortTakeoverWait,
    /// A result is matched by job id alone.
    CompletionByJobId,
    /// Welcome and pong are sent without authority.
    AnswerWithoutAuthority,
    /// The store does not check the term of a batch.
    NoTermGuard,
    /// The worker accepts assignments that arrive on an older stream.
    OldStreamAccepted,
    /// The leader adds no slack to the session's deadline.
    ZeroSlack,
    /// The new leader loads before its term is bumped.
    LoadBeforeBump,
    /// An assignment is sent before it is committed.
    AssignBeforeCommit,
    /// An old hello moves a session's deadline earlier.
    DeadlineMovedEarlier,
    /// A batch of unknown outcome is dropped because its number was not there yet.
    UnknownBatchDropped,
    /// The refusal of a batch sent again is taken for a no although an earlier copy may still be written.
    RefusalAfterUnknownTakenForNo,
    /// The refusal of a batch is taken for a no although one that was sent after it may still be written.
    LaterBatchForgotten,
    /// When a batch is refused, one that was sent after it is still thought to be on its way.
    LaterBatchAwaited,
    /// The store advances the batch number without comparing it.
    BlindBatchNumber,
    /// The takeover wait is counted from the sending of the bump, not from its answer.
    WaitFromBumpSent,
    /// Expiry forgets the leases whose assignment is still being committed.
    ExpiryForgetsInFlight,
    /// The worker accepts a term lower than one it has accepted.
    LowerTermAccepted,
    /// The worker recognises only fences that are running, not held or ended ones.
    OnlyRunningFencesKnown,
    /// A client is told yes before the commit.
    AckBeforeCommit,
    /// A lost attempt is not counted.
    LostNotCounted,
    /// A lease that is written with its job's submission is told to the worker before that commit.
    JointLeaseToldEarly,
    /// When a submission is refused, the lease that was written with it is kept, and written again alone.
    JointLeaseKept,
    /// What the audit log tells of a change is written although the store refused the change.
    AuditOfNothing,
    /// A job whose submission turned out a duplicate runs under the lease that was written with it.
    DuplicateRuns,
    /// A job is known by its id before the commit that takes it in.
    ProvisionalIsSeen,
    /// The end of a lease stays decided although its job turned out never to have been.
    EndOfVanishedKept,
    /// What was decided is handed over although a job that it concerns may turn out never to have been.
    NothingTakenBack,
    /// A failure is counted although its job, and so the end of its attempt, turned out never to have been.
    FailureOfVanishedKept,
    /// A bulk operation acts upon jobs before it is durable that it will.
    OperationUnplanned,
    /// A bulk operation takes a job that ended again for one that it has not replayed yet.
    OperationWithoutBoundary,
    /// The store ends a job for its handler without comparing the fence.
    CompleteByJobId,
    /// A job that its handler had ended goes on as the leader thought it would.
    EndedElsewhereRunsAgain,
    /// The store takes in a row of its inbox that is gone already.
    InboxRowTwice,
    /// A submission that was nothing new, and its lease, count in the statistics all the same.
    NothingNewIsCounted,
    /// What a refused batch counted for is counted again when it is written.
    RefusedIsCounted,
    /// A new leader does not count the leases that it loads against the limits.
    RunningNotRestored,
    /// The end of a lease is counted when it is decided, and again when it is durable.
    EndCountedTwice,
    /// A lease that never was goes on counting against the limits.
    VanishedStillCounts,
    /// A new leader does not know which keys are closed.
    ClosedKeyForgotten,
    /// A handler that closes its key closes it in memory alone.
    ClosedInMemoryOnly,
    /// An attempt whose handler closed its key counts as failed.
    ThrottledBurnsAttempt,
    /// A lease counts against the limits only once it is durable.
    LeaseCountedLate,
    /// A queue that started a job keeps its turn, so that its backlog is run before the jobs of other queues.
    QueuesTakeNoTurns,
    /// The end of any attempt of a parent settles its edges, also where the parent goes on.
    SettledByAnyAttempt,
    /// A new leader does not know the edges of blocked jobs.
    EdgesNotLoaded,
    /// Parents that ended while nobody led, or too late for the leader to write it, are not noticed.
    EndedParentsNotNoticed,
    /// The store writes a row of the firing ledger over one that says that it was fired.
    LedgerNotAsked,
    /// How far a schedule is settled is kept in memory only.
    SettledOnlyInMemory,
    /// A schedule submits its job without a row in the ledger.
    FiredWithoutRow,
    /// A schedule fires half a second before its instant.
    FiredEarly,
    /// Occurrences that the misfire rule does not fire leave no row.
    MissedForgotten,
    /// The occurrence that waits for a job to end is kept in memory only.
    WaitingOnlyInMemory,
    /// An attempt is told that its mark stands before that is written.
    MarkToldEarly,
    /// A handler gets a mark for a lease that it has lost.
    MarkWithoutLease,
    /// A new leader does not know the marks of the leases that it loads.
    MarkNotLoaded,
    /// A marked attempt that fails, or is lost, is tried again like any other.
    MarkedRunsAgain,
    /// The mark of an attempt is taken off before its end is written.
    MarkTakenOffFirst,
    /// Memory is compared with a page although its jobs are in the batch that was being written when it was asked for.
    PageForgetsInFlight,
    /// Memory is compared with a page although its jobs are in a batch that was handed over since.
    PageForgetsLater,
    /// Memory is compared with a page although something is decided about its jobs that is not handed over yet.
    PageForgetsForming,
    /// Memory is compared with a page that shows the work of another leader.
    PageOfAnotherTerm,
    /// Memory is compared with a page that is older than the last batch.
    PageOlderThanBatch,
    /// A blocked job that is repaired comes back without its edges.
    RepairDropsEdges,
    /// A job goes on waiting for a parent that was removed.
    PurgedParentAwaited,
    /// A new leader takes the buckets of rates for full.
    RateFullAtTakeover,
    /// Submissions that are being written do not count for the depth of their queue.
    IncomingNotCounted,
    /// A lease takes no token of the rate of its key.
    KeyTokenNotTaken,
    /// A submission that has waited for room long enough is let in, although there is none.
    HeldForcedIn,
}

impl Bug {
    /// Every seeded bug, so that a test can require each to be caught.
    pub const ALL: [Bug; 70] = [
        Bug::TtlFromReceipt,
        Bug::ExpiryBeforeCommit,
        Bug::ShortTakeoverWait,
        Bug::CompletionByJobId,
        Bug::AnswerWithoutAuthority,
        Bug::NoTermGuard,
        Bug::OldStreamAccepted,
        Bug::ZeroSlack,
        Bug::LoadBeforeBump,
        Bug::AssignBeforeCommit,
        Bug::DeadlineMovedEarlier,
        Bug::UnknownBatchDropped,
        Bug::RefusalAfterUnknownTakenForNo,
        Bug::LaterBatchForgotten,
        Bug::LaterBatchAwaited,
        Bug::BlindBatchNumber,
        Bug::WaitFromBumpSent,
        Bug::ExpiryForgetsInFlight,
        Bug::LowerTermAccepted,
        Bug::OnlyRunningFencesKnown,
        Bug::AckBeforeCommit,
        Bug::LostNotCounted,
        Bug::JointLeaseToldEarly,
        Bug::JointLeaseKept,
        Bug::AuditOfNothing,
        Bug::DuplicateRuns,
        Bug::ProvisionalIsSeen,
        Bug::EndOfVanishedKept,
        Bug::NothingTakenBack,
        Bug::FailureOfVanishedKept,
        Bug::OperationUnplanned,
        Bug::OperationWithoutBoundary,
        Bug::CompleteByJobId,
        Bug::EndedElsewhereRunsAgain,
        Bug::InboxRowTwice,
        Bug::NothingNewIsCounted,
        Bug::RefusedIsCounted,
        Bug::RunningNotRestored,
        Bug::EndCountedTwice,
        Bug::VanishedStillCounts,
        Bug::ClosedKeyForgotten,
        Bug::ClosedInMemoryOnly,
        Bug::ThrottledBurnsAttempt,
        Bug::LeaseCountedLate,
        Bug::QueuesTakeNoTurns,
        Bug::SettledByAnyAttempt,
        Bug::EdgesNotLoaded,
        Bug::EndedParentsNotNoticed,
        Bug::LedgerNotAsked,
        Bug::SettledOnlyInMemory,
        Bug::FiredWithoutRow,
        Bug::FiredEarly,
        Bug::MissedForgotten,
        Bug::WaitingOnlyInMemory,
        Bug::MarkToldEarly,
        Bug::MarkWithoutLease,
        Bug::MarkNotLoaded,
        Bug::MarkedRunsAgain,
        Bug::MarkTakenOffFirst,
        Bug::PageForgetsInFlight,
        Bug::PageForgetsLater,
        Bug::PageForgetsForming,
        Bug::PageOfAnotherTerm,
        Bug::PageOlderThanBatch,
        Bug::RepairDropsEdges,
        Bug::PurgedParentAwaited,
        Bug::RateFullAtTakeover,
        Bug::IncomingNotCounted,
        Bug::KeyTokenNotTaken,
        Bug::HeldForcedIn,
    ];
}

#[cfg(feature = "sabotage")]
mod switch {
    use super::Bug;
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Switches one bug on for this thread, or all off.
    pub fn set(bug: Option<Bug>) {
        ACTIVE.with(|a| a.set(bug));
    }

    /// Whether this bug is switched on for this thread.
    #[must_use]
    pub fn active(bug: Bug) -> bool {
        ACTIVE.with(|a| a.get() == Some(bug))
    }
}

#[cfg(feature = "sabotage")]
pub use switch::{active, set};

/// Whether this bug is switched on: never, in what ships.
#[cfg(not(feature = "sabotage"))]
#[must_use]
pub const fn active(_bug: Bug) -> bool {
    false
}
