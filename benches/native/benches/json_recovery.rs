//! Recovery of JSON over growing inputs, honest and hostile: time per byte must stay flat.

use acp_runtime::text::json::extract_json_objects;
use divan::Bencher;
use divan::counter::BytesCount;

const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000, 10_000_000];

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, unit: &str, size: usize) {
    let text = unit.repeat(size / unit.len());
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| extract_json_objects(divan::black_box(&text)).len());
}

#[divan::bench(args = SIZES)]
fn prose(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "The agent explains at length what it did, and why.\n", size);
}

#[divan::bench(args = SIZES)]
fn objects(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "done: {\"verdict\":\"pass\",\"assertions\":[{\"id\":\"a\",\"passed\":true}]}\n", size);
}

#[divan::bench(args = SIZES)]
fn open_braces(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "{", size);
}

#[divan::bench(args = SIZES)]
fn open_brackets(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "[", size);
}

#[divan::bench(args = SIZES)]
fn open_keys(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "{\"", size);
}

#[divan::bench(args = SIZES)]
fn nested_objects(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "{\"a\":", size);
}

#[divan::bench(args = SIZES)]
fn malformed_lines(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "{\"a\" oops\n", size);
}
