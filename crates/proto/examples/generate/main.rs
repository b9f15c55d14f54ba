//! Makes the committed code of `src/generated` again from the `.proto` files:
//! `cargo run -p ganger-proto --example generate`.

mod codegen;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated");
    codegen::generate(&out)?;
    Ok(())
}
