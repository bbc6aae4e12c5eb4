//! Are cookies.txt files read, and jars kept whole between runs?

use evercrawl_cookies::{Imported, Jar, JarLimits};
use proptest::prelude::*;
use url::Url;

const NOW: i64 = 1_800_000_000;

const FILE: &str = "# Netscape HTTP Cookie File\n\
    \n\
    .a.test\tTRUE\t/\tTRUE\t1900000000\tsession\tsecret\r\n\
    #HttpOnly_b.test\tFALSE\t/x\tFALSE\t0\tid\t\n\
    old.test\tFALSE\t/\tFALSE\t1000\tgone\tv\n\
    b.test\tFALSE\t/\tFALSE\t1900000000.5\tn\n";

fn header(jar: &mut Jar, to: &str) -> Option<(String, String)> {
    let header = jar.header(&Url::parse(to).unwrap(), NOW)?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((text(header.value), text(header.redacted)))
}

#[test]
fn a_cookies_txt_is_imported_and_its_values_are_secrets() {
    let mut jar = Jar::default();
    let imported = jar.import(FILE.as_bytes(), "d1", NOW).unwrap();
    assert_eq!(imported, Imported { taken: 3, expired: 1 });
    let (value, redacted) = header(&mut jar, "https://www.a.test/").unwrap();
    assert_eq!((value.as_str(), redacted.as_str()), ("session=secret", "session=***"));
    assert_eq!(header(&mut jar, "http://www.a.test/"), None, "it is for TLS alone");
    assert_eq!(header(&mut jar, "http://b.test/x").unwrap().0, "id=; n=");
    jar.store(&Url::parse("https://www.a.test/").unwrap(), b"own=1", NOW).unwrap();
    let (_, redacted) = header(&mut jar, "https://www.a.test/").unwrap();
    assert_eq!(redacted, "session=***; own=1");
    assert!(!format!("{jar:?}").contains("secret"), "{jar:?}");
    let shown = format!("{:?}", jar.header(&Url::parse("https://a.test/").unwrap(), NOW));
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn a_jar_is_the_same_after_a_restart() {
    let mut jar = Jar::default();
    jar.import(FILE.as_bytes(), "d1", NOW).unwrap();
    let site = Url::parse("https://b.test/x/y").unwrap();
    jar.store(&site, b"bytes=\xff\xfe; HttpOnly", NOW).unwrap();
    let file = jar.to_file(NOW);
    let mut again = Jar::read_file(&file, JarLimits::default(), NOW).unwrap();
    assert_eq!(again.imported_from(), Some("d1"));
    assert_eq!(again.len(), jar.len());
    assert_eq!(again.to_file(NOW), file);
    assert_eq!(again.header(&site, NOW), jar.header(&site, NOW));
    assert_eq!(header(&mut again, "https://a.test/").unwrap().1, "session=***");
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_taken_in() {
    let good = ".a.test\tTRUE\t/\tTRUE\t0\tn\tv\n";
    for (line, problem) in [
        ("a.test TRUE / TRUE 0 n secret", "1 fields"),
        ("a.test\tYES\t/\tTRUE\t0\tn\tsecret", "`YES` in the second field"),
        ("a b\tTRUE\t/\tTRUE\t0\tn\tsecret", "is not a domain"),
        (".co.uk\tTRUE\t/\tTRUE\t0\tn\tsecret", "shared by many owners"),
        ("a.test\tTRUE\tx\tTRUE\t0\tn\tsecret", "is not a path"),
        ("a.test\tTRUE\t/\tTRUE\tsoon\tn\tsecret", "not a time"),
        ("a.test\tTRUE\t/\tTRUE\t0\tn;m\tsecret", "no cookie may have"),
    ] {
        let mut jar = Jar::default();
        let error = jar.import(format!("{good}{line}").as_bytes(), "d", NOW).unwrap_err();
        assert_eq!(error.line, 2, "{line}");
        let shown = error.to_string();
        assert!(shown.contains(problem) && !shown.contains("secret"), "{shown}");
        assert!(jar.is_empty());
    }
    assert!(Jar::read_file(good.as_bytes(), JarLimits::default(), NOW).is_err());
}

proptest! {
    #[test]
    fn any_file_is_read_or_refused(lines in prop::collection::vec("[\\t#a-zA-Z0-9./;]{0,40}", 0..6)) {
        let mut jar = Jar::default();
        let _ = jar.import(lines.join("\n").as_bytes(), "d", NOW);
        let file = jar.to_file(NOW);
        let again = Jar::read_file(&file, JarLimits::default(), NOW).unwrap();
        prop_assert_eq!(again.to_file(NOW), file);
    }
}
