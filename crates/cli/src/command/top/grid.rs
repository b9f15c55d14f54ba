//! Rows and columns of a view, before they are drawn: filtered, sorted, fitted to a width.

use ratatui::text::Span;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::theme::{Theme, Tone};
use crate::output::harmless;

/// One cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
    /// What it is sorted by, if not by its text.
    pub(super) number: Option<f64>,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell { text: clean(&text.into()), tone: Tone::Plain, number: None }
    }

    pub(super) fn number(text: impl Into<String>, number: f64) -> Cell {
        Cell { text: text.into(), tone: Tone::Plain, number: Some(number) }
    }

    pub(super) fn toned(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What is copied, and followed when rows move.
    pub(super) id: String,
    pub(super) cells: Vec<Cell>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) right: bool,
    /// Where there is no room the largest goes first; zero stays.
    pub(super) expendable: u8,
    /// It takes what is left, and is cut where there is too little.
    pub(super) flexible: bool,
}

impl Column {
    pub(super) const fn left(title: &'static str, expendable: u8) -> Column {
        Column { title, right: false, expendable, flexible: false }
    }

    pub(super) const fn right(title: &'static str, expendable: u8) -> Column {
        Column { title, right: true, expendable, flexible: false }
    }

    pub(super) const fn flexible(title: &'static str, expendable: u8) -> Column {
        Column { title, right: false, expendable, flexible: true }
    }
}

/// A view as rows and columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// A flexible column is never narrower.
const LEAST: usize = 12;
/// No other column is wider.
const WIDEST: usize = 34;

impl Grid {
    /// Only rows that a filter means: words that some cell contains, `column:text`, each with `-` for not.
    pub(super) fn filter(&mut self, filter: &str) {
        let columns = self.columns.clone();
        self.rows.retain(|row| filter.split_whitespace().all(|term| matches(&columns, row, term)));
    }

    /// The largest number, or the first text, first.
    pub(super) fn sort(&mut self, column: Option<usize>) {
        let Some(column) = column else { return };
        self.rows.sort_by(|a, b| {
            let (Some(a), Some(b)) = (a.cells.get(column), b.cells.get(column)) else {
                return std::cmp::Ordering::Equal;
            };
            match (a.number, b.number) {
                (Some(a), Some(b)) => b.total_cmp(&a),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => a.text.cmp(&b.text),
            }
        });
    }

    /// Which columns fit, and how wide each is.
    pub(super) fn layout(&self, width: usize) -> Vec<(usize, usize)> {
        let natural = |place: usize| {
            let column = &self.columns[place];
            let cells = self.rows.iter().filter_map(|row| row.cells.get(place));
            let widest = cells.map(|cell| cell.text.width()).max().unwrap_or(0);
            widest.max(column.title.width() + 1)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len())
            .map(|place| {
                let natural = natural(place);
                let flexible = self.columns[place].flexible;
                (place, if flexible { natural.min(LEAST) } else { natural.min(WIDEST) })
            })
            .collect();
        let total = |shown: &[(usize, usize)]| shown.iter().map(|(_, width)| width + 1).sum::<usize>();
        // Bounded by the number of columns.
        while total(&shown) > width {
            let worst =
                shown.iter().enumerate().max_by_key(|(_, (place, _))| self.columns[*place].expendable);
            match worst {
                Some((at, (place, _))) if self.columns[*place].expendable > 0 => drop(shown.remove(at)),
                Some(_) | None => break,
            }
        }
        let left = width.saturating_sub(total(&shown));
        if let Some(flexible) = shown.iter_mut().find(|(place, _)| self.columns[*place].flexible) {
            flexible.1 += left;
        }
        shown
    }

    /// The titles as one line.
    pub(super) fn titles(&self, layout: &[(usize, usize)], sort: Option<usize>, theme: Theme) -> String {
        let mark = |place| if sort == Some(place) { theme.either("▾", "v") } else { "" };
        let title = |(place, width): &(usize, usize)| {
            let column = &self.columns[*place];
            fit(&format!("{}{}", column.title, mark(*place)), *width, column.right, theme)
        };
        layout.iter().map(title).collect::<Vec<_>>().join(" ")
    }

