//! The committed code and the `.proto` files say the same.

#[path = "../examples/generate/codegen.rs"]
mod codegen;

#[test]
fn the_committed_code_is_what_the_contract_generates() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    codegen::generate(dir.path()).expect("the contract compiles");
    for (name, committed) in [
        ("ganger.v1.rs", include_str!("../src/generated/ganger.v1.rs")),
        ("dts.rs", include_str!("../src/generated/dts.rs")),
        ("grpc.health.v1.rs", include_str!("../src/generated/grpc.health.v1.rs")),
    ] {
        let fresh = std::fs::read_to_string(dir.path().join(name)).expect("generated");
        assert!(
            fresh == committed,
            "src/generated/{name} is out of date: run `cargo run -p ganger-proto --example generate`"
        );
    }
}
