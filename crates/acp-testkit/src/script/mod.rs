//! Scripts: what they consist of, and how they are read, built and written.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

mod args;
mod builder;
mod step;

pub use args::*;
pub use step::Step;

/// A script: steps, played from the first to the last.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Script {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Script {
    /// Reads a script: a JSON array of steps, or one step a line. Empty lines and lines that begin with `#` or `//` are comments.
    ///
    /// Fails with a text that names the line or the position of the step at fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('[') {
            let values: Vec<Value> =
                serde_json::from_str(text).map_err(|e| format!("not a JSON array of steps: {e}"))?;
            return Self::from_values(values.into_iter().enumerate().map(|(i, v)| (format!("step {}", i + 1), Ok(v))));
        }
        let lines = text.lines().enumerate().filter(|(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")
        });
        Self::from_values(
            lines.map(|(i, line)| (format!("line {}", i + 1), serde_json::from_str(line).map_err(|e| e.to_string()))),
        )
    }

    fn from_values(values: impl Iterator<Item = (String, Result<Value, String>)>) -> Result<Self, String> {
        let steps = values
            .map(|(place, value)| {
                let value = value.map_err(|e| format!("{place}: {e}"))?;
                serde_json::from_value(value.clone()).map_err(|e| format!("{place}: {e} in {value}"))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { steps })
    }

    /// The steps as JSON, without the arguments that were left out.
    pub fn to_values(&self) -> Vec<Value> {
        self.steps.iter().filter_map(|step| serde_json::to_value(step).ok()).map(without_nulls).collect()
    }

    /// The script as one line of JSON, for `--script` and `FAKE_AGENT_SCRIPT`.
    pub fn to_json(&self) -> String {
        Value::Array(self.to_values()).to_string()
    }

    /// The script as a file with one step a line.
    pub fn to_jsonl(&self) -> String {
        self.to_values().iter().flat_map(|step| [step.to_string(), "\n".to_owned()]).collect()
    }

    /// Writes the script to a file, one step a line.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.to_jsonl())
    }

    /// Writes the script to a temporary file that is removed when the value is dropped.
    pub fn to_temp_file(&self) -> io::Result<tempfile::TempPath> {
        let file = tempfile::Builder::new().prefix("fake-agent-").suffix(".jsonl").tempfile()?.into_temp_path();
        self.write_to(&file)?;
        Ok(file)
    }
}

/// Drops the arguments of a step that are `null`, that is absent; values that the step carries keep their nulls.
fn without_nulls(step: Value) -> Value {
    let Value::Object(fields) = step else { return step };
    let kept = fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| {
        let nested = key == "steps" || key == "chunks";
        match value {
            Value::Array(items) if nested => (key, items.into_iter().map(without_nulls).collect()),
            value => (key, value),
        }
    });
    Value::Object(kept.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_both_forms_alike() {
        let lines = "# a comment\n{\"do\":\"initialize\"}\n\n{\"do\":\"exit\",\"code\":3}\n";
        let array = "[{\"do\":\"initialize\"},{\"do\":\"exit\",\"code\":3}]";
        assert_eq!(Script::parse(lines), Script::parse(array));
        assert_eq!(Script::parse(lines).unwrap().steps.len(), 2);
    }

    #[test]
    fn names_the_place_of_a_mistake() {
        let unknown_argument = Script::parse("{\"do\":\"initialize\"}\n{\"do\":\"sleep\",\"seconds\":1}").unwrap_err();
        assert!(unknown_argument.starts_with("line 2: unknown field `seconds`"), "{unknown_argument}");
        let unknown_step = Script::parse("[{\"do\":\"dance\"}]").unwrap_err();
        assert!(unknown_step.starts_with("step 1: unknown variant `dance`"), "{unknown_step}");
        let missing = Script::parse("[{\"do\":\"expect\"}]").unwrap_err();
        assert!(missing.contains("missing field `method`"), "{missing}");
        let empty_step = Script::parse("[{\"do\":\"close_stdout\",\"now\":true}]").unwrap_err();
        assert!(empty_step.contains("unknown field `now`"), "{empty_step}");
    }

    #[test]
    fn what_is_built_can_be_read() {
        let script = Script::new()
            .initialize()
            .session_new("s1")
            .send(json!({"jsonrpc": "2.0", "id": null}))
            .on("session/cancel", Script::new().prompt_end("cancelled"))
            .raw_chunks(vec![Piece::text("a"), Piece::bytes(&[0xff])], 1);
        assert_eq!(Script::parse(&script.to_json()).unwrap(), script);
        assert_eq!(Script::parse(&script.to_jsonl()).unwrap(), script);
        assert!(!script.to_json().contains("timeoutMs"), "{}", script.to_json());
    }
}
