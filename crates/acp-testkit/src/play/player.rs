//! Plays steps, one after the other.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::children;
use super::finish;
use super::inbox::{Handler, Wanted};
use super::messages;
use super::output::{append_line, complain};
use super::pattern;
use super::stage::Stage;
use super::stop::Stop;
use super::sys;
use super::vars::{Vars, env_names};
use crate::script::{
    EnvNames, Eof, Expect, ExpectResponse, Flood, Grandchild, Initialize, Loop, On, OnSignal, Permission, PromptBegin,
    PromptEnd, Raw, Request, Respond, Script, SessionNew, Stderr, Step, Text, Update,
};

/// Plays the steps of one thread.
#[derive(Debug)]
pub struct Player {
    stage: Arc<Stage>,
    /// The values that the steps know.
    pub vars: Vars,
    /// What the steps are called in messages.
    label: String,
}

type Played = Result<(), Stop>;

impl Player {
    /// A player that has not begun.
    pub fn new(stage: Arc<Stage>, label: &str) -> Self {
        let vars = stage.vars();
        Self { stage, vars, label: label.to_owned() }
    }

    /// Plays all steps.
    pub fn play(&mut self, steps: &[Step]) -> Played {
        for (index, step) in steps.iter().enumerate() {
            let place = format!("{} {} ({})", self.label, index + 1, name_of(step));
            if self.label == "step" {
                self.stage.arrive_at(&place);
            }
            self.step(step).map_err(|stop| stop.at(&place))?;
        }
        Ok(())
    }

    /// Plays all steps on a thread of their own; a step that ends the agent ends it from there.
    pub fn play_beside(mut self, steps: Vec<Step>) {
        thread::spawn(move || {
            if let Err(stop) = self.play(&steps) {
                finish(&stop);
            }
        });
    }

    fn step(&mut self, step: &Step) -> Played {
        match step {
            Step::Options(options) => self.stage.set_options(options),
            Step::Expect(step) => return self.expect(step),
            Step::ExpectResponse(step) => return self.expect_response(step),
            Step::ExpectSilence(step) => {
                self.stage.listen();
                return self.stage.inbox.silence(Duration::from_millis(step.ms), step.method.as_deref());
            }
            Step::ExpectEof(_) => {
                self.stage.listen();
                self.stage.inbox.wait_end(None);
            }
            Step::Check(step) => {
                let (value, wanted) = (self.fill(&step.value)?, self.fill(&step.matches)?);
                return pattern::matches(&wanted, &value).map_err(Stop::mismatch);
            }
            Step::Respond(step) => return self.respond(step),
            Step::Send(step) => {
                let message = self.fill(&step.value)?;
                return self.send(&message);
            }
            Step::Raw(step) => return self.raw(step),
            Step::Notify(step) => {
                let params = self.fill_some(step.params.as_ref())?;
                return self.send(&messages::call(None, &step.method, params));
            }
            Step::Request(step) => return self.request(step),
            Step::Initialize(step) => return self.initialize(step),
            Step::SessionNew(step) => return self.session_new(step),
            Step::PromptBegin(step) => return self.prompt_begin(step),
            Step::PromptEnd(step) => return self.prompt_end(step),
            Step::Update(step) => return self.update(step),
            Step::Text(step) => return self.text(step),
            Step::Permission(step) => return self.permission(step),
            Step::Flood(step) => return self.flood(step),
            Step::Stderr(step) => return self.stderr(step),
            Step::Sleep(step) => thread::sleep(Duration::from_millis(step.ms)),
            Step::CloseStdout(_) => return system(sys::close_stdout()),
            Step::CloseStdin(_) => return system(self.stage.stdin.close()),
            Step::CloseStderr(_) => return system(sys::close_stderr()),
            Step::PauseStdin(_) => return system(self.stage.stdin.pause(true)),
            Step::ResumeStdin(_) => return system(self.stage.stdin.pause(false)),
            Step::IgnoreSigterm(_) => {
                return ["TERM", "INT", "HUP"].iter().try_for_each(|signal| system(sys::ignore_signal(signal)));
            }
            Step::OnSignal(step) => return self.on_signal(step),
            Step::IgnoreEof(_) => self.stage.set_eof(Eof::Ignore),
            Step::SpawnGrandchild(step) => return children::spawn_grandchild(&self.fill_grandchild(step)?),
            Step::DoubleForkDaemon(step) => return children::spawn_daemon(&self.fill_grandchild(step)?),
            Step::Delegate(step) => {
                let script = Script { steps: step.steps.clone() };
                let code = children::delegate(&script, &self.vars.get("args").unwrap_or_default())?;
                return Err(Stop::wanted(code));
            }
            Step::Exit(step) => return Err(Stop::wanted(step.code)),
            Step::KillSelf(step) => return system(sys::kill_self(step.signal.as_deref().unwrap_or("KILL"))),
            Step::WritePid(step) => return append_line(&self.fill_text(&step.file)?, &std::process::id().to_string()),
            Step::EchoEnvNames(step) => return self.echo_env_names(step),
            Step::Record(step) => {
                self.stage.output.log.record_to(&self.fill_text(&step.file)?)?;
                self.stage.listen();
            }
            Step::Transcript(step) => {
                self.stage.output.log.transcribe_to(&self.fill_text(&step.file)?)?;
                self.stage.listen();
            }
            Step::Loop(step) => return self.repeat(step),
            Step::On(step) => return self.on(step),
            Step::Background(step) => {
                Self::new(Arc::clone(&self.stage), "background step").play_beside(step.steps.clone());
            }
            Step::Set(step) => {
                let value = self.fill(&step.value)?;
                self.vars.set(&step.name, value);
            }
        }
        Ok(())
    }

