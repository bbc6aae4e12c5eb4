//! How do settings become the configuration of the browser?

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

use evercrawl_engine::config::RenderingConfig;
use evercrawl_render::{Assets, RenderConfig, RenderError, Renderer};

use crate::exit::Failure;
use crate::settings::Settings;
use crate::units;

/// How pages are rendered, by the settings.
pub(crate) fn config(settings: &Settings) -> anyhow::Result<RenderConfig> {
    let mut config = RenderConfig {
        program: settings.get("render.browser", |text| Ok(PathBuf::from(text)))?,
        allow_no_sandbox: settings.need("render.sandbox", |text| match text {
            "on" => Ok(false),
            "off" => Ok(true),
            _ => Err(format!("`{text}` is not valid; use on or off")),
        })?,
        user_agent: super::fetch_config(settings)?.identity.user_agent(),
        assets: settings.need("render.assets", |text| match text {
            "skip" => Ok(Assets::Skip),
            "request" => Ok(Assets::Request),
            _ => Err(format!("`{text}` is not valid; use skip or request")),
        })?,
        clicks: settings.number("render.clicks")?,
        ..RenderConfig::default()
    };
    config.caps.cpu = settings.need("render.max_cpu", units::duration)?;
    config.caps.requests = settings.number("render.max_requests")?;
    Ok(config)
}

/// How a crawl renders pages; `None`: it does not.
pub(crate) fn of_crawl(settings: &Settings) -> anyhow::Result<Option<RenderingConfig>> {
    let is_on = settings.need("render.mode", |text| match text {
        "never" => Ok(false),
        "always" => Ok(true),
        _ => Err(format!("`{text}` is not valid; use never or always")),
    })?;
    let (page, share) = (config(settings)?, settings.need("render.cpu", units::share)?);
    if share <= 0.0 {
        return Err(Failure::config(
            "render.cpu: with no CPU nothing can be rendered; use e.g. 0.5",
        ));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = share * cores as f64;
    Ok(is_on.then(|| RenderingConfig { page, secret: secret(), cpu }))
}

/// A renderer by the settings.
pub(crate) fn renderer(settings: &Settings) -> anyhow::Result<Renderer> {
    Renderer::new(config(settings)?, secret()).map_err(|error| failure(&error))
}

/// A browser that is missing or may not run is a matter of this machine's configuration.
pub(crate) fn failure(error: &RenderError) -> anyhow::Error {
    Failure::config(format!("{error}; `evercrawl doctor` says what is missing"))
}

/// A word that no page can guess.
fn secret() -> String {
    // Each state has keys of its own that the system drew.
    let draw = || RandomState::new().build_hasher().finish();
    format!("r{:016x}{:016x}", draw(), draw())
}
