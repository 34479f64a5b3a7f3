//! Kinds, categories, rules.

use acp_runtime::services::permission::{
    Category, Classification, Disposition, classify_tool_kind, disposition_for, effective_disposition,
    floor_disposition,
};
use proptest::prelude::*;

#[test]
fn every_kind_has_its_class() {
    let class = |kind| classify_tool_kind(Some(kind)).as_str();
    assert_eq!(class("execute"), "command_execution");
    assert_eq!(["edit", "delete", "move"].map(class), ["file_write_delete"; 3]);
    assert_eq!(class("fetch"), "network_api");
    assert_eq!(["read", "search", "think", "switch_mode"].map(class), ["exempt"; 4]);
    assert_eq!(["other", "", "Execute", "read ", "constructor"].map(class), ["deny"; 5]);
    assert_eq!(classify_tool_kind(None), Classification::Deny);
}

#[test]
fn categories_have_the_names_that_policies_use() {
    let names = ["git_write", "file_write_delete", "command_execution", "network_api", "task_agent_mutation"];
    assert_eq!(Category::ALL.map(Category::as_str), names);
    for name in names {
        assert_eq!(Category::from_name(name).unwrap().to_string(), name);
    }
    assert_eq!(Category::from_name("exempt"), None);
}

const COMMAND: Classification = Classification::Category(Category::CommandExecution);

#[test]
fn a_blanket_allow_still_asks_unless_the_host_takes_the_risk() {
    use Disposition::{Allow, Block, RequireApproval};
    assert_eq!(disposition_for(COMMAND, None), RequireApproval);
    assert_eq!(disposition_for(COMMAND, Some(Allow)), Allow);
    assert_eq!(effective_disposition(COMMAND, Some(Allow), false), RequireApproval);
    assert_eq!(effective_disposition(COMMAND, Some(Allow), true), Allow);
    assert_eq!(effective_disposition(COMMAND, Some(Block), true), Block);
    assert_eq!(effective_disposition(Classification::Exempt, Some(Block), false), Allow);
    assert_eq!(effective_disposition(Classification::Deny, Some(Allow), true), Block);
}

#[test]
fn without_a_policy_nothing_is_allowed() {
    for class in [Classification::Exempt, COMMAND, Classification::Deny] {
        assert_eq!(floor_disposition(class, false, Some(Disposition::Allow), true), Disposition::Block);
    }
    assert_eq!(floor_disposition(Classification::Exempt, true, None, false), Disposition::Allow);
}

#[test]
fn a_rule_that_is_not_understood_asks() {
    assert_eq!(
        ["allow", "block", "require-approval", "Allow", "yes", ""].map(|rule| Disposition::from_rule(rule).as_str()),
        ["allow", "block", "require-approval", "require-approval", "require-approval", "require-approval"]
    );
}

proptest! {
    #[test]
    fn unknown_kinds_are_never_allowed(kind in "\\PC{0,12}", rule in prop::option::of("allow|block|x"), risk in any::<bool>()) {
        let known = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"];
        prop_assume!(!known.contains(&kind.as_str()));
        let rule = rule.as_deref().map(Disposition::from_rule);
        prop_assert_eq!(floor_disposition(classify_tool_kind(Some(&kind)), true, rule, risk), Disposition::Block);
    }
}
