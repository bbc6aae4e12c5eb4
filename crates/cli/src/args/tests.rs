//! Do the flags of earlier versions still work?

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_flags_of_earlier_versions_still_work() {
    for line in [
        "crawl a.test --for 1h --once --recrawl 27d --discover 30% --embeds --agent bot",
        "crawl --seeds list.txt",
        "fetch a.test --agent bot --embeds",
        "init --agent bot",
        "plan --for 7d",
        "testweb --for 1m",
        "demo --for 1m",
        "boost /news/ x5",
        "boost /news/ 0.5",
        "wishes",
        "wishes --json",
        "resume h1.test",
    ] {
        let line = [vec!["evercrawl".to_owned()], words(line)].concat();
        assert!(Cli::try_parse_from(&line).is_ok(), "{line:?}");
    }
}
