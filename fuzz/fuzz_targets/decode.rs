//! Reading objects: see `chancery_tests::fuzz::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chancery_tests::fuzz::decode(bytes));
