//! Packs the web page into the binary, if it was built: a table of what `ui/dist` holds, compressed forms included.
//!
//! Node is never needed here. Without `ui/dist` the table is empty, and the server says under `/ui/` how to get the page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the server replaces in the page, as in `ganger_server::http::ui::BASE`.
const BASE: &str = "<base href=\"./\"";

fn main() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    let dist = ui.join("dist");
    println!("cargo::rerun-if-changed=build.rs");
    // A path that does not exist counts as changed every time. So without a page we watch the folder where it would be.
    let watched = [&dist, &ui].into_iter().find(|path| path.exists());
    if let Some(path) = watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let table = if dist.join("index.html").exists() { table(&dist) } else { "&[]".to_owned() };
    #[expect(clippy::disallowed_methods, reason = "cargo tells a build script by the environment alone")]
    let out = std::env::var("OUT_DIR").expect("cargo says where what is built goes");
    std::fs::write(Path::new(&out).join("ui.rs"), table).expect("what is built can be written");
}

/// The files as an array in Rust, by path.
fn table(dist: &Path) -> String {
    let mut files = Vec::new();
    collect(dist, &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let path = file.strip_prefix(dist).expect("it was found there").display().to_string();
        if path.ends_with(".br") || path.ends_with(".gz") {
            continue;
        }
        let bytes = std::fs::read(&file).expect("a file of the page can be read");
        if path == "index.html" {
            let bases = String::from_utf8_lossy(&bytes).matches(BASE).count();
            assert!(bases == 1, "ui/dist/index.html has no `{BASE}`: build the page again with `make ui`");
        }
        let beside = |ending: &str| {
            let other = PathBuf::from(format!("{}.{ending}", file.display()));
            if other.exists() { format!("Some(include_bytes!({other:?}))") } else { "None".to_owned() }
        };
        let (mime, hash) = (mime(&path), hash(&bytes));
        let (br, gz) = (beside("br"), beside("gz"));
        writeln!(
            table,
            "Asset {{ path: {path:?}, mime: {mime:?}, hash: {hash:?}, bytes: include_bytes!({file:?}), br: {br}, gz: {gz} }},"
        )
        .expect("a text can be written to");
    }
    table.push(']');
    table
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the folder of the page can be read") {
        let path = entry.expect("the folder of the page can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn mime(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// FNV-1a of 128 bits: it tells versions of a file apart, and protects nothing.
fn hash(bytes: &[u8]) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in bytes {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}
