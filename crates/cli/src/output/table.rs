//! Columns that line up.

use super::{Style, harmless};

/// Two spaces between columns.
const GAP: usize = 2;
/// The last column keeps at least so much, however narrow the terminal.
const LEAST: usize = 8;

/// The colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// As the terminal has it.
    Plain,
    /// Less important.
    Dim,
    /// A heading.
    Bold,
    /// Failed.
    Red,
    /// Went well.
    Green,
    /// At risk.
    Yellow,
    /// At work.
    Blue,
    /// Later.
    Magenta,
}

impl Paint {
    /// The text in this colour, if colours are wanted.
    pub(crate) fn on(self, text: &str, style: Style) -> String {
        let code = match self {
            Paint::Plain => return text.to_owned(),
            Paint::Bold => 1,
            Paint::Dim => 2,
            Paint::Red => 31,
            Paint::Green => 32,
            Paint::Yellow => 33,
            Paint::Blue => 34,
            Paint::Magenta => 35,
        };
        if style.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// One cell. Its text has no control characters, so that no job can speak to the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell in a colour.
    pub(crate) fn painted(text: impl AsRef<str>, paint: Paint) -> Cell {
        Cell { text: harmless::cell(text.as_ref()), paint }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::painted(text, Paint::Plain)
    }
}

/// Rows under a heading.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    title: &'static str,
    to_the_right: bool,
}

impl Table {
    /// A table with these columns. A title that begins with `>` is of a column of numbers.
    pub(crate) fn new<const N: usize>(titles: [&'static str; N]) -> Table {
        let column = |title: &'static str| match title.strip_prefix('>') {
            Some(title) => Column { title, to_the_right: true },
            None => Column { title, to_the_right: false },
        };
        Table { columns: titles.map(column).to_vec(), rows: Vec::new() }
    }

    /// One more column, at the end.
    pub(crate) fn column(mut self, title: &'static str) -> Table {
        self.columns.push(Column { title, to_the_right: false });
        self
    }

    /// One more row. Cells that are missing are empty, those too many are not shown.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The whole as text, without a line end after the last row.
    pub(crate) fn render(&self, style: Style) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|i| self.width(i)).collect();
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        let titles: Vec<Cell> = self.columns.iter().map(|c| Cell::painted(c.title, Paint::Bold)).collect();
        lines.push(self.line(&titles, &widths, style));
        lines.extend(self.rows.iter().map(|row| self.line(row, &widths, style)));
        lines.join("\n")
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| length(&cell.text));
        cells.chain([length(self.columns[column].title)]).max().unwrap_or(0)
    }

    fn line(&self, cells: &[Cell], widths: &[usize], style: Style) -> String {
        let mut line = String::new();
        let last = self.columns.len().saturating_sub(1);
        let mut used = 0;
        for (i, (column, width)) in self.columns.iter().zip(widths).enumerate() {
            let empty = Cell::from("");
            let cell = cells.get(i).unwrap_or(&empty);
            let text = if i == last { shortened(&cell.text, style.width, used) } else { cell.text.clone() };
            let padding = " ".repeat(width.saturating_sub(length(&text)));
            let painted = if text.is_empty() { text } else { cell.paint.on(&text, style) };
            if column.to_the_right {
                line.push_str(&padding);
            }
            line.push_str(&painted);
            if i < last {
                if !column.to_the_right {
                    line.push_str(&padding);
                }
                line.push_str(&" ".repeat(GAP));
            }
            used += width + GAP;
        }
        line.trim_end().to_owned()
    }
}

/// Only the last column gives way to a narrow terminal: ids are always whole.
fn shortened(text: &str, width: Option<usize>, used: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    let room = width.saturating_sub(used).max(LEAST);
    if length(text) <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room - 1).collect();
    format!("{kept}…")
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { color: false, glyphs: false, width: None };

    fn sample() -> Table {
        let mut table = Table::new(["STATE", ">JOBS", "LAST ERROR"]);
        table.row(vec!["dead".into(), "12".into(), "connection refused".into()]);
        table.row(vec!["queued".into(), "3".into()]);
        table
    }

    #[test]
    fn columns_line_up_and_numbers_stand_to_the_right() {
        let expected = "STATE   JOBS  LAST ERROR\ndead      12  connection refused\nqueued     3";
        assert_eq!(sample().render(PLAIN), expected);
    }

    #[test]
    fn only_the_last_column_gives_way_to_a_narrow_terminal() {
        let narrow = Style { width: Some(26), ..PLAIN };
        assert!(sample().render(narrow).contains("dead      12  connection …"));
        let tiny = Style { width: Some(3), ..PLAIN };
        assert!(sample().render(tiny).contains("dead      12  connect…"));
    }

    #[test]
    fn a_job_cannot_speak_to_the_terminal() {
        let cell = Cell::from("a\x1b[2Jb\nc");
        assert_eq!(cell.text, "a\u{fffd}[2Jb c");
    }

    #[test]
    fn colours_do_not_disturb_the_columns() {
        let style = Style { color: true, ..PLAIN };
        let mut table = Table::new(["A", "B"]);
        table.row(vec![Cell::painted("x", Paint::Red), "y".into()]);
        assert!(table.render(style).ends_with("\x1b[31mx\x1b[0m  y"));
    }
}