    // Messages from the client.

    fn expect(&mut self, step: &Expect) -> Played {
        let strict = step.strict.unwrap_or_else(|| self.stage.strict());
        let name = step.name.as_deref().unwrap_or(&step.method);
        self.take(&step.method, step.params.as_ref(), name, strict, step.timeout_ms)
    }

    fn take(&mut self, method: &str, params: Option<&Value>, name: &str, strict: bool, timeout: Option<u64>) -> Played {
        self.stage.listen();
        let params = self.fill_some(params)?;
        let wanted = Wanted::Method(method, params.as_ref());
        let message = self.stage.inbox.take(&wanted, strict, timeout.map(Duration::from_millis))?;
        self.vars.set("last", message.clone());
        self.vars.set(name, message);
        Ok(())
    }

    fn expect_response(&mut self, step: &ExpectResponse) -> Played {
        self.stage.listen();
        let id = match &step.to {
            None => self.vars.get("last_request.id"),
            Some(Value::String(name)) => self.vars.get(&format!("{name}.id")).or_else(|| step.to.clone()),
            Some(id) => Some(id.clone()),
        };
        let id = id.ok_or_else(|| Stop::unusable("no request was sent yet"))?;
        let id = self.fill(&id)?;
        let timeout = step.timeout_ms.map(Duration::from_millis);
        let response = self.stage.inbox.take(&Wanted::Response(&id), false, timeout)?;
        for (key, wanted) in [("result", &step.result), ("error", &step.error)] {
            let Some(wanted) = self.fill_some(wanted.as_ref())? else { continue };
            let Some(found) = response.get(key) else {
                return Err(Stop::mismatch(format!("no {key} in {}", pattern::short(&response))));
            };
            pattern::matches(&wanted, found).map_err(|why| Stop::mismatch(format!("{key}: {why}")))?;
        }
        self.vars.set("last_response", response.clone());
        if let Some(name) = &step.into {
            self.vars.set(name, response);
        }
        Ok(())
    }

    // Messages to the client.

    fn send(&mut self, message: &Value) -> Played {
        if let (Some(id), true) = (message.get("id"), message.get("method").is_some()) {
            self.stage.inbox.owe(id);
        }
        self.stage.output.message(message)
    }

    fn respond(&mut self, step: &Respond) -> Played {
        let id = self.request_id(step.to.as_deref().unwrap_or("last"))?;
        let (result, error) = (self.fill_some(step.result.as_ref())?, self.fill_some(step.error.as_ref())?);
        self.send(&messages::response(&id, result, error))
    }

