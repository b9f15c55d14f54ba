//! Real images, in and out; and images that claim to be more than they are.

use image::{Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};

use super::*;

/// Left half red, right half blue.
fn picture(width: u32, height: u32, format: ImageFormat) -> String {
    let image =
        RgbImage::from_fn(
            width,
            height,
            |x, _| if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) },
        );
    encoded(&image.into(), format)
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> String {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    STANDARD.encode(bytes.into_inner())
}

async fn run_with(payload: Value) -> Result<Value, JobError> {
    let request = serde_json::from_value(payload).unwrap();
    Ok(serde_json::to_value(run(Ctx::for_test("resize_image"), request).await?).unwrap())
}

async fn refusal(payload: Value) -> String {
    let error = run_with(payload).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    error.to_string()
}

#[tokio::test]
async fn data_is_really_resized_and_keeps_its_format_and_content() {
    for (format, name) in [(ImageFormat::Png, "png"), (ImageFormat::Jpeg, "jpeg")] {
        let result =
            run_with(json!({"data": picture(64, 32, format), "width": 20, "height": 30})).await.unwrap();
        assert_eq!(
            (&result["format"], &result["width"], &result["height"]),
            (&json!(name), &json!(20), &json!(30))
        );
        let bytes = STANDARD.decode(result["data"].as_str().unwrap()).unwrap();
        assert_eq!(image::guess_format(&bytes).unwrap(), format);
        let image = image::load_from_memory(&bytes).unwrap().into_rgb8();
        assert_eq!(image.dimensions(), (20, 30));
        let (left, right) = (image.get_pixel(2, 15), image.get_pixel(17, 15));
        assert!(left[0] > 200 && left[2] < 60, "{name}: left is {left:?}");
        assert!(right[2] > 200 && right[0] < 60, "{name}: right is {right:?}");
    }
}

#[tokio::test]
async fn transparency_survives_where_the_format_has_it() {
    let image = RgbaImage::from_pixel(8, 8, Rgba([10, 20, 30, 0])).into();
    let result =
        run_with(json!({"data": encoded(&image, ImageFormat::Png), "width": 4, "height": 4})).await.unwrap();
    let bytes = STANDARD.decode(result["data"].as_str().unwrap()).unwrap();
    assert_eq!(image::load_from_memory(&bytes).unwrap().into_rgba8().get_pixel(1, 1)[3], 0);
}

#[tokio::test]
async fn a_bare_url_is_simulated() {
    let result =
        run_with(json!({"url": "https://example.com/cat.png?v=2#top", "width": 640, "height": 480})).await;
    assert_eq!(
        result.unwrap(),
        json!({"resized_url": "https://example.com/cat.png?v=2&width=640&height=480"})
    );
    for bad in ["", "cat.png", "file:///etc/passwd", "javascript:alert(1)"] {
        assert_eq!(
            refusal(json!({"url": bad, "width": 1, "height": 1})).await,
            "url is not an http or https URL"
        );
    }
}

#[tokio::test]
async fn the_wanted_size_is_taken_at_the_bound_and_refused_one_past_it() {
    let data = picture(2, 2, ImageFormat::Png);
    assert!(run_with(json!({"data": data, "width": SIDE, "height": 1})).await.is_ok());
    for (width, height) in [(SIDE + 1, 1), (1, SIDE + 1), (0, 1), (1, 0)] {
        let text = refusal(json!({"data": data, "width": width, "height": height})).await;
        assert!(text.contains("each side must be from 1 to 8192"), "{text}");
    }
    assert!(check("wanted", SIDE, 1024).is_ok());
    assert_eq!(
        refusal(json!({"data": data, "width": SIDE, "height": 1025})).await,
        "wanted size is 8192 x 1025, the limit is 8388608 pixels"
    );
}

/// A PNG of a few dozen bytes that says it is 100,000 pixels wide and high: 40 GB, were it believed.
#[tokio::test]
async fn an_image_that_claims_to_be_enormous_is_refused_before_it_is_decoded() {
    let mut png = STANDARD.decode(picture(1, 1, ImageFormat::Png)).unwrap();
    for (at, side) in [(16, 100_000u32), (20, 100_000)] {
        png[at..at + 4].copy_from_slice(&side.to_be_bytes());
    }
    let checksum = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    let text = refusal(json!({"data": STANDARD.encode(png), "width": 1, "height": 1})).await;
    assert_eq!(text, "image size is 100000 x 100000, each side must be from 1 to 8192");
}

/// As PNG wants it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[tokio::test]
async fn what_is_no_image_is_fatal_and_says_why() {
    let size = |payload: Value| {
        let mut payload = payload;
        payload["width"] = 4.into();
        payload["height"] = 4.into();
        payload
    };
    assert_eq!(refusal(size(json!({}))).await, "payload has neither `data` nor `url`");
    let both = json!({"data": "", "url": "http://example.com/"});
    assert_eq!(refusal(size(both)).await, "payload has both `data` and `url`, one is needed");
    assert!(refusal(size(json!({"data": "???"}))).await.starts_with("data is not base64"));
    assert_eq!(
        refusal(size(json!({"data": STANDARD.encode("GIF89a")}))).await,
        "data is neither PNG nor JPEG"
    );
    assert_eq!(refusal(size(json!({"data": ""}))).await, "data is neither PNG nor JPEG");
    let half = STANDARD.decode(picture(64, 64, ImageFormat::Png)).unwrap();
    let half = STANDARD.encode(&half[..half.len() / 2]);
    assert!(refusal(size(json!({"data": half}))).await.starts_with("image cannot be used"));
}
