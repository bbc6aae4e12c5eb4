//! What does a command line say about a test web? The options of one, turned into a world and a server.

use crate::{ServeConfig, World, WorldConfig};
use std::net::SocketAddr;
use std::path::PathBuf;

/// What may be given on a command line; whatever is left out is as the preset has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldOptions {
    /// A preset by name; the default configuration when none is given.
    pub preset: Option<String>,
    /// Number of hosts.
    pub hosts: Option<u32>,
    /// Number of page slots on each host.
    pub pages: Option<u32>,
    /// The seed of all draws.
    pub seed: Option<u64>,
    /// Seconds of the world that pass in a real second.
    pub time_scale: Option<f64>,
    /// Where to listen; a free port of 127.0.0.1 when none is given.
    pub listen: Vec<SocketAddr>,
    /// Number of threads that serve.
    pub threads: Option<usize>,
    /// File that receives the truth when the server stops.
    pub truth: Option<PathBuf>,
    /// File that receives a line a request.
    pub access_log: Option<PathBuf>,
    /// Also serve hostile hosts.
    pub hostile: bool,
}

/// No preset has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a preset; use one of {names}", names = WorldConfig::PRESETS.join(", "))]
pub struct UnknownPreset(pub String);

impl WorldOptions {
    /// Creates the world that is asked for, beginning now.
    pub fn world(&self, now_ms: u64) -> Result<World, UnknownPreset> {
        let base = match &self.preset {
            None => WorldConfig::default(),
            Some(name) => WorldConfig::preset(name).ok_or_else(|| UnknownPreset(name.clone()))?,
        };
        Ok(World::new(WorldConfig {
            hosts: self.hosts.unwrap_or(base.hosts),
            pages: self.pages.unwrap_or(base.pages),
            seed: self.seed.unwrap_or(base.seed),
            time_scale: self.time_scale.unwrap_or(base.time_scale),
            origin_ms: now_ms,
            ..base
        }))
    }

    /// How to serve the world.
    pub fn serve_config(&self) -> ServeConfig {
        let default = ServeConfig::default();
        ServeConfig {
            listen: if self.listen.is_empty() { default.listen } else { self.listen.clone() },
            threads: self.threads.unwrap_or(default.threads),
            access_log: self.access_log.clone(),
            truth: self.truth.clone(),
            hostile: self.hostile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_go_over_the_preset() {
        let options = WorldOptions {
            preset: Some("demo".to_owned()),
            hosts: Some(3),
            ..WorldOptions::default()
        };
        let config = options.world(77).unwrap().config().clone();
        assert_eq!(config, WorldConfig { hosts: 3, origin_ms: 77, ..WorldConfig::demo() });
    }

    #[test]
    fn an_unknown_preset_is_named_with_the_known_ones() {
        let options = WorldOptions { preset: Some("mild".to_owned()), ..WorldOptions::default() };
        let message = options.world(0).unwrap_err().to_string();
        assert!(
            message.contains("mild")
                && message.contains("calm, demo, wild, noisy, shop, portal, bench"),
            "{message}"
        );
    }
}
