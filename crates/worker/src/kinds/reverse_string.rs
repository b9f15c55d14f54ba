//! `reverse_string`: a text from its end to its beginning, as a reader would do it.
//!
//! What a reader sees as one character may be many code points: a letter with its accents, a flag, a family. They stay
//! together, or the result would hold characters that were never there.

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const REVERSE_STRING: Job<Text, Reversed> = Job::new("reverse_string");

/// What to reverse.
#[derive(Debug, Deserialize)]
pub(super) struct Text {
    text: String,
}

/// The text, reversed.
#[derive(Debug, Serialize)]
pub(super) struct Reversed {
    reversed: String,
}

/// On a thread of its own: finding the characters of a megabyte takes a while.
pub(super) fn run(_: Ctx, Text { text }: Text) -> Result<Reversed, JobError> {
    Ok(Reversed { reversed: text.graphemes(true).rev().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reversed(text: &str) -> String {
        run(Ctx::for_test("reverse_string"), Text { text: text.into() }).unwrap().reversed
    }

    #[test]
    fn characters_stay_whole() {
        let cases = [
            ("", ""),
            ("hello", "olleh"),
            ("héllo", "olléh"),
            ("noe\u{308}l", "le\u{308}on"),
            ("🇫🇷🇩🇪", "🇩🇪🇫🇷"),
            ("a👨‍👩‍👧b", "b👨‍👩‍👧a"),
            ("नमस्ते", "स्तेमन"),
            ("a\r\nb", "b\r\na"),
        ];
        for (text, expected) in cases {
            assert_eq!(reversed(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_added(text in ".{0,64}") {
            let (mut before, mut after): (Vec<char>, Vec<char>) = (text.chars().collect(), reversed(&text).chars().collect());
            before.sort_unstable();
            after.sort_unstable();
            prop_assert_eq!(before, after);
        }

        #[test]
        fn twice_is_as_it_was_where_every_character_stands_alone(text in "[a-zäöü ]{0,64}") {
            prop_assert_eq!(reversed(&reversed(&text)), text);
        }
    }
}