    fn request_id(&self, name: &str) -> Result<Value, Stop> {
        let id = self.vars.get(name).as_ref().and_then(|request| request.get("id")).cloned();
        id.ok_or_else(|| Stop::unusable(format!("{name:?} is not the name of a request")))
    }

    fn request(&mut self, step: &Request) -> Played {
        let params = self.fill_some(step.params.as_ref())?;
        let id = self.fill_some(step.id.as_ref())?.unwrap_or_else(|| self.stage.fresh_id());
        self.call(&id, &step.method, params, step.name.as_deref().unwrap_or(&step.method))
    }

    fn call(&mut self, id: &Value, method: &str, params: Option<Value>, name: &str) -> Played {
        let message = messages::call(Some(id), method, params);
        self.vars.set("last_request", message.clone());
        self.vars.set(name, message.clone());
        self.send(&message)
    }

    fn raw(&mut self, step: &Raw) -> Played {
        let pieces = messages::raw_pieces(step, &self.vars).map_err(Stop::unusable)?;
        let delay = step.delay_ms.map(Duration::from_millis);
        match step.split_bytes {
            None => self.stage.output.pieces(pieces.iter().map(Vec::as_slice), delay),
            Some(size) => self.stage.output.pieces(pieces.concat().chunks(size.max(1)), delay),
        }
    }

    // Convenience.

    fn initialize(&mut self, step: &Initialize) -> Played {
        self.take("initialize", step.params.as_ref(), "init", self.stage.strict(), None)?;
        let mut result = messages::initialize_result();
        if let Some(patch) = self.fill_some(step.result.as_ref())? {
            messages::merge(&mut result, &patch);
        }
        let id = self.request_id("init")?;
        self.send(&messages::response(&id, Some(result), None))
    }

    fn session_new(&mut self, step: &SessionNew) -> Played {
        self.take("session/new", step.params.as_ref(), "session_new", self.stage.strict(), None)?;
        let session = if step.session_id.is_empty() { "s1" } else { &step.session_id };
        self.vars.set("session", session.into());
        let mut result = json!({"sessionId": session});
        if let Some(patch) = self.fill_some(step.result.as_ref())? {
            messages::merge(&mut result, &patch);
        }
        let id = self.request_id("session_new")?;
        self.send(&messages::response(&id, Some(result), None))
    }

    fn prompt_begin(&mut self, step: &PromptBegin) -> Played {
        let mut params = step.params.clone().unwrap_or_else(|| json!({}));
        if let Some(session) = &step.session_id {
            params["sessionId"] = session.as_str().into();
        }
        let name = step.name.as_deref().unwrap_or("prompt");
        self.take("session/prompt", Some(&params), name, self.stage.strict(), None)?;
        if let Some(session) = self.vars.get(&format!("{name}.params.sessionId")) {
            self.vars.set("session", session);
        }
        Ok(())
    }

    fn prompt_end(&mut self, step: &PromptEnd) -> Played {
        let id = self.request_id(step.to.as_deref().unwrap_or("prompt"))?;
        let mut result = json!({"stopReason": step.stop_reason.as_deref().unwrap_or("end_turn")});
        if let Some(patch) = self.fill_some(step.result.as_ref())? {
            messages::merge(&mut result, &patch);
        }
        self.send(&messages::response(&id, Some(result), None))
    }

    fn session(&self, given: Option<&str>) -> Result<Value, Stop> {
        match given {
            Some(session) => self.fill(&session.into()),
            None => Ok(self.vars.get("session").unwrap_or_else(|| "s1".into())),
        }
    }

    fn update(&mut self, step: &Update) -> Played {
        let message = messages::update(&self.session(step.session_id.as_deref())?, &self.fill(&step.update)?);
        self.send(&message)
    }

    fn text(&mut self, step: &Text) -> Played {
        let session = self.session(step.session_id.as_deref())?;
        let filled = Text { text: self.fill_text(&step.text)?, ..step.clone() };
        for i in 0..step.n.unwrap_or(1) {
            let numbered = Text { text: filled.text.replace("{i}", &i.to_string()), ..filled.clone() };
            self.send(&messages::update(&session, &messages::chunk(&numbered)))?;
        }
        Ok(())
    }

