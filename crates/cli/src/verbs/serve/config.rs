//! What does serve.toml say?

use std::net::SocketAddr;
use std::path::Path;

use serde::Deserialize;

use crate::args::ServeArgs;
use crate::exit::Failure;
use crate::units;

/// Where a server listens that is told nothing.
const USUAL: &str = "127.0.0.1:7700";

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServeToml {
    listen: Option<String>,
    #[serde(default)]
    hosts: Vec<String>,
    tls: Option<String>,
    budget: Option<String>,
}

/// How the server is set up.
#[derive(Debug)]
pub(super) struct ServeConfig {
    pub(super) listen: SocketAddr,
    /// Names that are accepted in `Host`, besides addresses and localhost.
    pub(super) hosts: Vec<String>,
    /// Whether a proxy with TLS stands before it.
    pub(super) behind_tls: bool,
    /// Requests over all collections.
    pub(super) budget: Option<String>,
}

impl ServeConfig {
    pub(super) fn read(path: &Path, args: &ServeArgs) -> anyhow::Result<Self> {
        let bad = |why: String| Failure::config(format!("{}: {why}", path.display()));
        let file: ServeToml = match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(|error| bad(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => ServeToml::default(),
            Err(error) => return Err(bad(error.to_string())),
        };
        let listen = args.listen.as_deref().or(file.listen.as_deref()).unwrap_or(USUAL);
        let listen = listen.parse().map_err(|_| {
            Failure::config(format!(
                "`{listen}` is not an address and port to listen on; use e.g. {USUAL}"
            ))
        })?;
        let behind_tls = match file.tls.as_deref() {
            None => false,
            Some("proxy") => true,
            Some(other) => return Err(bad(format!("tls: `{other}` is not known; use \"proxy\""))),
        };
        if let Some(budget) = &file.budget {
            units::rate(budget).map_err(|why| bad(format!("budget: {why}")))?;
        }
        Ok(ServeConfig { listen, hosts: file.hosts, behind_tls, budget: file.budget })
    }
}
