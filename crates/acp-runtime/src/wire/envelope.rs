//! The JSON-RPC 2.0 envelope, with ids, params and results left as raw JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::text::Text;

/// The longest id accepted from the agent, in bytes of JSON.
const MAX_ID_BYTES: usize = 1024;

/// One line, read as far as its envelope.
#[derive(Debug)]
pub enum Frame<'a> {
    /// A JSON-RPC message.
    Message(Message<'a>),
    /// Something else; the connection goes on without it (field cases W01, W02).
    Noise(Noise),
}

/// Why a line is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Not JSON.
    NotJson,
    /// JSON, but not a JSON-RPC 2.0 object.
    NotRpc,
}

/// A JSON-RPC message.
#[derive(Debug)]
pub enum Message<'a> {
    /// The agent asks; `id` is its own JSON, to be echoed as it is.
    Request {
        /// Number, string or null, as written.
        id: &'a str,
        /// The method.
        method: Cow<'a, str>,
        /// The parameters, as written.
        params: Option<&'a RawValue>,
    },
    /// The agent tells; never answered.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters, as written.
        params: Option<&'a RawValue>,
    },
    /// The agent answers.
    Response {
        /// The id of the call it answers.
        id: ResponseId,
        /// Its result.
        outcome: Outcome<'a>,
    },
}

/// What a response says.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// The result, as written.
    Result(&'a RawValue),
    /// The error object, as written.
    Error(&'a RawValue),
    /// Shaped like a response but neither, or both.
    Malformed(&'static str),
}

/// Which of our calls a response belongs to. Our ids are positive integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseId {
    /// The integer, as sent.
    Exact(u64),
    /// The integer came back as a string or a float (field case W09 c).
    Quirk(u64),
    /// Not one of ours.
    Foreign,
}

/// Reads a line's envelope. `line` is valid UTF-8 with valid surrogate escapes; [`super::schema`] and the caller repair
/// what JavaScript agents get wrong before that.
pub fn decode(line: &str) -> Frame<'_> {
    if !line.starts_with('{') && !line.trim_start().starts_with('{') {
        // Logs, banners, and JSON values that are no objects: no need to parse them.
        return Frame::Noise(if serde_json::from_str::<&RawValue>(line).is_ok() {
            Noise::NotRpc
        } else {
            Noise::NotJson
        });
    }
    match serde_json::from_str::<Envelope<'_>>(line) {
        Ok(envelope) => envelope.classify(),
        Err(error) if error.is_data() => Frame::Noise(Noise::NotRpc),
        Err(_) => Frame::Noise(Noise::NotJson),
    }
}

/// The members of the envelope, each as raw JSON; the last of a repeated member wins, as JavaScript does.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    fn classify(self) -> Frame<'a> {
        // A missing version is tolerated on what else is a message; a wrong one is another protocol, except that a
        // response in it is the only one that its call will ever get (field case W02).
        let versioned = match self.version.map(RawValue::get) {
            Some(r#""2.0""#) => true,
            None => false,
            Some(_) => return self.of_another_version(),
        };
        if let Some(method) = self.method {
            let Ok(Text(method)) = serde_json::from_str(method.get()) else {
                return Frame::Noise(Noise::NotRpc);
            };
            return match self.id.map(RawValue::get) {
                None => Frame::Message(Message::Notification { method, params: self.params }),
                Some(id) if valid_id(id) => Frame::Message(Message::Request { id, method, params: self.params }),
                Some(_) => Frame::Noise(Noise::NotRpc),
            };
        }
        let Some(id) = self.id else { return Frame::Noise(Noise::NotRpc) };
        // `error: null` beside a result is a habit of some libraries.
        let error = self.error.filter(|e| e.get() != "null");
        let outcome = match (self.result, error) {
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) if error.get().starts_with('{') => Outcome::Error(error),
            // Structured logs have ids and errors, too.
            _ if !versioned => return Frame::Noise(Noise::NotRpc),
            (None, Some(_)) => Outcome::Malformed("its error is not an object"),
            (Some(_), Some(_)) => Outcome::Malformed("it has both a result and an error"),
            (None, None) => Outcome::Malformed("it has neither a result nor an error"),
        };
        Frame::Message(Message::Response { id: response_id(id.get()), outcome })
    }

    fn of_another_version(&self) -> Frame<'a> {
        match self.id {
            Some(id) if self.method.is_none() && (self.result.is_some() || self.error.is_some()) => {
                let outcome = Outcome::Malformed("it is not JSON-RPC 2.0");
                Frame::Message(Message::Response { id: response_id(id.get()), outcome })
            }
            _ => Frame::Noise(Noise::NotRpc),
        }
    }
}