    fn permission(&mut self, step: &Permission) -> Played {
        let params = self.fill(&messages::permission(step, &self.session(step.session_id.as_deref())?))?;
        let id = self.fill_some(step.id.as_ref())?.unwrap_or_else(|| self.stage.fresh_id());
        let name = step.name.as_deref().unwrap_or("permission");
        self.call(&id, "session/request_permission", Some(params), name)
    }

    fn flood(&mut self, step: &Flood) -> Played {
        let message = messages::update(&self.session(step.session_id.as_deref())?, &self.fill(&step.update)?);
        let template = messages::template(&message);
        for buffer in messages::flood(step, &template) {
            self.stage.output.pieces(std::iter::once(buffer.as_slice()), None)?;
        }
        Ok(())
    }

    fn stderr(&mut self, step: &Stderr) -> Played {
        let mut text = self.fill_text(&step.text)?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        for round in 0..step.repeat.unwrap_or(1) {
            if let Some(ms) = step.delay_ms.filter(|_| round > 0) {
                thread::sleep(Duration::from_millis(ms));
            }
            complain(&text);
        }
        Ok(())
    }

    fn echo_env_names(&mut self, step: &EnvNames) -> Played {
        if let Some(file) = &step.file {
            let file = self.fill_text(file)?;
            return env_names().iter().try_for_each(|name| append_line(&file, name));
        }
        let params = json!({"names": env_names()});
        self.send(&messages::call(None, "_test/env_names", Some(params)))
    }

    // Control.

    fn on_signal(&mut self, step: &OnSignal) -> Played {
        if step.steps.is_empty() {
            return system(sys::ignore_signal(&step.signal));
        }
        let (stage, steps, label) = (Arc::clone(&self.stage), step.steps.clone(), format!("on {}, step", step.signal));
        let run = move || {
            if let Err(stop) = Self::new(Arc::clone(&stage), &label).play(&steps) {
                finish(&stop);
            }
        };
        system(sys::on_signal(&step.signal, run))
    }

    fn on(&mut self, step: &On) -> Played {
        let params = self.fill_some(step.params.as_ref())?;
        let (method, steps, left) = (step.method.clone(), step.steps.clone(), step.times);
        let name = step.name.clone().unwrap_or_else(|| "it".into());
        self.stage.inbox.add_handler(Handler { method, params, name, left, steps });
        self.stage.listen();
        Ok(())
    }

    fn repeat(&mut self, step: &Loop) -> Played {
        let until = match &step.until {
            None => None,
            Some(until) => Some((until.method.as_str(), self.fill_some(until.params.as_ref())?)),
        };
        let label = self.label.clone();
        for round in 0..step.times.unwrap_or(u64::MAX) {
            if let Some((method, params)) = &until {
                self.stage.listen();
                if self.stage.inbox.has(&Wanted::Method(method, params.as_ref())) {
                    break;
                }
            }
            if let Some(ms) = step.delay_ms.filter(|_| round > 0) {
                thread::sleep(Duration::from_millis(ms));
            }
            self.vars.set("i", round.into());
            self.label = format!("round {}, step", round + 1);
            self.play(&step.steps)?;
        }
        self.label = label;
        Ok(())
    }

    fn fill(&self, value: &Value) -> Result<Value, Stop> {
        self.vars.fill(value).map_err(Stop::unusable)
    }

    fn fill_text(&self, text: &str) -> Result<String, Stop> {
        self.vars.fill_text(text).map_err(Stop::unusable)
    }

    fn fill_grandchild(&self, spec: &Grandchild) -> Result<Grandchild, Stop> {
        let pid_file = spec.pid_file.as_deref().map(|file| self.fill_text(file)).transpose()?;
        Ok(Grandchild { pid_file, ..spec.clone() })
    }

    fn fill_some(&self, value: Option<&Value>) -> Result<Option<Value>, Stop> {
        value.map(|value| self.fill(value)).transpose()
    }
}

fn system(result: std::io::Result<()>) -> Played {
    result.map_err(|error| Stop::unusable(error.to_string()))
}

/// The step's name in scripts, with what it is about.
fn name_of(step: &Step) -> String {
    let value = serde_json::to_value(step).unwrap_or_default();
    let text = |key| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("method") {
        "" => text("do").to_owned(),
        method => format!("{} {method}", text("do")),
    }
}
