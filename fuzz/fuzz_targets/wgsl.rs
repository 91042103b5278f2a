#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    smallstep::robust::wgsl(bytes);
});