    /// A row as pieces of one line.
    pub(super) fn line(&self, row: &Row, layout: &[(usize, usize)], theme: Theme) -> Vec<Span<'static>> {
        let mut spans = Vec::with_capacity(layout.len() * 2);
        for (place, width) in layout {
            let column = &self.columns[*place];
            let Some(cell) = row.cells.get(*place) else { continue };
            spans.push(Span::styled(fit(&cell.text, *width, column.right, theme), theme.style(cell.tone)));
            spans.push(Span::raw(" "));
        }
        spans
    }
}

fn matches(columns: &[Column], row: &Row, term: &str) -> bool {
    let (wanted, term) = term.strip_prefix('-').map_or((true, term), |term| (false, term));
    let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let found = match term.split_once(':') {
        Some((name, text)) => {
            let parts: Vec<&str> = text.split(',').map(|part| part.trim_matches(['*', '"'])).collect();
            let named = columns.iter().position(|column| column.title.eq_ignore_ascii_case(name));
            let cell = named.and_then(|place| row.cells.get(place));
            cell.is_some_and(|cell| parts.iter().any(|part| contains(&cell.text, part)))
        }
        None => contains(&row.id, term) || row.cells.iter().any(|cell| contains(&cell.text, term)),
    };
    found == wanted
}

/// The text in exactly so many columns: cut with a mark, or filled up.
pub(super) fn fit(text: &str, width: usize, right: bool, theme: Theme) -> String {
    let own = text.width();
    if own <= width {
        let fill = " ".repeat(width - own);
        return if right { format!("{fill}{text}") } else { format!("{text}{fill}") };
    }
    let mark = theme.either("…", "~");
    let room = width.saturating_sub(1);
    let mut cut = String::new();
    let mut used = 0;
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if used + wide > room {
            break;
        }
        used += wide;
        cut.push(letter);
    }
    if width > 0 {
        cut.push_str(mark);
        cut.push_str(&" ".repeat(room - used));
    }
    cut
}

/// A text of a stranger on one line: nothing in it may steer the terminal.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|letter| if harmless::is_harmful(letter) { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let row = |name: &str, n: f64| Row {
            id: name.into(),
            cells: vec![Cell::text(name), Cell::number(n.to_string(), n), Cell::text("why")],
        };
        Grid {
            columns: vec![Column::left("QUEUE", 0), Column::right("READY", 2), Column::flexible("NOTE", 1)],
            rows: vec![row("mail", 3.0), row("web", 10.0), row("mail-low", 1.0)],
        }
    }

    #[test]
    fn rows_are_found_by_words_and_by_column() {
        for (filter, found) in [
            ("mail", vec!["mail", "mail-low"]),
            ("queue:web", vec!["web"]),
            ("-queue:mail*", vec!["web"]),
            ("mail -low", vec!["mail"]),
            ("queue:web,low", vec!["web", "mail-low"]),
            ("nowhere:x", vec![]),
        ] {
            let mut grid = grid();
            grid.filter(filter);
            let ids: Vec<&str> = grid.rows.iter().map(|row| row.id.as_str()).collect();
            assert_eq!(ids, found, "{filter}");
        }
    }

    #[test]
    fn numbers_sort_downwards_and_texts_upwards() {
        let mut grid = grid();
        grid.sort(Some(1));
        assert_eq!(grid.rows[0].id, "web");
        grid.sort(Some(0));
        assert_eq!(grid.rows[0].id, "mail");
        grid.sort(Some(9));
    }

    #[test]
    fn what_does_not_fit_goes_and_what_stays_fills_the_width() {
        let grid = grid();
        let wide = grid.layout(60);
        assert_eq!(wide.len(), 3);
        assert_eq!(wide.iter().map(|(_, width)| width + 1).sum::<usize>(), 60);
        assert_eq!(grid.layout(16).iter().map(|(place, _)| *place).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(grid.layout(3).len(), 1, "the last one stays and is cut");
    }

    #[test]
    fn a_text_fits_exactly_and_cannot_steer_the_terminal() {
        let theme = Theme::new(true, true);
        assert_eq!(fit("mail", 6, true, theme), "  mail");
        assert_eq!(fit("a long name", 6, false, theme), "a lon…");
        assert_eq!(fit("日本語", 4, false, theme), "日… ");
        assert_eq!(fit("x", 0, false, theme), "");
        assert_eq!(clean("a\x1b[2J\nb"), "a [2J b");
    }
}
