//! A line of numbers as a line of bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// A chart of one line, at most so wide: neighbours that share a column show the larger. Zero is blank.
pub(crate) fn chart(values: &[f64], width: usize, glyphs: bool) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let bars = if glyphs { BARS } else { PLAIN };
    let each = values.len().div_ceil(width.max(1)).max(1);
    let bar = |column: &[f64]| {
        let own = column.iter().copied().fold(0.0, f64::max);
        if own <= 0.0 {
            return ' ';
        }
        let height = (own / most * 8.0).ceil() as usize;
        bars[height.clamp(1, 8) - 1]
    };
    values.chunks(each).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_begins_at_zero_and_keeps_its_peaks_however_narrow() {
        assert_eq!(chart(&[0.0, 1.0, 4.0, 8.0], 10, true), " ▁▄█");
        assert_eq!(chart(&[0.0, 1.0, 4.0, 8.0], 2, false), "_#");
        assert_eq!(chart(&[0.0; 3], 10, true), "   ");
        assert_eq!(chart(&[], 10, true), "");
        assert_eq!(chart(&[5.0; 1000], 60, true).chars().count(), 59);
    }
}
