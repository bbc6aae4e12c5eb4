//! How do settings become the ways in: proxies, headers, credentials, cookies, certificates?

mod environment;
pub(crate) mod host_rules;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_compare::Digest;
use evercrawl_engine::cookie_file;
use evercrawl_fetch::{
    Access, AccessRules, AllowPrivate, BadHostPattern, BadNetwork, Cookies, HostPattern, Jar,
    JarLimits, Network, Proxy, ProxyRule, certificates_in_pem,
};
use url::Url;

use crate::exit::Failure;
use crate::secret;
use crate::settings::Settings;

/// How a crawl's requests go out.
pub(crate) struct WaysIn {
    pub(crate) access: Arc<Access>,
    /// Where its cookies are kept, where they are.
    pub(crate) cookie_file: Option<PathBuf>,
}

/// What cookies are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CookieMode {
    Off,
    Session,
    Keep,
}

/// The ways in of a crawl with this data directory.
pub(crate) fn read(settings: &Settings, data: &Path) -> anyhow::Result<WaysIn> {
    let mode = cookie_mode(settings)?;
    let rules = AccessRules {
        proxies: proxies(settings)?,
        requests: host_rules::requests(settings)?,
        invalid_certificates: invalid_certificates(settings)?,
        cookies: cookies(settings, mode, data)?,
    };
    let cookie_file = (mode == CookieMode::Keep).then(|| cookie_file::path_in(data));
    Ok(WaysIn { access: Access::new(rules), cookie_file })
}

/// The proxy for `url`, where the settings can be read from here.
pub(crate) fn proxy_of(settings: &Settings, url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let proxies = proxies(settings).ok()?;
    let access = Access::new(AccessRules { proxies, ..AccessRules::default() });
    access.proxy_for(&url).map(ToString::to_string)
}

/// What to say of addresses where a proxy looks them up.
pub(crate) const PROXY_LOOKS_UP: &str =
    "it looks up names, so only private names and addresses in URLs are refused";

/// The certificates of `fetch.ca_file`.
pub(crate) fn roots(settings: &Settings) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut roots = Vec::new();
    for path in settings.items("fetch.ca_file") {
        let bad = |why: String| Failure::config(format!("fetch.ca_file: {path}: {why}"));
        let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        roots.extend(certificates_in_pem(&text).map_err(bad)?);
    }
    Ok(roots)
}

/// Which private networks, and private names behind a proxy, may be fetched from.
pub(crate) fn allow_private(settings: &Settings) -> anyhow::Result<AllowPrivate> {
    let items = settings.items("fetch.allow_private").iter();
    let (mut networks, mut names) = (Vec::new(), Vec::new());
    for item in items {
        match item.as_str() {
            "loopback" => networks.extend(Network::LOOPBACK),
            name if name.starts_with(['.', '*']) => {
                names.push(name.parse().map_err(|error: BadHostPattern| {
                    Failure::config(format!("fetch.allow_private: {error}"))
                })?)
            }
            text => networks.push(text.parse().map_err(|error: BadNetwork| {
                Failure::config(format!("fetch.allow_private: {error} or `loopback`"))
            })?),
        }
    }
    Ok(AllowPrivate::networks(networks).with_names(names))
}

/// The first rule that matches counts: exceptions, then rules for some hosts, then the proxy for all.
fn proxies(settings: &Settings) -> anyhow::Result<Vec<ProxyRule>> {
    let mut rules = Vec::new();
    for hosts in patterns(settings, "fetch.no_proxy")? {
        rules.push(ProxyRule { hosts, scheme: None, proxy: None });
    }
    rules.extend(host_rules::proxies(settings)?);
    let credentials = settings.get("fetch.proxy_credentials", secret::read)?;
    match settings.items("fetch.proxy").first().map(String::as_str) {
        None | Some("none") => {}
        Some("env") => {
            rules.extend(
                environment::proxies(|name| std::env::var(name).ok()).map_err(Failure::config)?,
            );
        }
        Some(text) => {
            let proxy = proxy(text, credentials.as_deref());
            let proxy = proxy.map_err(|error| Failure::config(format!("fetch.proxy: {error}")))?;
            rules.push(ProxyRule { hosts: HostPattern::ALL, scheme: None, proxy: Some(proxy) });
        }
    }
    Ok(rules)
}

/// A proxy by its URL, or by a reference to one. Only there may its password stand in the URL.
fn proxy(text: &str, credentials: Option<&str>) -> Result<Arc<Proxy>, String> {
    let is_reference = secret::is_reference(text);
    let whole = if is_reference { secret::read(text)? } else { text.to_owned() };
    let parsed: Result<Proxy, _> = whole.parse();
    let mut proxy = parsed.map_err(|error| error.to_string())?;
    if proxy.has_login() && !is_reference {
        let why = "a password must not stand in the URL; use fetch.proxy_credentials, or @env:NAME for the URL";
        return Err(why.to_owned());
    }
    if let Some(credentials) = credentials {
        proxy = proxy.with_login(credentials).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(proxy))
}

fn patterns(settings: &Settings, name: &str) -> anyhow::Result<Vec<HostPattern>> {
    let parsed = settings.items(name).iter().map(|item| pattern(name, item));
    parsed.collect()
}

fn pattern(name: &str, text: &str) -> anyhow::Result<HostPattern> {
    text.parse().map_err(|error| Failure::config(format!("{name}: {error}")))
}

fn invalid_certificates(settings: &Settings) -> anyhow::Result<Vec<HostPattern>> {
    match settings.items("fetch.accept_invalid_certificates") {
        [word] if word == "false" => Ok(Vec::new()),
        [word] if word == "true" => Ok(vec![HostPattern::ALL]),
        _ => patterns(settings, "fetch.accept_invalid_certificates"),
    }
}

fn cookie_mode(settings: &Settings) -> anyhow::Result<CookieMode> {
    let mode = settings.need("fetch.cookies", |text| match text {
        "off" | "false" => Ok(CookieMode::Off),
        "session" => Ok(CookieMode::Session),
        "keep" => Ok(CookieMode::Keep),
        _ => Err(format!("`{text}` is not valid; use off, session or keep")),
    })?;
    if mode == CookieMode::Off && !settings.items("fetch.cookies_file").is_empty() {
        let why = "fetch.cookies_file has no effect with fetch.cookies=off; use session or keep";
        return Err(Failure::config(why));
    }
    Ok(mode)
}

/// The cookies to begin with: those kept, and those of a file that was not imported before.
fn cookies(
    settings: &Settings,
    mode: CookieMode,
    data: &Path,
) -> anyhow::Result<Option<Arc<Cookies>>> {
    let mut jar = match mode {
        CookieMode::Off => return Ok(None),
        CookieMode::Session => Jar::new(JarLimits::default()),
        CookieMode::Keep => cookie_file::read(data)?,
    };
    if let Some(path) = settings.items("fetch.cookies_file").first() {
        let bad = |why: String| Failure::config(format!("fetch.cookies_file: {path}: {why}"));
        let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        let digest = Digest::of_bytes(&text).to_string();
        if jar.imported_from() != Some(digest.as_str()) {
            jar.import(&text, &digest, Cookies::now()).map_err(|error| bad(error.to_string()))?;
        }
    }
    Ok(Some(Arc::new(Cookies::new(jar))))
}
