//! Where do rows of runs made before lie?

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use anyhow::Context;
use clap::Args;
use evercrawl_lab::OutcomeCache;

/// Which cache is used.
#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    /// Where runs made before are kept, and found again; by default evercrawl/lab in the user's
    /// cache directory
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Run everything anew and keep nothing
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl CacheArgs {
    /// The cache; none where it is not wanted, or nobody said where and there is no usual place.
    pub(super) fn open(&self) -> anyhow::Result<Option<OutcomeCache>> {
        if self.no_cache {
            return Ok(None);
        }
        match &self.cache {
            Some(dir) => {
                let cache = OutcomeCache::open(dir, &build());
                let cache =
                    cache.with_context(|| format!("cannot use the cache {}", dir.display()));
                Ok(Some(cache?))
            }
            None => Ok(usual_place().and_then(|dir| OutcomeCache::open(&dir, &build()).ok())),
        }
    }
}

fn usual_place() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(caches.join("evercrawl").join("lab"))
}

/// Tells this binary from others of the same version: who works on a policy must not be shown what
/// the last one did.
fn build() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let Ok(file) = file else { return String::new() };
    let made = file.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", file.len(), made.unwrap_or_default().as_nanos())
}
