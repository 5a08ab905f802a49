//! Checks that the committed files match the codegen's output.

#[test]
fn generated_files_are_fresh() {
    assert_eq!(xtask_codegen::run(true), Ok(true), "run `cargo xtask codegen` and commit the result");
}
