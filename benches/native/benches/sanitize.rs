//! Sanitising over growing inputs: time per byte must stay flat, and clean text must run at the speed of a copy.

use acp_runtime::text::sanitize::{append_sanitized, strip_control_sequences};
use divan::Bencher;
use divan::counter::BytesCount;

const SIZES: &[usize] = &[40, 1_000, 64_000, 1_000_000, 4_000_000];

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, unit: &str, size: usize) {
    let text = unit.repeat(size / unit.len());
    let mut out = String::with_capacity(text.len());
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        out.clear();
        append_sanitized(&mut out, divan::black_box(&text), usize::MAX)
    });
}

#[divan::bench(args = SIZES)]
fn clean_ascii(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "The agent says something plain here.\n\t ", size);
}

#[divan::bench(args = SIZES)]
fn clean_cjk(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "代理在这里说了些什么。", size);
}

#[divan::bench(args = SIZES)]
fn coloured(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "\x1b[1;31mError\x1b[0m in file\r\n", size);
}

#[divan::bench(args = SIZES)]
fn only_introducers(bencher: Bencher<'_, '_>, size: usize) {
    run(bencher, "\x1b]", size);
}

#[divan::bench(args = SIZES)]
fn copy_for_comparison(bencher: Bencher<'_, '_>, size: usize) {
    let text = "x".repeat(size);
    let mut out = String::with_capacity(size);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        out.clear();
        out.push_str(divan::black_box(&text));
    });
}

#[divan::bench(args = SIZES)]
fn strip_clean(bencher: Bencher<'_, '_>, size: usize) {
    let text = "plain text ".repeat(size / 11 + 1);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| strip_control_sequences(divan::black_box(&text)).len());
}
