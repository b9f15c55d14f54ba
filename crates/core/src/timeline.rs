//! Buckets of minutes, folded into the points of a timeline.
//!
//! A store hands its buckets over one by one, the newest first, and the timeline adds each to its point: so reading a week
//! takes no more memory than showing it. Points are aligned to multiples of their step since the Unix epoch; what did not
//! happen is a point of zeros.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use crate::limits;
use crate::minutes::{Counts, REST, began, minute_of};
use crate::name::{Kind, QueueName};
use crate::time::Wall;

/// Shortest step, and what every step is a multiple of.
pub const SHORTEST_STEP: Duration = Duration::from_secs(60);
/// Longest step.
pub const LONGEST_STEP: Duration = Duration::from_secs(24 * 3600);

/// What a timeline has a line for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// One line for everything.
    #[default]
    Nothing,
    /// One for each queue.
    Queue,
    /// One for each kind.
    Kind,
}

/// Which timeline is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    first: i64,
    end: i64,
    step: i64,
    most_lines: usize,
    /// Of this queue.
    pub queue: Option<QueueName>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// The lines.
    pub by: By,
}

/// Why there is no such timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// The step is no multiple of a minute, or too short or too long.
    #[error("the step must be whole minutes, from 1m to 1d")]
    Step,
    /// It ends before it begins.
    #[error("`from` must be earlier than `to`")]
    Backwards,
    /// It has more than [`limits::TIMELINE_POINTS`] points.
    #[error("{0} points are too many, the limit is {max}; ask for a longer step", max = limits::TIMELINE_POINTS)]
    TooMany(i64),
}

impl Span {
    /// From one moment to another, widened to whole steps.
    ///
    /// # Errors
    /// If the step is not a step, or there would be no point, or too many.
    pub fn new(from: Wall, to: Wall, step: Duration) -> Result<Span, SpanError> {
        let whole = step.subsec_nanos() == 0 && step.as_secs().is_multiple_of(60);
        if !whole || step < SHORTEST_STEP || step > LONGEST_STEP {
            return Err(SpanError::Step);
        }
        let step = i64::try_from(step.as_secs() / 60).map_err(|_| SpanError::Step)?;
        if from >= to {
            return Err(SpanError::Backwards);
        }
        let first = minute_of(from).div_euclid(step) * step;
        // The minute of the last moment before the end.
        let last = minute_of(Wall(to.0.saturating_sub(1))).div_euclid(step) * step;
        let end = last + step;
        let points = (end - first) / step;
        if points > i64::try_from(limits::TIMELINE_POINTS).unwrap_or(i64::MAX) {
            return Err(SpanError::TooMany(points));
        }
        let most_lines = limits::TIMELINE_SERIES;
        Ok(Span { first, end, step, most_lines, queue: None, kind: None, by: By::Nothing })
    }

    /// All that happened between two moments as one point, with a line for each kind.
    #[must_use]
    pub fn sum_by_kind(from: Wall, to: Wall) -> Span {
        let (first, end) = (minute_of(from), minute_of(from.max(to)) + 1);
        let (step, most_lines) = (end - first, limits::MINUTE_SERIES);
        Span { first, end, step, most_lines, queue: None, kind: None, by: By::Kind }
    }

    /// The last so many minutes, with a line for each queue.
    #[must_use]
    pub fn minutes_by_queue(minutes: u16, now: Wall) -> Span {
        let end = minute_of(now) + 1;
        let most_lines = limits::MINUTE_SERIES;
        Span {
            first: end - i64::from(minutes),
            end,
            step: 1,
            most_lines,
            queue: None,
            kind: None,
            by: By::Queue,
        }
    }

    /// The first minute.
    #[must_use]
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The minute after the last.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.end
    }

    /// How long a point lasts.
    #[must_use]
    pub fn step(&self) -> Duration {
        SHORTEST_STEP * u32::try_from(self.step).unwrap_or(1)
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        usize::try_from((self.end - self.first) / self.step).unwrap_or(0)
    }

    /// When each point begins.
    pub fn moments(&self) -> impl Iterator<Item = Wall> + '_ {
        (0..self.points()).map(|point| began(self.first + i64::try_from(point).unwrap_or(0) * self.step))
    }
}

/// A timeline: for each line its points, in order, without those where nothing happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// What was asked for.
    pub span: Span,
    /// The lines, by name; one without a name if everything is one line. Beyond [`limits::TIMELINE_SERIES`], or
    /// [`limits::MINUTE_SERIES`] of a sum, the rest is one line, [`REST`].
    pub lines: BTreeMap<String, BTreeMap<usize, Counts>>,
    /// Buckets that were looked at.
    pub examined: usize,
    /// Whether every bucket was looked at. If not, the oldest are missing.
    pub complete: bool,
}

impl Timeline {
    /// An empty one.
    #[must_use]
    pub fn new(span: &Span) -> Timeline {
        Timeline { span: span.clone(), lines: BTreeMap::new(), examined: 0, complete: true }
    }

