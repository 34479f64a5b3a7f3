//! Framing and the envelope over growing inputs: time per byte and per line must stay flat.

use acp_runtime::wire::{LineSplitter, chunk, envelope, update};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

fn main() {
    divan::main();
}

fn text_line(i: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"chunk {i:034}"}}}}}}}}"#
    )
}

/// One line of this many bytes in reads of 4 KiB: the carried bytes must not be searched again.
#[divan::bench(args = [64_000, 1_000_000, 20_000_000])]
fn one_long_line_in_small_reads(bencher: Bencher<'_, '_>, size: usize) {
    let line = vec![b'x'; size];
    bencher.counter(BytesCount::new(size)).bench_local(|| {
        let mut splitter = LineSplitter::new(usize::MAX);
        for part in line.chunks(4096) {
            splitter.read_buffer().extend_from_slice(part);
            assert!(splitter.next_line().is_none());
        }
        splitter.read_buffer().push(b'\n');
        assert!(splitter.next_line().is_some());
    });
}

/// This many lines of text chunks in reads of 64 KiB, framed and decoded on the fast path.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn text_chunks(bencher: Bencher<'_, '_>, lines: usize) {
    let bytes: Vec<u8> = (0..lines).flat_map(|i| (text_line(i) + "\n").into_bytes()).collect();
    bencher.counter(ItemsCount::new(lines)).bench_local(|| {
        let mut splitter = LineSplitter::new(usize::MAX);
        let mut seen = 0;
        for part in bytes.chunks(64 * 1024) {
            splitter.read_buffer().extend_from_slice(part);
            while let Some(acp_runtime::wire::Line::Complete(line)) = splitter.next_line() {
                let text = std::str::from_utf8(line).unwrap_or_default();
                seen += usize::from(chunk::decode(text).is_some());
            }
        }
        assert_eq!(seen, lines);
    });
}

/// The general paths, with parameters of this many bytes.
#[divan::bench(args = [200, 20_000, 2_000_000])]
fn tool_update(bencher: Bencher<'_, '_>, size: usize) {
    let output = "o".repeat(size);
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t","rawOutput":"{output}"}}}}}}"#
    );
    bencher.counter(BytesCount::of_str(&line)).bench_local(|| assert!(update::decode(divan::black_box(&line)).is_some()));
}

/// A response with a result of this many bytes.
#[divan::bench(args = [200, 20_000, 2_000_000])]
fn response(bencher: Bencher<'_, '_>, size: usize) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{}"}}}}"#, "r".repeat(size));
    bencher.counter(BytesCount::of_str(&line)).bench_local(|| {
        assert!(matches!(envelope::decode(divan::black_box(&line)), envelope::Frame::Message(_)));
    });
}
