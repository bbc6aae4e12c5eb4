//! How does one crawl process come to drive all collections that should run, whatever befalls it?
//!
//! The process is started when there is something to crawl, and anew when it ended by itself, after a pause that doubles
//! from a second to a minute. So is a collection that failed. Nothing is lost by either: what was committed stands, and
//! what was not is fetched again.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;

use crate::collections::{CrawlProcessView, RunState};
use crate::orders::{CrawlNews, CrawlOrder};

/// The pause before the process, or a collection, is started anew; it doubles with every fault.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Whoever ran that long before a fault begins with the first pause again.
const WELL: Duration = Duration::from_secs(120);
/// How long the process may take to end once it was asked to, before it is killed.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often deadlines are looked at.
const TICK: Duration = Duration::from_millis(200);

/// Makes the command that runs the crawl process.
pub type MakeCommand = dyn Fn() -> Command + Send;

/// Watches over the crawl process; it ends when this is dropped.
pub struct Supervisor {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    runs: BTreeMap<String, Run>,
    orders: Option<ChildStdin>,
    pid: Option<u32>,
    restarts: u64,
    last_fault: Option<String>,
    pause: Pause,
    /// How often everything was asked to end.
    end_asked: u32,
}

/// A collection as the supervisor knows it.
struct Run {
    data: PathBuf,
    /// Whether it should be crawled.
    is_wanted: bool,
    state: RunState,
    message: Option<String>,
    pause: Pause,
}

/// When something is started anew.
#[derive(Clone, Copy, Default)]
struct Pause {
    faults: u32,
    began: Time,
    until: Option<Time>,
}

impl Pause {
    fn begin(&mut self, now: Time) {
        (self.began, self.until) = (now, None);
    }

    /// Notes a fault; returns how long to wait.
    fn fault(&mut self, now: Time) -> Duration {
        if now.since(self.began) >= WELL {
            self.faults = 0;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.faults.min(6)).min(LONGEST_PAUSE);
        self.faults += 1;
        self.until = Some(now.after(pause));
        pause
    }

    fn is_over(&self, now: Time) -> bool {
        self.until.is_none_or(|until| until <= now)
    }
}

impl Supervisor {
    /// Begins to watch; nothing is started before there is something to crawl.
    pub fn start(command: Box<MakeCommand>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let watcher = shared.clone();
        let thread = std::thread::Builder::new()
            .name("supervisor".into())
            .spawn(move || watcher.watch(&command))?;
        Ok(Supervisor { shared, thread: Some(thread) })
    }

