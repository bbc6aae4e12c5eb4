//! `evercrawl completions`: for a shell.

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit;

pub(crate) fn run(shell: clap_complete::Shell) -> anyhow::Result<u8> {
    clap_complete::generate(shell, &mut Cli::command(), "evercrawl", &mut std::io::stdout());
    Ok(exit::OK)
}
