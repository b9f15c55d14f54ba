//! JSON text, laid out anew without being read: numbers and strings stay byte for byte.

/// One member per line, indented by two. Anything but JSON comes out as some other text.
pub(super) fn indented(text: &str) -> String {
    let mut laid = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut characters = text.trim().chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' => {
                laid.push('"');
                let mut escaped = false;
                for inner in characters.by_ref() {
                    laid.push(inner);
                    if inner == '"' && !escaped {
                        break;
                    }
                    escaped = inner == '\\' && !escaped;
                }
            }
            '{' | '[' => {
                laid.push(c);
                while characters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => laid.push(close),
                    None => {
                        depth += 1;
                        new_line(&mut laid, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut laid, depth);
                laid.push(c);
            }
            ',' => {
                laid.push(c);
                new_line(&mut laid, depth);
            }
            ':' => laid.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => laid.push(c),
        }
    }
    laid
}

/// The same document on one line. A line end never occurs inside a JSON string.
pub(super) fn on_one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ")
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_get_a_line_each_and_strings_stay_as_they_are() {
        let text = r#"{"a":[1,{"b":"x, {\"y\"}: \\"}],"c":{},"d":[ ]}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, {\\\"y\\\"}: \\\\\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(indented(text), expected);
    }

    #[test]
    fn a_number_beyond_any_machine_type_survives() {
        assert_eq!(indented("123456789012345678901234567890"), "123456789012345678901234567890");
    }

    #[test]
    fn what_is_laid_out_means_the_same() {
        let text = r#" { "n" : -1.5e3 , "s" : "é\n" , "l" : [ true , null ] } "#;
        let before: serde_json::Value = serde_json::from_str(text).unwrap();
        let after: serde_json::Value = serde_json::from_str(&indented(text)).unwrap();
        assert_eq!(before, after);
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(on_one_line("{\n\"a\": 1\r\n}\n"), "{ \"a\": 1  }");
    }
}
