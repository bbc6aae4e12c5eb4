//! How does the browser start, how much does it use, and how does it end for certain?

use std::fs;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::RenderError;
use crate::isolation::Isolation;

/// The kernel counts CPU in these, on every Linux.
const TICKS_PER_SECOND: u64 = 100;
const PAGE_BYTES: u64 = 4096;

/// Moves the pipe to where the browser expects it: it reads commands from 3 and writes to 4.
const ENTRY: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// The browser listens on no port, asks nobody for updates, and has no way out but a proxy that does not exist.
const FLAGS: [&str; 27] = [
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--incognito",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--no-pings",
    "--metrics-recording-only",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--block-new-web-contents",
    // All frames of a page share one process, and so one virtual clock. They hold nothing of value to each other.
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,InterestFeedContentSuggestions",
    "--js-flags=--max-old-space-size=512",
];

/// A running browser. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
}

/// What all processes of a browser use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupUsage {
    pub(crate) cpu: Duration,
    /// Bytes that no other process shares.
    pub(crate) memory: u64,
}

impl Process {
    /// Starts `program`; returns it with our end of its pipe.
    pub(crate) fn start(
        program: &Path,
        isolation: &Isolation,
        sandbox: bool,
    ) -> Result<(Self, UnixStream), RenderError> {
        let (ours, its) = UnixStream::pair()?;
        let entry = ["sh".to_owned(), "-c".to_owned(), ENTRY.to_owned()];
        let mut words = isolation.prefix.iter().chain(&entry);
        let mut command = Command::new(words.next().map_or("sh", String::as_str));
        command.args(words).arg(program).args(FLAGS);
        if !sandbox {
            command.arg("--no-sandbox");
        }
        // A group of its own, so that all its processes can be ended at once.
        command.process_group(0).env_clear().current_dir("/");
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("HOME", "/nonexistent").env("TZ", "UTC").env("LANG", "en_US.UTF-8");
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(its.try_clone()?)));
        command.stdout(Stdio::from(std::os::fd::OwnedFd::from(its))).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| RenderError::Start(error.to_string()))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok((Process { child, group }, ours))
    }

    /// What it uses now. Processes that ended are not counted.
    pub(crate) fn usage(&self) -> GroupUsage {
        let mut all = GroupUsage::default();
        let Some(group) = self.group else { return all };
        let Ok(entries) = fs::read_dir("/proc") else { return all };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
                continue;
            }
            if let Some(one) = usage_of(&entry.path(), group) {
                all.cpu += one.cpu;
                all.memory += one.memory;
            }
        }
        all
    }

    /// Ends all its processes now.
    pub(crate) fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a process uses, if it is of this group.
fn usage_of(path: &Path, group: Pid) -> Option<GroupUsage> {
    let stat = fs::read_to_string(path.join("stat")).ok()?;
    // The name in parentheses may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    if number(2)? != u64::try_from(group.as_raw_nonzero().get()).ok()? {
        return None;
    }
    let ticks = number(11)? + number(12)?;
    let statm = fs::read_to_string(path.join("statm")).ok()?;
    let pages: Vec<u64> = statm.split(' ').filter_map(|field| field.parse().ok()).collect();
    let own = pages.get(1)?.saturating_sub(*pages.get(2)?);
    let cpu = Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND);
    Some(GroupUsage { cpu, memory: own * PAGE_BYTES })
}
