//! Which option an answer becomes (field cases S07 and S08, rules C52 and C53).

use acp_runtime::port::PermissionDecision;
use acp_runtime::services::permission::{
    Checked, Decision, Floor, OptionKind, Outcome, PermissionOption, Refusal, Several, check_host_answer, deny_outcome,
    resolve_decision, select_option,
};
use proptest::prelude::*;
use serde_json::json;

fn option(id: &str, kind: &str) -> PermissionOption {
    let kind = OptionKind::from_name(kind).unwrap_or_else(|| OptionKind::Other(kind.to_owned()));
    PermissionOption { option_id: id.into(), wire_id: format!("wire-{id}"), name: id.into(), kind }
}

fn options(kinds: &[&str]) -> Vec<PermissionOption> {
    kinds.iter().enumerate().map(|(i, kind)| option(&format!("o{i}"), kind)).collect()
}

fn selected(id: &str) -> Outcome {
    Outcome::Selected(format!("wire-{id}"))
}

const ALL: [&str; 4] = ["allow_always", "allow_once", "reject_once", "reject_always"];

#[test]
fn automatic_answers_never_last() {
    let all = options(&ALL);
    let allow = select_option(Decision::Allow, &all, Several::Refuse);
    assert_eq!((allow.decision, allow.outcome()), (Decision::Allow, selected("o1")));
    assert_eq!(deny_outcome(&all), selected("o2"));
    let only_lasting = options(&["allow_always", "reject_always"]);
    let allow = select_option(Decision::Allow, &only_lasting, Several::TakeFirst);
    assert_eq!((allow.decision, allow.outcome()), (Decision::Deny, Outcome::Cancelled));
    assert_eq!(deny_outcome(&only_lasting), Outcome::Cancelled);
    assert_eq!(deny_outcome(&options(&["allow_once", "allow_always"])), Outcome::Cancelled);
    assert_eq!(deny_outcome(&[]), Outcome::Cancelled);
}

#[test]
fn an_allow_that_no_option_carries_becomes_a_denial() {
    let options = options(&["reject_once", "allow_always"]);
    let selection = select_option(Decision::Allow, &options, Several::Refuse);
    assert_eq!((selection.decision, selection.outcome()), (Decision::Deny, selected("o0")));
}

#[test]
fn several_ways_to_allow_are_for_a_person_to_weigh() {
    let four = options(&["allow_once", "allow_once", "allow_once", "allow_once", "reject_once"]);
    let refused = select_option(Decision::Allow, &four, Several::Refuse);
    assert_eq!((refused.decision, refused.ambiguous, refused.outcome()), (Decision::Deny, true, selected("o4")));
    let first = select_option(Decision::Allow, &four, Several::TakeFirst);
    assert_eq!((first.decision, first.outcome()), (Decision::Allow, selected("o0")));
    let picked = check_host_answer(&four, Some("o2"), Floor::OnceOnly);
    assert_eq!(picked, Checked { outcome: selected("o2"), refused: None });
}

#[test]
fn the_host_can_only_choose_what_was_offered() {
    let all = options(&ALL);
    for floor in [Floor::OnceOnly, Floor::AnyOffered] {
        for unknown in ["o9", "", "wire-o1", "O1"] {
            let checked = check_host_answer(&all, Some(unknown), floor);
            assert_eq!(checked, Checked { outcome: Outcome::Cancelled, refused: Some(Refusal::UnknownOption) });
        }
        assert_eq!(check_host_answer(&all, None, floor), Checked { outcome: Outcome::Cancelled, refused: None });
        assert_eq!(check_host_answer(&all, Some("o1"), floor).outcome, selected("o1"));
    }
    assert_eq!(check_host_answer(&all, Some("o0"), Floor::AnyOffered).outcome, selected("o0"));
    for lasting in ["o0", "o3"] {
        let checked = check_host_answer(&all, Some(lasting), Floor::OnceOnly);
        assert_eq!(checked, Checked { outcome: selected("o2"), refused: Some(Refusal::ForbiddenKind) });
    }
}

#[test]
fn unknown_kinds_can_be_picked_by_a_person_only() {
    let options = options(&["allow_session", "reject_once"]);
    assert_eq!(select_option(Decision::Allow, &options, Several::TakeFirst).decision, Decision::Deny);
    assert_eq!(check_host_answer(&options, Some("o0"), Floor::OnceOnly).outcome, selected("o1"));
    assert_eq!(check_host_answer(&options, Some("o0"), Floor::AnyOffered).outcome, selected("o0"));
}

