//! Reading YAML: see `chancery_tests::fuzz::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chancery_tests::fuzz::text(bytes));
