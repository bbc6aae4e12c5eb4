//! The binary: verbs, configuration, exit codes, printing.

#![allow(clippy::print_stdout, clippy::print_stderr)] // the one crate that talks to people

mod access;
mod args;
mod control;
mod crawl_config;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod documented;
mod doorbell;
mod exit;
mod help;
mod logging;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod plain_english;
mod print;
mod report;
mod secret;
mod seeds;
mod settings;
mod units;
mod verbs;

use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Config, Verb};

/// Long runs on the system's allocator grow by fragments.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The kernel would zero two megabytes where the allocator needs a few pages: a third of the
    // system time, and twice the memory. The allocator does not ask for that; where it is given all
    // the same, and cannot be turned off, so be it.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    match parse().and_then(|cli| logging::start(&cli.log).and_then(|()| run(cli.verb))) {
        Ok(code) => code.into(),
        Err(error) if exit::is_broken_pipe(&error) => exit::OK.into(),
        Err(error) => {
            eprintln!("evercrawl: {}", print::complaint(&format!("{error:#}")));
            exit::code_of(&error).into()
        }
    }
}

/// Reads the command line; ends the process for `--help`, `--version` and what clap refuses.
fn parse() -> anyhow::Result<Cli> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(network) = args::network_after_space(&words) {
        return Err(exit::Failure::usage(format!(
            "`--allow-private {network}` would take `{network}` for a seed; \
             write `--allow-private={network}`"
        )));
    }
    let matches = help::command().get_matches();
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()))
}

fn run(verb: Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Init(args) => verbs::init::run(&args),
        Verb::Add(args) => verbs::add::run(&args),
        Verb::Crawl(args) => verbs::crawl::run(&args),
        Verb::Status(args) => verbs::status::run(&args),
        Verb::Urls(args) => verbs::urls::run(&args),
        Verb::Hosts(args) => verbs::hosts::run(&args),
        Verb::Queue(args) => verbs::queue::run(&args),
        Verb::Archive(args) => verbs::archive::run(&args),
        Verb::Why(args) => verbs::why::run(&args),
        Verb::Plan(args) => verbs::plan::run(&args),
        Verb::History(args) => verbs::history::run(&args),
        Verb::Changes(args) => verbs::changes::run(&args),
        Verb::Diff(args) => verbs::diff::run(&args),
        Verb::Rank(args) => verbs::rank::run(&args),
        Verb::Spam(args) => verbs::spam::run(&args),
        Verb::Override(verb) => verbs::overrides::run(&verb),
        Verb::Budget(args) => verbs::budget::run(&args),
        Verb::Push(args) => verbs::push::run(&args),
        Verb::Fetch(args) => verbs::fetch::run(&args),
        Verb::Robots(args) => verbs::robots::run(&args),
        Verb::Check(args) => verbs::check::run(&args),
        Verb::Retain(args) => verbs::retain::run(&args),
        Verb::Config(Config::Show { common, json }) => verbs::config::show(&common, json),
        Verb::Testweb(args) => verbs::testweb::run(&args),
        Verb::Demo(args) => verbs::demo::run(&args),
        Verb::Lab(lab) => verbs::lab::run(&lab),
        Verb::Completions { shell } => verbs::completions::run(shell),
    }
}
