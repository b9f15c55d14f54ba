//! Our own Markdown as HTML: headings, paragraphs, lists, code, **strong**, and nothing else. What it does not know stays text.

use super::escaped;

/// A text of ours as HTML.
pub(super) fn to_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            html.push_str(&format!("<pre>{}</pre>\n", escaped(&code.join("\n"))));
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=3).contains(&level) {
            html.push_str(&format!("<h{level}>{}</h{level}>\n", inline(line[level..].trim())));
            continue;
        }
        // A paragraph or an item goes on until the next empty line or item.
        let item = line.strip_prefix("- ");
        let mut whole = item.unwrap_or(line).to_owned();
        while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && !begins(next)) {
            whole.push(' ');
            whole.push_str(next.trim());
        }
        let tag = if item.is_some() { "li" } else { "p" };
        html.push_str(&format!("<{tag}>{}</{tag}>\n", inline(&whole)));
    }
    html
}

/// Whether a line begins something of its own.
fn begins(line: &str) -> bool {
    line.starts_with("- ") || line.starts_with('#') || line.starts_with("```")
}

/// Code and strong words within a line. Nothing of the text becomes markup.
fn inline(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (nth, part) in text.split('`').enumerate() {
        if nth % 2 == 1 {
            html.push_str(&format!("<code>{}</code>", escaped(part)));
            continue;
        }
        for (nth, part) in part.split("**").enumerate() {
            match nth % 2 {
                0 => html.push_str(&escaped(part)),
                _ => html.push_str(&format!("<strong>{}</strong>", escaped(part))),
            }
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::to_html;

    #[test]
    fn a_page_of_ours_is_shown_and_nothing_of_it_becomes_markup() {
        let html = to_html("# a_b\n\n**What.** A `<b>` and\nmore.\n\n- one\n- two\n\n```\nx < y\n```\n");
        assert_eq!(
            html,
            "<h1>a_b</h1>\n<p><strong>What.</strong> A <code>&lt;b&gt;</code> and more.</p>\n\
             <li>one</li>\n<li>two</li>\n<pre>x &lt; y</pre>\n"
        );
    }
}
