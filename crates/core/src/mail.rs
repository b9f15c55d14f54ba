//! What a mail can be addressed to. Stricter than the standards: whatever could break out of a command or a header of SMTP is
//! no address here, and no name.

use crate::limits;

/// Whether this can stand between the angle brackets of a command without breaking out of them: `ada@example.com`.
#[must_use]
pub fn is_address(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_graphic() && !"<>()[],;:\\\"".contains(c);
    text.len() <= limits::MAIL_ADDRESS_BYTES
        && text.chars().all(fine)
        && text
            .split_once('@')
            .is_some_and(|(local, host)| !local.is_empty() && !host.is_empty() && !host.contains('@'))
}

/// Whether a person can be greeted by this.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=limits::MAIL_NAME_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_an_address() {
        for wrong in
            ["", "a", "@b", "a@", "a@b@c", "a b@c", "a@b>", "a@b\r\n", "ä@b", "<a@b", "\"a\"@b", "a@b,c@d"]
        {
            assert!(!is_address(wrong), "{wrong}");
        }
        assert!(is_address("ada.lovelace+x@example.com"));
        let longest = format!("{}@b", "a".repeat(limits::MAIL_ADDRESS_BYTES - 2));
        assert!(is_address(&longest) && !is_address(&format!("a{longest}")));
    }

    #[test]
    fn a_name_is_any_text_of_one_line() {
        for fine in ["A", "Ada Lovelace", "Ω 👨‍👩‍👧", ".", "<b>", &"n".repeat(limits::MAIL_NAME_BYTES)]
        {
            assert!(is_name(fine), "{fine}");
        }
        for wrong in ["", "A\r\nBcc: x@y", "a\0", "\u{85}", &"n".repeat(limits::MAIL_NAME_BYTES + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
