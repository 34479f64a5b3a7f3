//! Variables of a script.
//!
//! `{{name.path}}` stands for a value: `name` is what a step gave (`as`, `into`, `set`) and `path` walks into it by keys and
//! indexes. Built in: `cwd`, `pid`, `exe`, `args` (what follows the script on the command line), `env_names`, `session` (the latest
//! session id), `last`, `last_request`.
//! A string that is nothing but a variable becomes the value with its JSON type; inside longer text a string is inserted
//! as it is and everything else as JSON text. `{{name|string}}` makes it a JSON string, `{{name|json}}` JSON text.
//! What is not shaped like a variable stays as it is; an unknown variable is a mistake of the script.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

/// Named values: what was set for everyone, and a layer above it for the steps played on one thread.
#[derive(Debug, Default)]
pub struct Vars {
    shared: Arc<Mutex<HashMap<String, Value>>>,
    own: HashMap<String, Value>,
}

/// How a value is inserted into text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Insert {
    /// Strings as they are, the rest as JSON.
    Plain,
    /// Everything as JSON.
    Json,
}

impl Vars {
    /// Gives a name to a value, here and for everyone.
    pub fn set(&mut self, name: &str, value: Value) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.clone());
        self.own.insert(name.to_owned(), value);
    }

    /// Gives a name to a value for the steps played here.
    pub fn set_own(&mut self, name: &str, value: Value) {
        self.own.insert(name.to_owned(), value);
    }

    /// The shared variables under a new, empty layer, for steps that are played beside these.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), own: HashMap::new() }
    }

    /// The value of `name.path`, if there is one. What was set here goes before what others set.
    pub fn get(&self, path: &str) -> Option<Value> {
        let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let root = match name {
            "cwd" => env::current_dir().ok().map(|dir| Value::from(dir.to_string_lossy())),
            "pid" => Some(Value::from(std::process::id())),
            "exe" => env::current_exe().ok().map(|exe| Value::from(exe.to_string_lossy())),
            "env_names" => Some(env_names().into_iter().map(Value::from).collect()),
            _ => None,
        };
        let root = root
            .or_else(|| self.own.get(name).cloned())
            .or_else(|| self.shared.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())?;
        let Some(rest) = rest else { return Some(root) };
        rest.split('.')
            .try_fold(&root, |value, key| match value {
                Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
                value => value.get(key),
            })
            .cloned()
    }

    /// Replaces the variables in every string of a value.
    pub fn fill(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => self.fill_string(text)?,
            Value::Array(items) => Value::Array(items.iter().map(|item| self.fill(item)).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let mut filled = Map::new();
                for (key, field) in fields {
                    filled.insert(self.fill_text(key)?, self.fill(field)?);
                }
                Value::Object(filled)
            }
            other => other.clone(),
        })
    }

    /// Replaces the variables in text: strings are inserted as they are.
    pub fn fill_text(&self, text: &str) -> Result<String, String> {
        self.insert(text, Insert::Plain)
    }

    /// Replaces the variables in JSON text: everything is inserted as JSON.
    pub fn fill_json_text(&self, text: &str) -> Result<String, String> {
        self.insert(text, Insert::Json)
    }

    fn fill_string(&self, text: &str) -> Result<Value, String> {
        if let Some((0, end, expression)) = next_variable(text, 0)
            && end == text.len()
        {
            return self.evaluate(expression);
        }
        self.fill_text(text).map(Value::String)
    }

    fn insert(&self, text: &str, how: Insert) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut done = 0;
        while let Some((start, end, expression)) = next_variable(text, done) {
            filled.push_str(&text[done..start]);
            match self.evaluate(expression)? {
                Value::String(inner) if how == Insert::Plain => filled.push_str(&inner),
                value => filled.push_str(&value.to_string()),
            }
            done = end;
        }
        filled.push_str(&text[done..]);
        Ok(filled)
    }

    fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let (path, filter) = expression.split_once('|').map_or((expression, None), |(path, f)| (path, Some(f)));
        let value = self.get(path).ok_or_else(|| format!("no variable {{{{{path}}}}}"))?;
        match (filter, value) {
            (None, value) => Ok(value),
            (Some("string"), Value::String(text)) => Ok(Value::String(text)),
            (Some("string" | "json"), value) => Ok(Value::String(value.to_string())),
            (Some(filter), _) => Err(format!("no filter {filter:?} in {{{{{expression}}}}}")),
        }
    }
}

/// The next `{{expression}}` at or after `from`: its start, its end, and what is between the braces.
fn next_variable(text: &str, from: usize) -> Option<(usize, usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_./$-|".contains(&byte);
    let mut search = from;
    loop {
        let start = search + text.get(search..)?.find("{{")?;
        let length = text.as_bytes()[start + 2..].iter().take_while(|byte| is_part(**byte)).count();
        let end = start + 2 + length;
        if length > 0 && text[end..].starts_with("}}") {
            return Some((start, end + 2, &text[start + 2..end]));
        }
        search = start + 1;
    }
}

/// The names of all environment variables, sorted.
pub fn env_names() -> Vec<String> {
    let mut names: Vec<String> = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn vars() -> Vars {
        let mut vars = Vars::default();
        vars.set("init", json!({"id": 0, "params": {"list": ["a", {"b": 2}]}}));
        vars.set("name", json!("x\"y"));
        vars
    }

    #[test]
    fn a_whole_string_keeps_the_type() {
        assert_eq!(vars().fill(&json!({"id": "{{init.id}}"})).unwrap(), json!({"id": 0}));
        assert_eq!(vars().fill(&json!("{{init.id|string}}")).unwrap(), json!("0"));
        assert_eq!(vars().fill(&json!("{{init.params.list.1.b}}")).unwrap(), json!(2));
    }

    #[test]
    fn inside_text_strings_are_plain_and_in_json_text_quoted() {
        assert_eq!(vars().fill_text("<{{name}} {{init.id}}>").unwrap(), "<x\"y 0>");
        assert_eq!(vars().fill_json_text("{\"a\":{{name}}}").unwrap(), r#"{"a":"x\"y"}"#);
        assert_eq!(vars().fill_json_text("{\"a\":{\"id\":{{init.id}}}}").unwrap(), r#"{"a":{"id":0}}"#);
    }

    #[test]
    fn braces_that_are_no_variable_stay() {
        for text in ["{{{{", "{{\"a\":1}}", "{{}}", "{{ x }}", "}}{{", "{i}", "é{{ü}}"] {
            assert_eq!(vars().fill_text(text).unwrap(), text);
        }
    }

    #[test]
    fn unknown_names_are_mistakes() {
        assert!(vars().fill_text("{{nobody.id}}").unwrap_err().contains("nobody.id"));
        assert!(vars().fill_text("{{init.id|shout}}").unwrap_err().contains("shout"));
    }

    #[test]
    fn an_own_value_goes_before_a_shared_one() {
        let mut main = vars();
        let mut handler = main.fork();
        handler.set_own("it", json!(1));
        main.set("it", json!(2));
        assert_eq!(handler.get("it"), Some(json!(1)));
        assert_eq!(main.get("it"), Some(json!(2)));
    }
}
