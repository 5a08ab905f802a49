//! The whole, from text to JSON: see `chancery_tests::fuzz::compile`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chancery_tests::fuzz::compile(bytes));
