//! Why can a page not be rendered, though it is not the page's fault?

use std::io;

use thiserror::Error;

/// The browser is missing, does not start, or ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// No browser is installed.
    #[error(
        "no browser was found; install one with: apt-get install --no-install-recommends chromium-headless-shell"
    )]
    NoBrowser,
    /// The setting names a file that is not there.
    #[error("the browser {0} does not exist")]
    NoSuchBrowser(String),
    /// Its sandbox cannot work here.
    #[error(
        "the browser's sandbox needs user namespaces, which this system refuses; allow them, or use -s render.sandbox=off for sites that you trust"
    )]
    NoSandbox,
    /// It could not be started.
    #[error("cannot start the browser: {0}")]
    Start(String),
    /// It ended or no longer answers.
    #[error("the browser ended unexpectedly")]
    Gone,
    /// The pipe to it broke.
    #[error("cannot talk to the browser: {0}")]
    Io(#[from] io::Error),
    /// It refused a command.
    #[error("the browser refused `{method}`: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// What it said.
        message: String,
    },
    /// The page's URL cannot be rendered.
    #[error("cannot render `{0}`; use http or https")]
    BadUrl(String),
}