/// JSON-RPC ids are numbers, strings or null.
pub(super) fn valid_id(id: &str) -> bool {
    id.len() <= MAX_ID_BYTES && matches!(id.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'))
}

pub(super) fn response_id(id: &str) -> ResponseId {
    if let Ok(number) = id.parse() {
        return ResponseId::Exact(number);
    }
    let inner = id.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(id);
    let inner = inner.strip_suffix(".0").unwrap_or(inner);
    inner.parse().map_or(ResponseId::Foreign, ResponseId::Quirk)
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EnvelopeVisitor;
        impl<'de> Visitor<'de> for EnvelopeVisitor {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    // `&RawValue`, not `Option`: null is a value here.
                    let value: &RawValue = map.next_value()?;
                    match &*key {
                        "jsonrpc" => envelope.version = Some(value),
                        "id" => envelope.id = Some(value),
                        "method" => envelope.method = Some(value),
                        "params" => envelope.params = Some(value),
                        "result" => envelope.result = Some(value),
                        "error" => envelope.error = Some(value),
                        _ => {}
                    }
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn response(line: &str) -> (ResponseId, String) {
        match decode(line) {
            Frame::Message(Message::Response { id, outcome }) => {
                let text = match outcome {
                    Outcome::Result(r) => format!("result {r}"),
                    Outcome::Error(e) => format!("error {e}"),
                    Outcome::Malformed(why) => why.to_owned(),
                };
                (id, text)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ids_of_requests_keep_their_own_json() {
        for id in ["0", "-1", "\"1\"", "1.0", "9007199254740993", "\"x\\u0041\"", "null"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"a":1}}}}"#);
            match decode(&line) {
                Frame::Message(Message::Request { id: got, method, params }) => {
                    assert_eq!((got, &*method, params.unwrap().get()), (id, "m", r#"{"a":1}"#));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn what_is_not_json_rpc_is_noise() {
        let not_json = ["[12:00:00] Using config", "Welcome back", "{oops", "{\"a\":", "\u{1b}[2K"];
        let not_rpc = [
            "null",
            "42",
            "\"ready\"",
            "[1,2]",
            r#"{"level":"info","id":1,"msg":"boot"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"1.0","id":1}"#,
            r#"{"level":"error","id":1,"error":"boom"}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
        ];
        for line in not_json {
            assert!(matches!(decode(line), Frame::Noise(Noise::NotJson)), "{line}");
        }
        for line in not_rpc {
            assert!(matches!(decode(line), Frame::Noise(Noise::NotRpc)), "{line}");
        }
    }

    #[test]
    fn a_response_shaped_frame_never_loses_its_id() {
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":3,"result":null}"#), (ResponseId::Exact(3), "result null".into()));
        assert_eq!(response(r#"{"id":3,"result":{},"error":null}"#), (ResponseId::Exact(3), "result {}".into()));
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":"3","result":1}"#).0, ResponseId::Quirk(3));
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":3.0,"result":1}"#).0, ResponseId::Quirk(3));
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":"x","result":1}"#).0, ResponseId::Foreign);
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":3,"error":{"code":1}}"#).1, r#"error {"code":1}"#);
        for broken in [r#""result":1,"error":{}"#, r#""error":"text""#, r#""x":1"#] {
            let (id, what) = response(&format!(r#"{{"jsonrpc":"2.0","id":7,{broken}}}"#));
            assert_eq!(id, ResponseId::Exact(7));
            assert!(what.starts_with("it"), "{what}");
        }
        let (id, what) = response(r#"{"jsonrpc":"1.0","id":7,"result":{}}"#);
        assert_eq!((id, what.as_str()), (ResponseId::Exact(7), "it is not JSON-RPC 2.0"));
    }

    #[test]
    fn a_repeated_member_is_not_fatal() {
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":1,"id":2,"result":1}"#).0, ResponseId::Exact(2));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(line in ".{0,200}") {
            let _ = decode(&line);
        }

        #[test]
        fn any_mutation_of_a_message_is_survived(at in 0usize..60, with in any::<char>()) {
            let line = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
            let mutated: String =
                line.chars().enumerate().map(|(i, c)| if i == at { with } else { c }).collect();
            let _ = decode(&mutated);
        }
    }
}
