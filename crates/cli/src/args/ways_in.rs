//! Which flags say how requests go out: proxies, cookies, certificates?

use clap::Args;

/// How requests go out; remembered for the next run on the same data directory.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Ways in (remembered in the data directory)")]
pub(crate) struct WaysInArgs {
    /// Proxy: http://HOST:PORT or socks5://HOST:PORT; `env` reads http_proxy and its like
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
    /// Fetch these hosts without a proxy, e.g. `*.example.org`
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    pub(crate) no_proxy: Vec<String>,
    /// Cookies: off, session (for one run) or keep (over runs) [default: off]
    #[arg(long, value_name = "MODE")]
    pub(crate) cookies: Option<String>,
    /// Import this cookies.txt, e.g. of a browser that is logged in
    #[arg(long, value_name = "FILE")]
    pub(crate) cookies_file: Option<String>,
    /// Trust the root certificates in this PEM file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Vec<String>,
}
