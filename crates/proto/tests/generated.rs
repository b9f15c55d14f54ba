//! The committed code and the `.proto` files say the same.

#[path = "../examples/generate/codegen.rs"]
mod codegen;

#[test]
fn the_committed_code_is_what_the_contract_generates() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    codegen::generate(dir.path()).expect("the contract compiles");
    let fresh = std::fs::read_to_string(dir.path().join("ganger.v1.rs")).expect("generated");
    let committed = include_str!("../src/generated/ganger.v1.rs");
    assert!(
        fresh == committed,
        "src/generated/ganger.v1.rs is out of date: run `cargo run -p ganger-proto --example generate`"
    );
}