    /// Has a collection crawled.
    pub fn run(&self, name: &str, data: &Path) {
        let mut state = self.shared.lock();
        let run = state.runs.entry(name.to_owned()).or_insert_with(|| Run {
            data: data.to_owned(),
            is_wanted: false,
            state: RunState::Stopped,
            message: None,
            pause: Pause::default(),
        });
        run.is_wanted = true;
        run.pause = Pause::default();
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Has a collection crawled no more; false where it was not.
    pub fn stop(&self, name: &str) -> bool {
        let mut state = self.shared.lock();
        let Some(run) = state.runs.get_mut(name) else { return false };
        let was_wanted = std::mem::replace(&mut run.is_wanted, false);
        if matches!(run.state, RunState::Starting | RunState::Running) {
            run.state = RunState::Stopping;
            state.order(&CrawlOrder::Stop { name: name.to_owned() });
        } else if run.state == RunState::Failed {
            run.state = RunState::Stopped;
        }
        drop(state);
        self.shared.changed.notify_all();
        was_wanted
    }

    /// What a collection is doing, and what was wrong with it last.
    pub fn state(&self, name: &str) -> Option<(RunState, Option<String>)> {
        let state = self.shared.lock();
        state.runs.get(name).map(|run| (run.state, run.message.clone()))
    }

    /// How the process is doing.
    pub fn process(&self) -> CrawlProcessView {
        let (state, now) = (self.shared.lock(), SystemClock.now());
        let until = state.pause.until.filter(|_| state.pid.is_none());
        CrawlProcessView {
            pid: state.pid,
            restarts: state.restarts,
            last_fault: state.last_fault.clone(),
            restarts_in_seconds: until.map(|until| until.since(now).as_secs_f64()),
            is_needed: state.runs.values().any(|run| run.is_wanted),
        }
    }

    /// Asks everything to end: once lets what is in flight finish, twice does not.
    pub fn ask_to_end(&self) {
        let mut state = self.shared.lock();
        state.end_asked += 1;
        state.order(&CrawlOrder::End);
        state.dismiss_when_idle();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if self.shared.lock().end_asked == 0 {
            self.ask_to_end();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl State {
    /// Tells the process; where it is not there, it will be told when it is.
    fn order(&mut self, order: &CrawlOrder) {
        let Some(orders) = &mut self.orders else { return };
        let mut line = serde_json::to_vec(order).unwrap_or_default();
        line.push(b'\n');
        if orders.write_all(&line).and_then(|()| orders.flush()).is_err() {
            self.orders = None;
        }
    }

    /// Starts what should run and may.
    fn begin_runs(&mut self, now: Time) {
        if self.end_asked > 0 || self.pid.is_none() {
            return;
        }
        let mut orders = Vec::new();
        for (name, run) in &mut self.runs {
            let rests = matches!(run.state, RunState::Stopped | RunState::Failed);
            if run.is_wanted && rests && run.pause.is_over(now) {
                run.state = RunState::Starting;
                run.pause.begin(now);
                orders.push(CrawlOrder::Start { name: name.clone(), data: run.data.clone() });
            }
        }
        orders.iter().for_each(|order| self.order(order));
    }

    /// Lets the process go once it has nothing left to do and was asked to end: it ends with its orders.
    fn dismiss_when_idle(&mut self) {
        let rests = |run: &Run| matches!(run.state, RunState::Stopped | RunState::Failed);
        if self.end_asked > 0 && self.runs.values().all(rests) {
            self.orders = None;
        }
    }

    fn hear(&mut self, news: CrawlNews, now: Time) {
        match news {
            CrawlNews::Began { name } => {
                if let Some(run) = self.runs.get_mut(&name)
                    && run.state == RunState::Starting
                {
                    (run.state, run.message) = (RunState::Running, None);
                }
            }
            CrawlNews::Ended { name, code, fault } => {
                let Some(run) = self.runs.get_mut(&name) else { return };
                let (is_wanted, told) = (run.is_wanted && self.end_asked == 0, fault.is_some());
                run.message = fault;
                run.state = RunState::Stopped;
                if !is_wanted {
                    return;
                }
                let pause = run.pause.fault(now);
                if told || code != 0 {
                    run.state = RunState::Failed;
                    let words =
                        run.message.take().unwrap_or_else(|| format!("ended with code {code}"));
                    run.message = Some(format!("{words}; tried again after {} s", pause.as_secs()));
                }
            }
        }
    }

    /// The process has ended, and every collection with it.
    fn ended(&mut self, how: String, now: Time) {
        (self.pid, self.orders) = (None, None);
        for run in self.runs.values_mut() {
            if matches!(run.state, RunState::Starting | RunState::Running | RunState::Stopping) {
                run.state = RunState::Stopped;
                if run.is_wanted && self.end_asked == 0 {
                    run.message = Some(format!("the crawl process ended: {how}"));
                }
            }
        }
        if self.end_asked == 0 {
            let pause = self.pause.fault(now);
            self.restarts += 1;
            tracing::warn!(
                how,
                pause_seconds = pause.as_secs(),
                "the crawl process ended by itself"
            );
            self.last_fault = Some(how);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(self: Arc<Self>, command: &MakeCommand) {
        let mut child: Option<Child> = None;
        let mut deadline: Option<Time> = None;
        loop {
            let now = SystemClock.now();
            let mut state = self.lock();
            let asked = state.end_asked;
            if let Some(running) = &mut child {
                if asked > 0 && *deadline.get_or_insert(now.after(PATIENCE)) <= now {
                    let _ = running.kill();
                }
                if let Some(status) = ended(running) {
                    state.ended(words(status), now);
                    child = None;
                }
            }
            if asked > 0 && child.is_none() {
                return;
            }
            let is_wanted = state.runs.values().any(|run| run.is_wanted);
            if child.is_none() && is_wanted && state.pause.is_over(now) {
                child = self.spawn(command, &mut state, now);
            }
            state.begin_runs(now);
            let waited = self.changed.wait_timeout(state, TICK);
            drop(waited);
        }
    }

    fn spawn(
        self: &Arc<Self>,
        command: &MakeCommand,
        state: &mut State,
        now: Time,
    ) -> Option<Child> {
        let mut command = command();
        // A group of its own: Ctrl-C is for the server, which then asks the process to end.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        state.pause.begin(now);
        match command.spawn() {
            Ok(mut child) => {
                (state.pid, state.orders) = (Some(child.id()), child.stdin.take());
                if let Some(news) = child.stdout.take() {
                    let shared = self.clone();
                    let thread = std::thread::Builder::new().name("crawl news".into());
                    let _ = thread.spawn(move || shared.listen(news));
                }
                Some(child)
            }
            Err(error) => {
                state.ended(format!("it cannot be started: {error}"), now);
                None
            }
        }
    }

    fn listen(&self, news: ChildStdout) {
        for line in BufReader::new(news).lines() {
            let Ok(line) = line else { break };
            let now = SystemClock.now();
            match serde_json::from_str(&line) {
                Ok(news) => {
                    let mut state = self.lock();
                    state.hear(news, now);
                    state.dismiss_when_idle();
                }
                Err(error) => {
                    tracing::warn!(%error, "news of the crawl process are not understood")
                }
            }
            self.changed.notify_all();
        }
    }
}

fn ended(child: &mut Child) -> Option<ExitStatus> {
    child.try_wait().ok().flatten()
}

fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_begin_anew_after_a_good_time() {
        let mut pause = Pause::default();
        let start = Time::from_secs(1_000_000);
        pause.begin(start);
        let pauses: Vec<u64> = (0..8).map(|_| pause.fault(start).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(!pause.is_over(start) && pause.is_over(start.after(LONGEST_PAUSE)));
        assert_eq!(pause.fault(start.after(WELL)).as_secs(), 1);
    }

    fn shell(script: &'static str) -> Box<MakeCommand> {
        Box::new(move || {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        })
    }

    fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
        let (_never, never) = std::sync::mpsc::channel::<()>();
        for _ in 0..1000 {
            if holds() {
                return;
            }
            let _ = never.recv_timeout(Duration::from_millis(10));
        }
        panic!("{what} did not come");
    }

    #[test]
    fn a_process_that_dies_is_started_anew_and_told_again_what_to_crawl() {
        // Begins what it is told, and then dies.
        let script = r#"read order; echo '{"began":{"name":"a"}}'; sleep 0.2; kill -9 $$"#;
        let supervisor = Supervisor::start(shell(script)).unwrap();
        supervisor.run("a", Path::new("/nowhere"));
        wait_for("the first run", || {
            supervisor.state("a").is_some_and(|(state, _)| state == RunState::Running)
        });
        wait_for("the fault", || supervisor.process().restarts == 1);
        assert_eq!(supervisor.process().last_fault.as_deref(), Some("signal 9"));
        wait_for("the second run", || {
            supervisor.state("a").is_some_and(|(state, _)| state == RunState::Running)
        });
    }

    #[test]
    fn a_collection_that_fails_is_shown_and_tried_again_while_others_go_on() {
        let script = r#"while read order; do case "$order" in
            *'"start":{"name":"bad"'*) echo '{"ended":{"name":"bad","code":4,"fault":"no disk"}}';;
            *'"start":{"name":"good"'*) echo '{"began":{"name":"good"}}';;
            *'"stop":{"name":"good"'*) echo '{"ended":{"name":"good","code":11,"fault":null}}';;
            *end*) exit 0;; esac; done"#;
        let supervisor = Supervisor::start(shell(script)).unwrap();
        supervisor.run("bad", Path::new("/bad"));
        supervisor.run("good", Path::new("/good"));
        let state = |name: &str| supervisor.state(name).unwrap();
        wait_for("both", || {
            state("good").0 == RunState::Running && state("bad").0 == RunState::Failed
        });
        assert!(state("bad").1.unwrap().starts_with("no disk; tried again after"));
        assert!(supervisor.stop("good"));
        wait_for("the stop", || state("good") == (RunState::Stopped, None));
        assert_eq!(supervisor.process().restarts, 0);
    }
}
