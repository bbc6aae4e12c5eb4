//! What does `evercrawl --help` show?
//!
//! clap cannot group subcommands, so the list of verbs is made here: each verb stands in one group of
//! `GROUPS`, and its description is the one that clap knows.

use clap::{Command, CommandFactory};

use crate::args::Cli;

/// The verbs by task, in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Crawl", &["serve", "init", "add", "import", "crawl", "status", "budget", "plan"]),
    (
        "Read the results",
        &[
            "urls", "hosts", "queue", "archive", "why", "history", "changes", "diff", "text",
            "rates", "report", "rank", "spam",
        ],
    ),
    ("Be told", &["rules", "hits", "notify"]),
    ("Use the results elsewhere", &["export", "documents"]),
    (
        "Steer a crawl, running or stopped",
        &["push", "pin", "boost", "pause", "resume", "trust", "exclude", "noise", "overrides"],
    ),
    ("Maintain a data directory", &["check", "retain", "config"]),
    ("Try one URL", &["fetch", "robots", "doctor"]),
    ("Test and simulate", &["demo", "testweb", "lab"]),
];

/// Verbs shown after all others.
const OTHERS: (&str, &[&str]) = ("Other", &["completions", "help"]);

/// The command line, with verbs grouped by task in its help.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        verbs(&command)
    );
    command.help_template(template)
}

fn verbs(command: &Command) -> String {
    let groups = GROUPS.iter().chain(std::iter::once(&OTHERS));
    groups.map(|(heading, names)| format!("{heading}:\n{}\n", group(command, names))).collect()
}

fn group(command: &Command, names: &[&str]) -> String {
    let line = |name: &&str| format!("  {name:<12} {}\n", about(command, name));
    names.iter().map(line).collect()
}

fn about(command: &Command, verb: &str) -> String {
    let about = command.find_subcommand(verb).and_then(Command::get_about);
    // clap adds `help` when it parses.
    about.map_or("Print help for a verb".to_owned(), ToString::to_string)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The help of a command and of all below it, by name.
    fn all_help(command: &mut Command, name: &str, found: &mut Vec<(String, String)>) {
        found.push((name.to_owned(), command.render_long_help().to_string()));
        found.push((format!("{name} -h"), command.render_help().to_string()));
        for verb in command.get_subcommands_mut().filter(|verb| verb.get_name() != "help") {
            let name = format!("{name} {}", verb.get_name());
            all_help(verb, &name, found);
        }
    }

    /// The short and the long help of every command.
    pub(crate) fn every_help() -> Vec<(String, String)> {
        let mut command = command();
        command.build();
        let mut found = Vec::new();
        all_help(&mut command, "evercrawl", &mut found);
        found
    }

    #[test]
    fn every_visible_verb_is_listed_exactly_once() {
        let mut listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter()).copied().collect();
        listed.extend(OTHERS.1);
        let mut command = command();
        command.build();
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut verbs: Vec<&str> = verbs.map(Command::get_name).collect();
        listed.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(listed, verbs);
    }

    #[test]
    fn every_line_of_help_fits_80_columns() {
        let mut long = Vec::new();
        for (name, text) in every_help() {
            let lines = text.lines().filter(|line| line.chars().count() > 80);
            long.extend(lines.map(|line| format!("{name}: {line}")));
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }

    #[test]
    fn every_verb_and_flag_says_what_it_does() {
        fn check(command: &Command, missing: &mut Vec<String>) {
            if command.get_about().is_none() {
                missing.push(command.get_name().to_owned());
            }
            let silent = command
                .get_arguments()
                .filter(|arg| !arg.is_hide_set() && arg.get_help().is_none());
            missing.extend(silent.map(|arg| format!("{} {}", command.get_name(), arg.get_id())));
            command.get_subcommands().for_each(|verb| check(verb, missing));
        }
        let mut missing = Vec::new();
        check(&command(), &mut missing);
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}
