//! What `ganger top` knows and shows. No terminal and no network: [`super::update`] changes it, [`super::view`] draws it.

use std::time::Duration;

use ganger_core::{JobId, Wall};
use ganger_server::api::{
    AttemptsBody, ExplainBody, FailureBody, JobBody, JobPage, OperationBody, QueueBody, ScheduleBody,
    StatsBody, WorkerBody,
};
use jiff::tz::TimeZone;

use super::action::Action;
use super::fetch::Fetch;
use super::pace::Pace;
use super::theme::Theme;

/// Refresh intervals that `+` and `-` step through.
pub(super) const REFRESH: [Duration; 6] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];
/// The usual one.
const USUAL: usize = 2;
/// So long a lost connection counts as about to come back.
const HOPE: Duration = Duration::from_secs(3);
/// What is older than this, and than three refreshes, is not called live.
const FRESH: Duration = Duration::from_secs(5);
/// Steps back that are remembered.
pub(super) const STEPS_BACK: usize = 32;

/// What can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Queues,
    Jobs,
    Failures,
    Workers,
    Schedules,
    Operations,
}

impl View {
    pub(super) const ALL: [View; 6] =
        [View::Queues, View::Jobs, View::Failures, View::Workers, View::Schedules, View::Operations];

    /// Its name on the tab.
    pub(super) const fn title(self) -> &'static str {
        match self {
            View::Queues => "Queues",
            View::Jobs => "Jobs",
            View::Failures => "Failures",
            View::Workers => "Workers",
            View::Schedules => "Schedules",
            View::Operations => "Operations",
        }
    }

    /// Its place among the tabs.
    pub(super) fn place(self) -> usize {
        View::ALL.iter().position(|view| *view == self).unwrap_or(0)
    }
}

/// Two clocks, read together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    /// Since the start.
    pub(super) since_start: Duration,
    /// The time of day.
    pub(super) wall: Wall,
}

/// How the stream of events is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Not yet there.
    Connecting,
    /// Events come.
    Open,
    /// It broke, or was never made, since then.
    Broken { since: Duration, why: String },
    /// The server will not give it.
    Refused(String),
}

/// Whether what is shown is how things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Connecting,
    Live,
    /// The stream is away, but questions are answered.
    Polling,
    /// Connected, but nothing was heard for too long.
    Stale,
    Reconnecting,
    Offline,
    Refused,
}

/// What the keys mean at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Normal,
    /// A filter is being typed.
    Filter(String),
    /// A command is being typed.
    Command(String),
    /// Something would be changed: yes or no.
    Confirm(Action),
    Help,
}

/// What is shown of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sheet {
    Overview,
    Explain,
    Log,
}

/// One job, opened.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) id: JobId,
    pub(super) sheet: Sheet,
    pub(super) scroll: usize,
    pub(super) job: Option<Box<JobBody>>,
    pub(super) attempts: Option<AttemptsBody>,
    pub(super) explain: Option<ExplainBody>,
    pub(super) log: Option<String>,
}

/// A job at, or near, the front of a queue.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) queue: String,
    pub(super) job: Option<Box<JobBody>>,
    pub(super) explain: Option<ExplainBody>,
}

/// Everything that came from the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    pub(super) stats: Option<StatsBody>,
    pub(super) queues: Option<Vec<QueueBody>>,
    pub(super) jobs: Option<JobPage>,
    pub(super) failures: Option<Vec<FailureBody>>,
    pub(super) workers: Option<Vec<WorkerBody>>,
    pub(super) schedules: Option<Vec<ScheduleBody>>,
    pub(super) operations: Option<Vec<OperationBody>>,
    pub(super) head: Option<Head>,
    pub(super) pace: Pace,
}

/// Where a list stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// The row.
    pub(super) row: usize,
    /// Its id, so that it is followed when rows move.
    pub(super) id: Option<String>,
    /// The first row on the screen.
    pub(super) top: usize,
    /// The column that rows are sorted by; the server's order if none.
    pub(super) sort: Option<usize>,
    /// Which rows.
    pub(super) filter: String,
}

