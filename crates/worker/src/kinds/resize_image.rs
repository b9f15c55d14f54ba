//! `resize_image`: a PNG or JPEG image in another size.
//!
//! Payload: `{"data": "<base64>", "width": 640, "height": 480}`; the result is `{"data", "format", "width", "height"}`, in the
//! format it came in. With `{"url": "https://…"}` instead, the work is only simulated: 100 ms, and a URL that is derived from
//! the one given. Nothing is fetched.
//!
//! A few bytes can claim to be an enormous image. So its size is read and compared with the bounds before anything is
//! decoded, and the decoder is told how much memory it may have.

use std::io::Cursor;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Fatal, JobError};
use crate::job::Job;

pub(super) const RESIZE_IMAGE: Job<Request, Resized> = Job::new("resize_image");

/// Longest side, before and after.
const SIDE: u32 = 8_192;
/// Most pixels, before, after, and in between, where one side has its old length and the other its new one.
const PIXELS: u64 = 1 << 23;
/// Memory of the decoder: the pixels with 16 bits for each of four channels.
const DECODED_BYTES: u64 = PIXELS * 8;
/// Before the first chunk of a PNG.
const PNG_SIGNATURE_BYTES: usize = 8;
/// The chunks of a PNG that its pixels need.
const PNG_CHUNKS: [&[u8; 4]; 5] = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"];
/// How long the simulated work takes.
const SIMULATED: Duration = Duration::from_millis(100);

/// What to resize, and to what.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    data: Option<String>,
    width: u32,
    height: u32,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Resized {
    /// The image itself.
    Data { data: String, format: &'static str, width: u32, height: u32 },
    /// Where it would be.
    Url { resized_url: String },
}

pub(super) async fn run(ctx: Ctx, request: Request) -> Result<Resized, JobError> {
    let Request { url, data, width, height } = request;
    check("wanted", width, height).fatal()?;
    match (data, url) {
        (Some(data), None) => {
            let resized = tokio::task::spawn_blocking(move || resize(&data, width, height));
            ctx.unless_cancelled(resized).await?.map_err(JobError::retry)?.fatal()
        }
        (None, Some(url)) => {
            let resized_url = derived(&url, width, height).fatal()?;
            ctx.unless_cancelled(tokio::time::sleep(SIMULATED)).await?;
            Ok(Resized::Url { resized_url })
        }
        (Some(_), Some(_)) => Err(JobError::fatal("payload has both `data` and `url`, one is needed")),
        (None, None) => Err(JobError::fatal("payload has neither `data` nor `url`")),
    }
}

/// Why an image is not resized. None of it gets better by trying again.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("{what} size is {width} x {height}, each side must be from 1 to {SIDE}")]
    Side { what: &'static str, width: u32, height: u32 },
    #[error("{what} size is {width} x {height}, the limit is {PIXELS} pixels")]
    Pixels { what: &'static str, width: u32, height: u32 },
    #[error("data is not base64")]
    Base64(#[source] base64::DecodeError),
    #[error("data is neither PNG nor JPEG")]
    Format,
    #[error("image cannot be used")]
    Image(#[from] image::ImageError),
    #[error("image cannot be read")]
    Read(#[from] std::io::Error),
    #[error("url is not an http or https URL")]
    Url,
}

fn check(what: &'static str, width: u32, height: u32) -> Result<(), Refused> {
    if ![width, height].iter().all(|side| (1..=SIDE).contains(side)) {
        return Err(Refused::Side { what, width, height });
    }
    if u64::from(width) * u64::from(height) > PIXELS {
        return Err(Refused::Pixels { what, width, height });
    }
    Ok(())
}

fn resize(data: &str, width: u32, height: u32) -> Result<Resized, Refused> {
    let mut bytes = STANDARD.decode(data.trim()).map_err(Refused::Base64)?;
    let format = image::guess_format(&bytes).map_err(|_| Refused::Format)?;
    if format == ImageFormat::Png {
        bytes = pixels_only(&bytes);
    }
    let known = [(ImageFormat::Png, "png"), (ImageFormat::Jpeg, "jpeg")];
    let name = known.iter().find(|(known, _)| *known == format).ok_or(Refused::Format)?.1;
    let (old_width, old_height) = ImageReader::with_format(Cursor::new(&bytes), format).into_dimensions()?;
    check("image", old_width, old_height)?;
    check("intermediate", old_width, height)?;
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    reader.limits(decoder_limits());
    let resized = reader.decode()?.resize_exact(width, height, FilterType::Triangle);
    let mut written = Cursor::new(Vec::new());
    writable(resized, format).write_to(&mut written, format)?;
    Ok(Resized::Data { data: STANDARD.encode(written.into_inner()), format: name, width, height })
}

/// A PNG without everything that its pixels do not need. Colour profiles and texts are compressed, and the decoder unpacks them
/// without counting them against its limits: a few hundred kilobytes became hundreds of megabytes.
fn pixels_only(png: &[u8]) -> Vec<u8> {
    let (signature, mut rest) = png.split_at(PNG_SIGNATURE_BYTES.min(png.len()));
    let mut plain = signature.to_vec();
    while let Some((head, _)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, kind @ ..] = head;
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        // Length, kind, data and checksum; of a chunk that is cut off, whatever is there.
        let (chunk, after) = rest.split_at(length.saturating_add(12).min(rest.len()));
        if PNG_CHUNKS.contains(&kind) {
            plain.extend_from_slice(chunk);
        }
        rest = after;
    }
    plain
}

fn decoder_limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE);
    limits.max_image_height = Some(SIDE);
    limits.max_alloc = Some(DECODED_BYTES);
    limits
}

/// JPEG has grey and three colours of 8 bits, nothing else.
fn writable(image: DynamicImage, format: ImageFormat) -> DynamicImage {
    if format != ImageFormat::Jpeg {
        image
    } else if image.color().has_color() {
        image.into_rgb8().into()
    } else {
        image.into_luma8().into()
    }
}

/// The URL with the wanted size in its query: `https://host/cat.png?width=640&height=480`.
fn derived(url: &str, width: u32, height: u32) -> Result<String, Refused> {
    let mut url = Url::parse(url).map_err(|_| Refused::Url)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refused::Url);
    }
    url.set_fragment(None);
    url.query_pairs_mut().append_pair("width", &width.to_string()).append_pair("height", &height.to_string());
    Ok(url.into())
}

#[cfg(test)]
#[path = "resize_image_tests.rs"]
mod tests;
