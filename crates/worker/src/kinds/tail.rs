//! Following what a program prints: every line to the log, the last of it kept.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::context::Ctx;

/// Kept of one stream.
pub(super) const KEPT_BYTES: usize = 64 << 10;
/// A longer line goes to the log in pieces.
const LINE_BYTES: usize = 8 << 10;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let fresh = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let over = (self.0.len() + fresh.len()).saturating_sub(KEPT_BYTES);
        self.0.drain(..over);
        self.0.extend(fresh);
    }

    /// As text; what is not UTF-8 is replaced.
    pub(super) fn into_text(self) -> String {
        String::from_utf8_lossy(&Vec::from(self.0)).into_owned()
    }
}

/// Reads a stream to its end, or to its first error.
pub(super) async fn follow(stream: Option<impl AsyncRead + Unpin>, ctx: Ctx) -> Tail {
    let mut tail = Tail::default();
    let Some(mut stream) = stream else { return tail };
    let (mut line, mut buffer) = (Vec::new(), [0u8; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let bytes = &buffer[..read];
        tail.push(bytes);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if line.ends_with(b"\n") || line.len() >= LINE_BYTES {
                ctx.log(String::from_utf8_lossy(&line));
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        ctx.log(String::from_utf8_lossy(&line));
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_bytes_are_kept_and_lines_are_logged_whole() {
        let ctx = Ctx::for_test("exec");
        let text = format!("{}\nlast", "x".repeat(KEPT_BYTES));
        let tail = follow(Some(text.as_bytes()), ctx.clone()).await.into_text();
        assert_eq!(tail.len(), KEPT_BYTES);
        assert!(tail.ends_with("x\nlast"));
        let log = ctx.chatter().take().log;
        assert!(log.ends_with("\nlast\n"), "{}", &log[log.len() - 20..]);
    }

    #[tokio::test]
    async fn what_is_not_text_does_not_break_it() {
        let tail = follow(Some(&[0xff, 0x00, b'a'][..]), Ctx::for_test("exec")).await;
        assert_eq!(tail.into_text(), "\u{fffd}\0a");
    }
}
