//! How does a test run the binary as a user does, and what came of it?
#![allow(clippy::disallowed_methods, reason = "tests wait for processes, in real time")]

pub(crate) mod proxy;
pub(crate) mod site;
pub(crate) mod tools;
pub(crate) mod touchy;
pub(crate) mod web;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Whatever takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// How late a server may note what happened, on a machine that has other things to do.
pub(crate) const NOISE: Duration = Duration::from_millis(10);

/// An empty place to run commands in, with a data directory that they all mean.
pub(crate) struct Place {
    dir: TempDir,
    runs: AtomicU32,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { dir: tempfile::tempdir().unwrap(), runs: AtomicU32::new(0) }
    }

    /// Where relative paths of commands begin.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The data directory; it is there once a command made it.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Writes a file that commands can name.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    /// A command of words separated by spaces.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evercrawl"));
        // Nothing that is set outside may decide a test.
        let ours = |name: &OsStr| name.to_string_lossy().starts_with("EVERCRAWL_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command.args(words.split_whitespace()).env("EVERCRAWL_DATA", "data");
        command.env("XDG_CACHE_HOME", self.path().join("cache"));
        // How full the disk is where tests run may not decide them either.
        command.env("EVERCRAWL_LIMITS_MIN_FREE_DISK", "1MB");
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, words: &str) -> Ran {
        self.start(words).wait()
    }

    /// How long a command takes that ends well.
    #[track_caller]
    pub(crate) fn time_of(&self, words: &str) -> Duration {
        let began = Instant::now();
        self.run(words).expect(0);
        began.elapsed()
    }

    /// Starts a command.
    pub(crate) fn start(&self, words: &str) -> Running {
        self.start_command(self.command(words))
    }

    /// Starts a command that was changed first.
    pub(crate) fn start_command(&self, mut command: Command) -> Running {
        // To files, not pipes: nobody has to read while the command runs.
        let n = self.runs.fetch_add(1, Ordering::Relaxed);
        let files = ["out", "err"].map(|name| self.path().join(format!("{n}.{name}")));
        let [out, err] = files.each_ref().map(|path| File::create(path).unwrap());
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let words = words.join(" ");
        let child = command.stdout(out).stderr(err).spawn().unwrap();
        Running { child, files, words }
    }

    /// Every known URL as `urls --json` tells it.
    pub(crate) fn urls(&self) -> Vec<Value> {
        self.run("urls --json").expect(0).json_lines()
    }

    /// The visits of a page as `history --json` tells them.
    pub(crate) fn history(&self, url: &str) -> Vec<Value> {
        self.run(&format!("history {url} --json")).expect(0).json_lines()
    }

    /// The files of the archive that end so, in the order of their names.
    pub(crate) fn archive_files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data().join("archive")).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.to_string_lossy().ends_with(ending));
        files.sort();
        files
    }
}

/// A command that was started; it is killed when the test ends before it does.
pub(crate) struct Running {
    child: Child,
    files: [PathBuf; 2],
    words: String,
}

impl Running {
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether it has not ended by itself.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for something that must come while it runs.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, mut came: impl FnMut() -> bool) {
        wait_until(what, || {
            assert!(self.is_running(), "ended before {what}: {}", self.said()[1]);
            came()
        });
    }

    /// What it said so far: standard output, standard error.
    pub(crate) fn said(&self) -> [String; 2] {
        self.files
            .each_ref()
            .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Ran {
        wait_until(&format!("the end of `evercrawl {}`", self.words), || !self.is_running());
        let code = self.child.wait().unwrap().code();
        let [out, err] = self.said();
        Ran { words: self.words.clone(), code, out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    words: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Fails unless it ended with this exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "`evercrawl {}`\n{}{}", self.words, self.out, self.err);
        self
    }

    /// Fails unless standard error has all these words.
    #[track_caller]
    pub(crate) fn explains(self, words: &[&str]) -> Self {
        for word in words {
            assert!(
                self.err.contains(word),
                "`evercrawl {}`: no {word:?} in\n{}",
                self.words,
                self.err
            );
        }
        self
    }

    /// Standard output as one JSON value a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let lines = self.out.lines().map(serde_json::from_str);
        let lines: Result<_, _> = lines.collect();
        lines.unwrap_or_else(|error| panic!("`evercrawl {}`: {error}\n{}", self.words, self.out))
    }

    /// Standard output as a single JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.json_lines();
        assert_eq!(lines.len(), 1, "`evercrawl {}`\n{}", self.words, self.out);
        lines.remove(0)
    }
}

/// Lets time pass.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// How long something takes.
pub(crate) fn time_of(run: impl FnOnce()) -> Duration {
    let began = Instant::now();
    run();
    began.elapsed()
}

/// Waits for something that must come.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut came: impl FnMut() -> bool) {
    let began = Instant::now();
    while !came() {
        assert!(began.elapsed() < PATIENCE, "waited too long for {what}");
        pause(Duration::from_millis(5));
    }
}
