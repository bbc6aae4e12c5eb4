//! How far can the browser be kept away from this system and its network?
//!
//! Tools of util-linux do this before the browser starts; each way is tried once with `true`.

use std::process::{Command, Stdio};

/// The user that the browser runs as where this process is root: Chromium's sandbox refuses root.
const NOBODY: &str = "65534";

/// What holds for a browser that is started here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolation {
    /// The browser has no network interface.
    pub no_network: bool,
    /// The kernel ends all of its processes when this process ends.
    pub ends_with_us: bool,
    /// It runs as another user than root.
    pub unprivileged: bool,
    /// Its own sandbox can be set up, as it needs user namespaces.
    pub sandbox: bool,
    /// The commands before its own.
    pub(crate) prefix: Vec<String>,
}

impl Isolation {
    /// Tries what this system allows.
    pub fn probe() -> Self {
        let is_root = rustix::process::geteuid().is_root();
        let pdeathsig = words("setpriv --pdeathsig KILL");
        let nobody = words(&format!(
            "setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --no-new-privs"
        ));
        let enter =
            if is_root { "unshare --net" } else { "unshare --user --map-current-user --net" };
        let processes = " --pid --fork --kill-child --mount-proc";
        let tail = if is_root { nobody.clone() } else { Vec::new() };
        let full =
            [pdeathsig.clone(), words(&format!("{enter}{processes}")), tail.clone()].concat();
        let network = [pdeathsig.clone(), words(enter), tail.clone()].concat();
        let plain = [pdeathsig, tail].concat();
        let chosen = [(full, true, true), (network, true, false), (plain, false, false)]
            .into_iter()
            .find(|(prefix, ..)| works(prefix))
            .unwrap_or_default();
        let (prefix, no_network, ends_with_us) = chosen;
        Isolation {
            no_network,
            ends_with_us,
            unprivileged: !is_root || !prefix.is_empty(),
            sandbox: works(&[prefix.clone(), words("unshare --user --map-current-user")].concat()),
            prefix,
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn works(prefix: &[String]) -> bool {
    let Some((first, others)) = prefix.split_first() else { return true };
    let mut command = Command::new(first);
    command.args(others).arg("true").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