/// All of it.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Where the server is, for the title.
    pub(super) address: String,
    pub(super) read_only: bool,
    pub(super) theme: Theme,
    /// In which the clock is shown.
    pub(super) zone: TimeZone,
    pub(super) size: (u16, u16),
    pub(super) now: Moment,
    pub(super) link: Link,
    /// When the server was last heard.
    pub(super) heard: Option<Moment>,
    pub(super) view: View,
    pub(super) cursors: [Cursor; View::ALL.len()],
    pub(super) opened: Option<Opened>,
    pub(super) mode: Mode,
    pub(super) data: Data,
    /// Why the present view, or the opened job, could not be read.
    pub(super) trouble: Vec<(Fetch, String)>,
    /// What was asked and not yet answered.
    pub(super) pending: Vec<Fetch>,
    /// When the view, and when the rates were last asked for.
    pub(super) asked: Option<Duration>,
    pub(super) paced: Option<Duration>,
    pub(super) frozen: bool,
    refresh: usize,
    /// The last thing to be told.
    pub(super) message: Option<String>,
    /// Since when it is told.
    pub(super) told_at: Duration,
    /// Where Esc leads: a view and its filter.
    pub(super) back: Vec<(View, String)>,
}

impl Model {
    pub(super) fn new(address: String, read_only: bool, theme: Theme, zone: TimeZone) -> Model {
        Model {
            address,
            read_only,
            theme,
            zone,
            size: (80, 24),
            now: Moment::default(),
            link: Link::Connecting,
            heard: None,
            view: View::Queues,
            cursors: Default::default(),
            opened: None,
            mode: Mode::Normal,
            data: Data::default(),
            trouble: Vec::new(),
            pending: Vec::new(),
            asked: None,
            paced: None,
            frozen: false,
            refresh: USUAL,
            message: None,
            told_at: Duration::ZERO,
            back: Vec::new(),
        }
    }

    pub(super) fn cursor(&self) -> &Cursor {
        &self.cursors[self.view.place()]
    }

    pub(super) fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursors[self.view.place()]
    }

    /// How often it is refreshed.
    pub(super) fn refresh(&self) -> Duration {
        REFRESH[self.refresh]
    }

    /// More often, or less.
    pub(super) fn hurry(&mut self, faster: bool) {
        let next = if faster { self.refresh.saturating_sub(1) } else { self.refresh + 1 };
        self.refresh = next.min(REFRESH.len() - 1);
    }

    /// Whether what is shown is how things are.
    pub(super) fn standing(&self) -> Standing {
        let fresh = FRESH.max(self.refresh() * 3);
        let now = self.now.since_start;
        let heard = self.heard.map(|moment| moment.since_start);
        let recently = heard.is_some_and(|heard| now.saturating_sub(heard) <= fresh);
        match &self.link {
            Link::Connecting => Standing::Connecting,
            Link::Open if recently => Standing::Live,
            Link::Open => Standing::Stale,
            Link::Refused(_) => Standing::Refused,
            // An answer that came after the stream broke.
            Link::Broken { since, .. } if recently && heard.is_some_and(|heard| heard > *since) => {
                Standing::Polling
            }
            Link::Broken { since, .. } if now.saturating_sub(*since) < HOPE => Standing::Reconnecting,
            Link::Broken { .. } => Standing::Offline,
        }
    }

    /// Whether the numbers on the screen are those of the server now.
    pub(super) fn is_live(&self) -> bool {
        !self.frozen && matches!(self.standing(), Standing::Live | Standing::Polling)
    }

    /// Why there is no live stream, if so.
    pub(super) fn why_not_live(&self) -> Option<&str> {
        match &self.link {
            Link::Connecting | Link::Open => None,
            Link::Broken { why, .. } | Link::Refused(why) => Some(why),
        }
    }

    /// Why a question was not answered the last time.
    pub(super) fn trouble_with(&self, fetch: &Fetch) -> Option<&str> {
        self.trouble.iter().find(|(asked, _)| asked == fetch).map(|(_, why)| why.as_str())
    }
}
