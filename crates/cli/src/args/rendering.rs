//! Which flags are about pages made by scripts?

use clap::Args;

use super::Common;

/// Which pages are rendered; remembered for the next run on the same data directory.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to crawl (remembered in the data directory)")]
pub(crate) struct RenderingArgs {
    /// Run the scripts of pages in a browser: never or always; needs Chromium, see `evercrawl doctor`
    /// [default: never]
    #[arg(long, value_name = "WHEN")]
    pub(crate) render: Option<String>,
    /// Most CPU of the browser, as a share of all cores [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) render_cpu: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
