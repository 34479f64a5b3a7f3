//! How much output is kept (field case F03), and in which order.

use acp_runtime::services::terminal::{DEFAULT_OUTPUT_CEILING, TerminalOutput};

use crate::support::{sh, terminals};

async fn run(line: &str, limit: Option<u64>) -> TerminalOutput {
    let terminals = terminals();
    let id = terminals.create("s", sh(line), limit).unwrap();
    terminals.wait_for_exit("s", &id).await.unwrap();
    terminals.release("s", &id).await.unwrap()
}

/// 3 MB of a character of three bytes.
const FLOOD: &str = "i=0; while [ $i -lt 1000 ]; do printf '%1000s' '' ; i=$((i+1)); done | sed 's/ /€/g'";

#[tokio::test]
async fn c57_the_newest_output_within_the_limit_is_kept() {
    let output = run(FLOOD, Some(1000)).await;
    assert_eq!((output.output, output.truncated), ("€".repeat(333), true));
    let output = run(FLOOD, Some(1 << 53)).await;
    assert!(output.output == "€".repeat(DEFAULT_OUTPUT_CEILING / 3) && output.truncated);
    let output = run(FLOOD, Some(0)).await;
    assert_eq!((output.output.as_str(), output.truncated), ("", true));
    let output = run("printf abc", Some(3)).await;
    assert_eq!((output.output.as_str(), output.truncated), ("abc", false));
}

#[tokio::test]
async fn both_outputs_arrive_in_the_order_of_writing() {
    let line = "for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done";
    let expected: String = (1..10).flat_map(|i| [format!("out{i}\n"), format!("err{i}\n")]).collect();
    assert_eq!(run(line, None).await.output, expected);
}

#[tokio::test]
async fn only_the_given_environment_and_no_input_reach_the_command() {
    let output = run("cat; env | sort", None).await.output;
    let names: Vec<_> = output.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(
        names.contains(&"PATH")
            && names.iter().all(|name| ["PATH", "PWD", "OLDPWD", "SHLVL", "_", "FUSION_ACP_TREE"].contains(name))
    );
}