    /// Takes the next bucket, the newest first. Breaks where it has looked at enough.
    pub fn add(&mut self, minute: i64, queue: &str, kind: &str, counts: &Counts) -> ControlFlow<()> {
        if self.examined == limits::TIMELINE_ROWS {
            self.complete = false;
            return ControlFlow::Break(());
        }
        self.examined += 1;
        let span = &self.span;
        let wanted = span.queue.as_ref().is_none_or(|wanted| wanted.as_str() == queue)
            && span.kind.as_ref().is_none_or(|wanted| wanted.as_str() == kind);
        if !wanted || minute < span.first || minute >= span.end {
            return ControlFlow::Continue(());
        }
        let point = usize::try_from((minute - span.first) / span.step).unwrap_or(0);
        let name = match span.by {
            By::Nothing => "",
            By::Queue => queue,
            By::Kind => kind,
        };
        let known = self.lines.contains_key(name);
        let name = if known || self.lines.len() < self.span.most_lines { name } else { REST };
        self.lines.entry(name.to_owned()).or_default().entry(point).or_default().add(counts);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;
    const M: Duration = Duration::from_secs(60);

    fn one() -> Counts {
        Counts { enqueued: 1, ..Counts::default() }
    }

    #[test]
    fn a_span_is_widened_to_whole_steps() {
        let span = Span::new(Wall(7 * MINUTE + 1), Wall(15 * MINUTE), 5 * M).unwrap();
        assert_eq!((span.first(), span.end(), span.points()), (5, 15, 2));
        let moments: Vec<Wall> = span.moments().collect();
        assert_eq!(moments, [Wall(5 * MINUTE), Wall(10 * MINUTE)]);
        let later = Span::new(Wall(7 * MINUTE), Wall(15 * MINUTE + 1), 5 * M).unwrap();
        assert_eq!((later.end(), later.points()), (20, 3));
        assert_eq!(Span::new(Wall(-1), Wall(0), M).unwrap().first(), -1);
    }

    #[test]
    fn a_step_is_whole_minutes_from_one_to_a_day() {
        for (step, fine) in [
            (M, true),
            (M - Duration::from_secs(1), false),
            (M + Duration::from_nanos(1), false),
            (LONGEST_STEP, true),
            (LONGEST_STEP + M, false),
            (Duration::ZERO, false),
        ] {
            let span = Span::new(Wall(0), Wall(1), step);
            assert_eq!(span.is_ok(), fine, "{step:?}");
        }
    }

    #[test]
    fn there_are_so_many_points_and_not_one_more() {
        let points = i64::try_from(limits::TIMELINE_POINTS).unwrap();
        assert_eq!(
            Span::new(Wall(0), Wall(points * MINUTE), M).map(|span| span.points()),
            Ok(limits::TIMELINE_POINTS)
        );
        let more = Span::new(Wall(0), Wall(points * MINUTE + 1), M);
        assert_eq!(more, Err(SpanError::TooMany(points + 1)));
        assert_eq!(Span::new(Wall(5), Wall(5), M), Err(SpanError::Backwards));
    }

    #[test]
    fn the_last_minutes_end_with_the_one_that_runs() {
        let span = Span::minutes_by_queue(3, Wall(7 * MINUTE + 1));
        assert_eq!((span.first(), span.end(), span.points()), (5, 8, 3));
    }

    #[test]
    fn a_sum_has_one_point_and_a_line_for_each_kind() {
        let span = Span::sum_by_kind(Wall(7 * MINUTE + 1), Wall(20 * MINUTE));
        assert_eq!((span.first(), span.end(), span.points()), (7, 21, 1));
        let mut timeline = Timeline::new(&span);
        let kinds: Vec<String> = (0..limits::MINUTE_SERIES + 2).map(|n| format!("k{n}")).collect();
        for kind in &kinds {
            assert!(timeline.add(20, "q", kind, &one()).is_continue());
            assert!(timeline.add(7, "other", kind, &one()).is_continue());
        }
        assert_eq!(timeline.lines.len(), limits::MINUTE_SERIES + 1);
        let count = |name: &str| timeline.lines[name][&0].enqueued;
        assert_eq!((count("k0"), count(REST)), (2, 4));
    }

    #[test]
    fn buckets_are_added_to_the_points_that_they_belong_to() {
        let mut span = Span::new(Wall(0), Wall(4 * MINUTE), 2 * M).unwrap();
        span.by = By::Queue;
        span.kind = Some("k".parse().unwrap());
        let mut timeline = Timeline::new(&span);
        for (minute, queue, kind) in
            [(4, "a", "k"), (3, "a", "k"), (2, "a", "k"), (2, "a", "other"), (1, "b", "k"), (-1, "b", "k")]
        {
            assert!(timeline.add(minute, queue, kind, &one()).is_continue());
        }
        let shown: Vec<(&str, Vec<(usize, u64)>)> = timeline
            .lines
            .iter()
            .map(|(name, points)| (name.as_str(), points.iter().map(|(at, c)| (*at, c.enqueued)).collect()))
            .collect();
        assert_eq!(shown, [("a", vec![(1, 2)]), ("b", vec![(0, 1)])]);
        assert_eq!((timeline.examined, timeline.complete), (6, true));
    }

    #[test]
    fn lines_beyond_the_bound_are_one() {
        let mut span = Span::new(Wall(0), Wall(1), M).unwrap();
        span.by = By::Kind;
        let mut timeline = Timeline::new(&span);
        for n in 0..limits::TIMELINE_SERIES + 2 {
            assert!(timeline.add(0, "q", &format!("k{n:03}"), &one()).is_continue());
        }
        assert_eq!(timeline.lines.len(), limits::TIMELINE_SERIES + 1);
        assert_eq!(timeline.lines[REST][&0].enqueued, 2);
        let last = format!("k{:03}", limits::TIMELINE_SERIES - 1);
        assert!(timeline.lines.contains_key(&last) && !timeline.lines.contains_key("k020"));
    }

    #[test]
    fn a_timeline_looks_at_so_many_buckets_and_says_so() {
        let mut timeline = Timeline::new(&Span::new(Wall(0), Wall(1), M).unwrap());
        timeline.examined = limits::TIMELINE_ROWS - 1;
        assert!(timeline.add(0, "q", "k", &one()).is_continue() && timeline.complete);
        assert!(timeline.add(0, "q", "k", &one()).is_break() && !timeline.complete);
        assert_eq!(timeline.lines[""][&0].enqueued, 1);
    }
}
