use super::*;
use proptest::prelude::*;

#[test]
fn nothing_is_advertised_by_default() {
    assert_eq!(
        Offers::default().client_capabilities(),
        json!({ "fs": { "readTextFile": false, "writeTextFile": false } })
    );
    for method in INBOUND {
        let baseline = method.offer == Offer::Baseline;
        assert_eq!(Offers::default().admit(method.name).is_some(), baseline, "{}", method.name);
    }
}

/// A value for a capability, and whether it means support for a flag or for a marker.
fn capability() -> impl Strategy<Value = (Value, bool, bool)> {
    prop_oneof![
        Just((Value::Null, false, false)),
        Just((json!(false), false, false)),
        Just((json!(true), true, false)),
        Just((json!({}), false, true)),
        Just((json!({ "x": 1 }), false, true)),
        Just((json!("yes"), false, false)),
        Just((json!([]), false, false)),
        Just((json!(1), false, false)),
    ]
}

proptest! {
    /// Rule C13: any combination of capabilities and of the host's switch opens exactly the calls, and the parts of calls,
    /// that it names.
    #[test]
    fn every_combination_opens_exactly_what_it_names(
        values in proptest::collection::vec(proptest::option::of(capability()), OUTBOUND.len() + features::ALL.len()),
        unstable in any::<bool>(),
    ) {
        let gates = || OUTBOUND.iter().map(|m| m.gate).chain(features::ALL.iter().map(|f| f.gate));
        let mut raw = json!({});
        let mut set = std::collections::HashMap::new();
        for (gate, value) in gates().zip(&values) {
            let (Gate::Flag(pointer) | Gate::Marker(pointer)) = gate else { continue };
            let Some((value, flag, marker)) = value else { continue };
            let mut at = &mut raw;
            let parts: Vec<_> = pointer.trim_start_matches('/').split('/').collect();
            for part in &parts[..parts.len() - 1] {
                if !at[*part].is_object() {
                    at[*part] = json!({});
                }
                at = &mut at[*part];
            }
            let last = parts[parts.len() - 1];
            if at.get(last).is_none() {
                at[last] = value.clone();
                set.insert(pointer, if matches!(gate, Gate::Flag(_)) { *flag } else { *marker });
            }
        }
        // What lies below a marker makes it an object, whatever was drawn for the marker itself.
        let open = |gate: Gate| match gate {
            Gate::Baseline | Gate::Session => true,
            Gate::Flag(p) => set.get(p).copied().unwrap_or(false),
            Gate::Marker(p) => {
                let below = format!("{p}/");
                set.get(p).copied().unwrap_or(false) || set.keys().any(|other| other.starts_with(&below))
            }
        };
        let capabilities = AgentCapabilities::new(Some(raw)).with_unstable(unstable);
        for method in OUTBOUND {
            let expected = open(method.gate) && (unstable || !method.switched);
            let checked = capabilities.check(method.name);
            prop_assert_eq!(checked.is_ok(), expected, "{}", method.name);
            if let Err(error) = checked {
                prop_assert_eq!(error.code(), ErrorCode::UnsupportedCapability);
                prop_assert_eq!(&error.details().extra.as_ref().unwrap()["method"], method.name);
            }
        }
        for feature in features::ALL {
            let expected = open(feature.gate) && (unstable || !feature.switched);
            let checked = capabilities.check_feature(feature);
            prop_assert_eq!(checked.is_ok(), expected, "{}", feature.name);
            if let Err(error) = checked {
                prop_assert_eq!(error.code(), ErrorCode::UnsupportedCapability);
            }
        }
    }

    /// Rule C14: what is advertised is handled, and nothing else is, whatever the host enabled.
    #[test]
    fn every_combination_of_offers_handles_exactly_what_it_advertises(bits in any::<u8>()) {
        let bit = |n: u8| bits & (1 << n) != 0;
        let offers = Offers {
            read_text_file: bit(0),
            write_text_file: bit(1),
            terminal: bit(2),
            elicitation_form: bit(3),
            elicitation_url: bit(4),
            auth_terminal: bit(5),
            rich_updates: bit(6),
            unstable: bit(7),
        };
        let told = offers.client_capabilities();
        for method in INBOUND {
            let expected = match method.offer {
                Offer::Baseline => true,
                Offer::ReadTextFile => told["fs"]["readTextFile"] == true,
                Offer::WriteTextFile => told["fs"]["writeTextFile"] == true,
                Offer::Terminal => told["terminal"] == true,
                Offer::Elicitation => told["elicitation"].is_object(),
                Offer::Unstable => offers.unstable,
            };
            prop_assert_eq!(offers.admit(method.name).is_some(), expected, "{}", method.name);
        }
        prop_assert_eq!(told["elicitation"]["form"].is_object(), offers.elicitation_form);
        prop_assert_eq!(told["elicitation"]["url"].is_object(), offers.elicitation_url);
        for unstable in ["cursors", "promptSuggestions"] {
            prop_assert_eq!(told["session"][unstable].is_object(), offers.rich_updates && offers.unstable);
        }
    }
}

#[test]
fn the_switch_is_named_where_it_is_what_lacks() {
    let all = json!({ "providers": {}, "sessionCapabilities": { "options": {} } });
    let error = AgentCapabilities::new(Some(all.clone())).check("providers/list").unwrap_err();
    assert_eq!(error.details().extra.as_ref().unwrap()["option"], "unstable");
    assert!(AgentCapabilities::new(Some(all)).with_unstable(true).check("providers/list").is_ok());
}

#[test]
fn extension_methods_pass_and_inventions_do_not() {
    let none = AgentCapabilities::new(None);
    assert!(none.check("_vendor/x").is_ok());
    assert_eq!(none.check("session/invented").unwrap_err().code(), ErrorCode::InvalidArgument);
}
