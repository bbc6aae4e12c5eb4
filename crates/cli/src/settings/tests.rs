//! Which source wins, and how are mistakes named?

use super::*;

fn message(result: anyhow::Result<()>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn later_sources_win_and_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("evercrawl.toml");
    std::fs::write(
        &path,
        "[pace]\ndelay = \"2s\"\nper_host = 3\n[crawl]\nexclude = [\"/a\", \"/b\"]\n",
    )
    .unwrap();
    let mut settings = Settings::defaults();
    settings.read_file(&path, &Origin::File(path.clone())).unwrap();
    let environment = [("EVERCRAWL_PACE_DELAY".to_owned(), "3s".to_owned())];
    settings.read_environment(environment.into_iter()).unwrap();
    assert_eq!(settings.items("pace.delay"), ["3s"]);
    assert_eq!(settings.items("pace.per_host"), ["3"]);
    assert_eq!(settings.items("crawl.exclude"), ["/a", "/b"]);
    settings.set_pair("pace.delay=4s").unwrap();
    assert_eq!(settings.items("pace.delay"), ["4s"]);
    assert_eq!(settings.values["pace.delay"].origin, Origin::Flag);
}

#[test]
fn mistakes_are_named_with_what_was_meant() {
    let mut settings = Settings::defaults();
    assert!(message(settings.set_pair("pace.dealy=1s")).contains("did you mean `pace.delay`?"));
    assert!(message(settings.set_pair("pace.delay")).contains("NAME=VALUE"));
    let unknown = [("EVERCRAWL_PACE_DELAI".to_owned(), "1s".to_owned())];
    let error = message(settings.read_environment(unknown.into_iter()));
    assert!(error.contains("did you mean `EVERCRAWL_PACE_DELAY`?"), "{error}");
    settings.set_pair("pace.delay=soon").unwrap();
    let error = settings.need("pace.delay", crate::units::duration).unwrap_err().to_string();
    assert!(error.contains("pace.delay (from command line)"), "{error}");
}

#[test]
fn old_names_of_settings_still_work_and_are_written_as_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("remembered.toml");
    let old =
        "[schedule]\nrecrawl = \"27d\"\n[crawl]\nurl_steps = [\"default\", \"-sort_query\"]\n";
    std::fs::write(&path, old).unwrap();
    let mut settings = Settings::defaults();
    settings.read_file(&path, &Origin::Remembered).unwrap();
    assert_eq!(settings.items("schedule.revisit_every"), ["27d"]);
    assert_eq!(settings.items("crawl.url_normalization"), ["default", "-sort_query"]);
    let variable = [("EVERCRAWL_IDENTITY_AGENT".to_owned(), "bot".to_owned())];
    settings.read_environment(variable.into_iter()).unwrap();
    settings.set_pair("crawl.url_steps=default,-fragment").unwrap();
    assert_eq!(settings.items("identity.user_agent"), ["bot"]);
    assert_eq!(settings.items("crawl.url_normalization"), ["default", "-fragment"]);
    settings.remember(&path).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("revisit_every") && !written.contains("recrawl"), "{written}");
}

#[test]
fn every_old_name_leads_to_a_setting_and_is_none_itself() {
    for (old, new) in OLD_NAMES {
        assert_eq!(find_key(old).map(|key| key.name), Some(new));
        assert!(KEYS.iter().all(|key| key.name != old), "{old}");
    }
}

#[test]
fn what_flags_said_is_remembered_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("remembered.toml");
    let mut settings = Settings::defaults();
    settings.set_pair("crawl.exclude=/a,/b").unwrap();
    settings.remember(&path).unwrap();
    let mut again = Settings::defaults();
    again.read_file(&path, &Origin::Remembered).unwrap();
    assert_eq!(again.items("crawl.exclude"), ["/a", "/b"]);
    assert_eq!(again.values.values().filter(|v| v.origin != Origin::Default).count(), 1);
}