#[test]
fn an_id_with_two_meanings_is_never_chosen() {
    let mut twice = vec![option("x", "allow_once"), option("x", "reject_once")];
    assert_eq!(select_option(Decision::Allow, &twice, Several::TakeFirst).option, None);
    assert_eq!(deny_outcome(&twice), Outcome::Cancelled, "the agent might read it as the other one");
    let checked = check_host_answer(&twice, Some("x"), Floor::AnyOffered);
    assert_eq!(checked.refused, Some(Refusal::AmbiguousOption));
    // Two ids that only look alike once they are cleaned.
    twice[1].option_id = "x".into();
    twice[1].wire_id = "wire-x\u{7}".into();
    assert_eq!(check_host_answer(&twice, Some("x"), Floor::AnyOffered).outcome, Outcome::Cancelled);
}

#[test]
fn decisions_of_the_host_become_answers() {
    let all = options(&ALL);
    let resolve = |options: &[PermissionOption], decision| {
        resolve_decision(options, &decision, Floor::AnyOffered, Several::Refuse)
    };
    assert_eq!(resolve(&all, PermissionDecision::AllowOnce).outcome, selected("o1"));
    assert_eq!(resolve(&all, PermissionDecision::Deny).outcome, selected("o2"));
    assert_eq!(resolve(&all, PermissionDecision::Cancel).outcome, Outcome::Cancelled);
    assert_eq!(resolve(&all, PermissionDecision::Select("o3".into())).outcome, selected("o3"));
    let two = options(&["allow_once", "allow_once"]);
    let checked = resolve(&two, PermissionDecision::AllowOnce);
    assert_eq!(checked, Checked { outcome: Outcome::Cancelled, refused: Some(Refusal::AmbiguousOption) });
}

#[test]
fn outcomes_have_the_protocols_shape() {
    let result = json!({ "outcome": { "outcome": "selected", "optionId": "a\u{1}" } });
    assert_eq!(Outcome::Selected("a\u{1}".into()).to_result(), result);
    assert_eq!(Outcome::Cancelled.to_result(), json!({ "outcome": { "outcome": "cancelled" } }));
    for outcome in [Outcome::Selected("x".into()), Outcome::Cancelled] {
        serde_json::from_value::<agent_client_protocol_schema::v1::RequestPermissionResponse>(outcome.to_result())
            .unwrap();
    }
}

fn any_options() -> impl Strategy<Value = Vec<PermissionOption>> {
    let kind =
        prop::sample::select(vec!["allow_once", "allow_always", "reject_once", "reject_always", "allow_session"]);
    let id = prop::sample::select(vec!["a", "b", "c", "d"]);
    prop::collection::vec((id, kind).prop_map(|(id, kind)| option(id, kind)), 0..6)
}

proptest! {
    /// Whatever is offered and answered: a denial never allows, the floor never picks anything that lasts, and what goes to
    /// the agent was offered.
    #[test]
    fn the_floor_holds(options in any_options(), answer in prop::option::of("[a-e]"), several in any::<bool>()) {
        let several = if several { Several::TakeFirst } else { Several::Refuse };
        let kinds = |outcome: &Outcome| match outcome {
            Outcome::Selected(id) => options.iter().filter(|o| o.wire_id == *id).map(|o| o.kind.clone()).collect(),
            Outcome::Cancelled => vec![],
        };
        prop_assert!(kinds(&deny_outcome(&options)).iter().all(|kind| *kind == OptionKind::RejectOnce));
        let allow = select_option(Decision::Allow, &options, several);
        let expected = if allow.decision == Decision::Allow { OptionKind::AllowOnce } else { OptionKind::RejectOnce };
        prop_assert!(kinds(&allow.outcome()).iter().all(|kind| *kind == expected));
        let checked = check_host_answer(&options, answer.as_deref(), Floor::OnceOnly);
        let once = [OptionKind::AllowOnce, OptionKind::RejectOnce];
        prop_assert!(kinds(&checked.outcome).iter().all(|kind| once.contains(kind)));
        if let Outcome::Selected(id) = &checked.outcome {
            prop_assert!(options.iter().any(|o| o.wire_id == *id));
        }
    }
}
