//! Texts of others on a terminal: nothing in them is obeyed by it, or changes the order in which they are read.
//!
//! Names, errors, notes and logs come from whoever enqueues jobs and runs workers. Escape sequences could rewrite the screen or the
//! clipboard; marks of writing direction could make one name look like another. Colours are let through: logs have them.

use std::borrow::Cow;

/// What stands in the place of a character that is not shown.
const MARK: char = '\u{fffd}';
/// Longest colour, as in `\x1b[0;31m`.
const COLOR_BYTES: usize = 16;

/// Whether a terminal might obey it, or show what is around it in another order.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text for one cell: line ends and tabs become spaces, whatever is harmful becomes a mark.
pub(super) fn cell(text: &str) -> String {
    let shown = |c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_harmful(c) => MARK,
        c => c,
    };
    text.trim_end().chars().map(shown).collect()
}

/// A text of several lines, colours included.
pub(super) fn lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_harmful(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let color = color(rest);
        if !color.is_empty() {
            out.push_str(color);
            rest = &rest[color.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' | '\t' => out.push(c),
            // A progress bar that is drawn again and again.
            '\r' => out.push_str(if rest.starts_with('\n') { "" } else { "\n" }),
            c if is_harmful(c) => out.push(MARK),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The colour that a text begins with, if any.
fn color(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("\x1b[") else { return "" };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').len();
    let end = 2 + digits + 1;
    if digits < COLOR_BYTES && rest[digits..].starts_with('m') { &text[..end] } else { "" }
}

/// JSON that a person reads: harmful characters inside its strings are written as escapes, which say the same.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_harmful(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if harmful(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The title of the window, the clipboard, the screen, C1 in one character, and a name that reads backwards.
    const ATTACKS: [&str; 5] = [
        "\x1b]0;owned\x07",
        "\x1b]52;c;cm0gLXJm\x07",
        "\x1b[2J\x1b[1;1H",
        "\u{9b}2J",
        "invoice\u{202e}gpj.exe",
    ];

    #[test]
    fn nothing_in_a_text_is_obeyed() {
        for attack in ATTACKS {
            for shown in [cell(attack), lines(attack).into_owned()] {
                assert!(!shown.chars().any(is_harmful), "{shown:?}");
                assert!(shown.contains(MARK), "{shown:?}");
            }
        }
    }

    #[test]
    fn colours_line_ends_and_ordinary_letters_stay() {
        let plain = "\x1b[1;31mfailed\x1b[0m\tגדול 大 é\n";
        assert_eq!(lines(plain), plain);
        assert_eq!(lines("10%\r20%\r\n"), "10%\n20%\n");
        assert_eq!(cell("two\nlines\t"), "two lines");
        let long = format!("\x1b[{}m", "1;".repeat(COLOR_BYTES));
        assert!(!lines(&long).contains('\x1b'));
    }

    #[test]
    fn json_says_the_same_in_other_characters() {
        let text = "{\"a\":\"x\u{9b}y\u{202e}\"}\n";
        let shown = json(text);
        assert_eq!(shown, "{\"a\":\"x\\u009by\\u202e\"}\n");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(text));
    }
}
