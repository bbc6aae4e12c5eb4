//! The binary: verbs, configuration, exit codes, printing.

#![allow(clippy::print_stdout, clippy::print_stderr)] // the one crate that talks to people

mod access;
mod args;
mod complaint;
mod contact;
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
mod regions;
mod report;
mod secret;
mod seeds;
mod settings;
mod units;
mod url_rules;
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
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let as_json = complaint::wants_json(&words);
    let ran = parse(&words, as_json).and_then(|cli| match cli {
        Ok(cli) => logging::start(&cli.log).and_then(|()| run(cli.verb)),
        Err(code) => Ok(code),
    });
    match ran {
        Ok(code) => code.into(),
        Err(error) if exit::is_broken_pipe(&error) => exit::OK.into(),
        Err(error) => {
            complaint::show(&error, as_json);
            exit::code_of(&error).into()
        }
    }
}

/// Reads the command line; or gives the exit code where `--help`, `--version` or a mistake ends the process.
fn parse(words: &[String], as_json: bool) -> anyhow::Result<Result<Cli, u8>> {
    if let Some(network) = args::network_after_space(words) {
        return Err(exit::Failure::usage(format!(
            "`--allow-private {network}` would take `{network}` for a seed; \
             write `--allow-private={network}`"
        )));
    }
    let matches = help::command().try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(Ok(cli)),
        Err(error) if as_json && error.use_stderr() => {
            complaint::show_usage(&error);
            Ok(Err(exit::USAGE))
        }
        Err(error) => error.exit(),
    }
}

fn run(verb: Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Init(args) => verbs::init::run(&args),
        Verb::Add(args) => verbs::add::run(&args),
        Verb::Import(args) => verbs::import::run(&args),
        Verb::Crawl(args) => verbs::crawl::run(&args),
        Verb::CrawlProcess(args) => verbs::crawl::process::run(&args),
        Verb::Serve(args) => verbs::serve::run(&args),
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
        Verb::Rates(args) => verbs::rates::run(&args),
        Verb::Report(args) => verbs::report::run(&args),
        Verb::Text(args) => verbs::text::run(&args),
        Verb::Rules(verb) => verbs::rules::run(&verb),
        Verb::Hits(args) => verbs::hits::run(&args),
        Verb::Notify(verb) => verbs::notify::run(&verb),
        Verb::Documents(args) => verbs::documents::run(&args),
        Verb::Export(verb) => verbs::export::run(&verb),
        Verb::Rank(args) => verbs::rank::run(&args),
        Verb::Spam(args) => verbs::spam::run(&args),
        Verb::Override(verb) => verbs::overrides::run(&verb),
        Verb::Budget(args) => verbs::budget::run(&args),
        Verb::Push(args) => verbs::push::run(&args),
        Verb::Fetch(args) => verbs::fetch::run(&args),
        Verb::Doctor(args) => verbs::doctor::run(&args),
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
