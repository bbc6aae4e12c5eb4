use evercrawl_rules::Rules;

#[test]
fn the_example_of_the_guide_is_read() {
    let rules = Rules::read(
        r#"
        [watch.terms]
        tag = "legal"
        region = { css = "main", without = [".price"] }
        when = "score >= 2% and words_removed > 0"
        [watch.price]
        tag = "shop"
        when = "price < 100 or price_change <= -10%"
        [watch.silent]
        tag = "press"
        when = "unchanged_for > 14d or gone_for > 1d or refused"
        [watch.mark]
        phrases = "phrases.txt"
        works = "own-texts/"
        except = { host = ["example.org"] }
        [channel.team]
        url = "slack://@env:SLACK_HOOK"
        batch = "15m"
        quiet = "22:00-07:00 Europe/Berlin"
        urgent = ["mark"]
        rules = ["terms", "mark"]
        "#,
    )
    .unwrap();
    assert_eq!(rules.watches.len(), 4);
    let team = rules.channel("team").unwrap();
    assert_eq!((team.batch, team.quiet.as_ref().unwrap().from), (Some(900.0), 1320));
    assert!(
        team.takes("terms", false) && !team.takes("price", false) && !team.takes("terms", true)
    );
    assert_eq!(rules.watch("mark").unwrap().when.text(), "phrase or copied_words >= 60");
    assert!(
        rules.watch("silent").unwrap().waits()
            && rules.watch("price").unwrap().looks_beneath_noise()
    );
    assert!(Rules::read("").unwrap().watches.is_empty());
}

#[test]
fn all_mistakes_are_told_at_once_where_they_stand() {
    let error = Rules::read(
        r#"
        watched = 1
        [watch.a]
        whem = "change"
        region = "p:hover"
        [watch.b]
        when = "prize < 3"
        url = "("
        [watch.c]
        when = "phrase"
        confirm = "soon"
        [channel.d]
        rules = ["aa"]
        quiet = "at night"
        secret = "hunter2"
        "#,
    )
    .unwrap_err()
    .to_string();
    for part in [
        "`watched` is not known; did you mean `watch`?",
        "[watch.a] `whem` is not known; did you mean `when`?",
        "[watch.a] region: `p:hover` is not a selector",
        "[watch.b] when: `prize` is not a field; did you mean `price`?",
        "[watch.b] `(` is not a regular expression",
        "[watch.c] `phrase` needs `phrases = PATH`",
        "[watch.c] confirm: `soon` is not a duration",
        "[channel.d] `url` is missing",
        "[channel.d] there is no [watch.aa]",
        "[channel.d] quiet: `at night`",
        "[channel.d] secret: a secret must not stand here",
    ] {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
    assert!(!error.contains("hunter2"));
    assert!(
        Rules::read("watch = 3").is_err()
            && Rules::read("[").is_err()
            && Rules::read("[watch]\na = 1").is_err()
    );
}
