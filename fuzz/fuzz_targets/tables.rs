#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| garblet_fuzz::tables::run(bytes));
