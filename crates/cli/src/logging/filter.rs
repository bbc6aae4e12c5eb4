//! Which events does a filter let through?

use tracing_subscriber::filter::{LevelFilter, Targets};

/// What all of our crates' targets begin with.
const OURS: &str = "evercrawl";

/// Reads a filter: levels, and levels of targets (`target=level`), separated by commas. A level
/// without a target is for our own crates; libraries must be named.
pub(super) fn parse(filter: &str) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for part in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (target, level) = part.split_once('=').unwrap_or((OURS, part));
        targets = targets.with_target(read_target(target)?, read_level(level)?);
    }
    Ok(targets)
}

fn read_level(level: &str) -> Result<LevelFilter, String> {
    let all = [
        ("off", LevelFilter::OFF),
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];
    let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(level.trim()));
    found.map(|(_, level)| *level).ok_or_else(|| {
        let levels = "error, warn, info, debug, trace or off";
        format!("`{level}` is not a level ({levels}); use e.g. `info,evercrawl_fetch=debug`")
    })
}

fn read_target(target: &str) -> Result<&str, String> {
    let target = target.trim();
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    match !target.is_empty() && target.chars().all(is_path) {
        true => Ok(target),
        false => Err(format!(
            "`{target}` is not a part of the program; use e.g. `info,evercrawl_fetch=debug`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_level_alone_is_for_our_own_crates() {
        let targets = parse("debug").unwrap();
        assert!(targets.would_enable("evercrawl_engine::walk", &Level::DEBUG));
        assert!(targets.would_enable("evercrawl", &Level::INFO));
        assert!(!targets.would_enable("evercrawl_engine::walk", &Level::TRACE));
        assert!(!targets.would_enable("h2::client", &Level::ERROR));
    }

    #[test]
    fn the_longest_target_decides() {
        let targets =
            parse(" Info, evercrawl_fetch=trace,evercrawl_fetch::dns=off,h2=warn,").unwrap();
        assert!(targets.would_enable("evercrawl_state", &Level::INFO));
        assert!(!targets.would_enable("evercrawl_state", &Level::DEBUG));
        assert!(targets.would_enable("evercrawl_fetch::tls", &Level::TRACE));
        assert!(!targets.would_enable("evercrawl_fetch::dns", &Level::ERROR));
        assert!(targets.would_enable("h2::client", &Level::WARN));
    }

    #[test]
    fn what_is_no_filter_is_refused_with_an_example() {
        for wrong in ["verbose", "evercrawl_fetch=loud", "=debug", "a b=debug", "[visit]=debug"] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains("use e.g. `info,evercrawl_fetch=debug`"), "{wrong}: {error}");
        }
    }
}
