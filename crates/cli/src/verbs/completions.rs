//! `evercrawl completions`: for a shell.

use std::io::Write;

use clap::CommandFactory;

use crate::args::Cli;
use crate::{exit, print};

pub(crate) fn run(shell: clap_complete::Shell) -> anyhow::Result<u8> {
    // Into memory first: the generator panics when the reader of its output goes away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "evercrawl", &mut script);
    print::data().write_all(&script)?;
    Ok(exit::OK)
}
