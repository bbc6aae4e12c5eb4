//! Which signs does one page show?

use crate::doors::off_site_target;
use crate::page_features::PageFeatures;
use crate::phrases::{PhraseCounts, is_word, plain_words, words};
use crate::sign::{Sign, SignKind};

/// Texts shorter than this say too little to be measured, in words.
const LEAST_WORDS: usize = 60;

/// The same for lists, which say less in as many words.
const LEAST_LIST: usize = 120;

/// All signs that a page shows by itself.
pub fn page_signs(url: &str, features: &PageFeatures) -> Vec<Sign> {
    let all = [
        stuffed(features),
        stuffed_list(features),
        title(features),
        hidden(features),
        invisible_links(url, features),
        doorway(url, features),
        parked(url, features),
        address(url),
        stuffed_path(url),
    ];
    all.into_iter().flatten().collect()
}

/// The same phrases over and over.
fn stuffed(features: &PageFeatures) -> Option<Sign> {
    let phrases = PhraseCounts::of_long_lines(&features.text);
    let (phrase, count) = &phrases.top;
    let evidence = format!(
        "ten phrases make up {:.0} % of its {} words, \u{201c}{phrase}\u{201d} alone stands there {count} \
         times; compressed, the text is {:.1} times smaller",
        100.0 * phrases.covered,
        phrases.words,
        phrases.compression
    );
    let sign = Sign::measured(SignKind::Stuffed, phrases.covered, 0.25, 0.45, evidence);
    // A text that says the same in ever different words does not compress so well.
    let dense = phrases.compression >= 3.0 && phrases.is_repetitive();
    (phrases.words >= LEAST_WORDS && dense).then_some(sign)
}

/// The same phrases over and over in lists, which repeat themselves by nature: so hardly anything else.
fn stuffed_list(features: &PageFeatures) -> Option<Sign> {
    let phrases = PhraseCounts::of_all(&features.text);
    let (phrase, count) = &phrases.top;
    let evidence = format!(
        "ten phrases make up {:.0} % of its {} words, lists included, \u{201c}{phrase}\u{201d} alone stands \
         there {count} times",
        100.0 * phrases.covered,
        phrases.words,
    );
    let sign = Sign::measured(SignKind::Stuffed, phrases.covered, 0.60, 0.85, evidence);
    let is_text = phrase.split(' ').all(|word| word.chars().all(char::is_alphabetic));
    (phrases.words >= LEAST_LIST && is_text && phrases.is_repetitive()).then_some(sign)
}

/// A title that is a list of search words.
fn title(features: &PageFeatures) -> Option<Sign> {
    let lower = features.title.to_lowercase();
    // Short words are repeated by nature, and so are characters that are words.
    let is_long = |word: &&str| is_word(word) && word.chars().count() > 3;
    let words: Vec<&str> = plain_words(&lower).filter(is_long).collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let repeated = words.len() - distinct.len();
    let evidence = format!("{repeated} of the {} words of its title are repeated", words.len());
    let sign = Sign::measured(SignKind::Stuffed, repeated as f64, 6.0, 14.0, evidence);
    (repeated > 0).then_some(sign)
}

/// Text that styles hide.
fn hidden(features: &PageFeatures) -> Option<Sign> {
    let (hidden, seen) = (words(&features.hidden).count(), words(&features.text).count());
    let phrases = PhraseCounts::of_long_lines(&features.hidden);
    let evidence = format!(
        "{hidden} of its {} words are hidden from the reader, \u{201c}{}\u{201d} {} times",
        hidden + seen,
        phrases.top.0,
        phrases.top.1
    );
    // Menus that open on demand are hidden too, but say each thing once.
    let sign = Sign::measured(SignKind::Hidden, phrases.covered, 0.25, 0.45, evidence);
    (hidden >= LEAST_WORDS && phrases.is_repetitive()).then_some(sign)
}

/// Links to other hosts that styles hide. Menus are hidden too, and lead to the host's own pages.
fn invisible_links(url: &str, features: &PageFeatures) -> Option<Sign> {
    let own = host(url);
    let mut hosts: Vec<&str> = features.hidden_links.iter().filter_map(|to| host(to)).collect();
    hosts.retain(|there| Some(*there) != own);
    hosts.sort_unstable();
    hosts.dedup();
    let evidence = format!(
        "links to {} other hosts are hidden from the reader, as to {}",
        hosts.len(),
        hosts.first()?
    );
    Some(Sign::measured(SignKind::Hidden, hosts.len() as f64, 6.0, 20.0, evidence))
}

/// A text that nobody can read, since the reader is redirected to another host at once.
fn doorway(url: &str, features: &PageFeatures) -> Option<Sign> {
    let target = features.sends_to.as_deref()?;
    let target = off_site_target(url, target)?;
    let there = target.host();
    let words = words(&features.text).count() + words(&features.hidden).count();
    let evidence = format!("it sends readers to {there} before they can read its {words} words");
    // A page that has moved says so in a sentence.
    Some(Sign::measured(SignKind::Doorway, words as f64, 30.0, 100.0, evidence))
}

/// What parking services say of the name itself, in lower case.
const OFFERS: [&str; 34] = [
    "domain is for sale",
    "domain name is for sale",
    "domain may be for sale",
    "domain for sale",
    "website is for sale",
    "buy this domain",
    "purchase this domain",
    "get this domain",
    "own this domain",
    "acquire this domain",
    "inquire about this domain",
    "interested in this domain",
    "domain is parked",
    "page is parked",
    "parked free",
    "parked for free",
    "parked by",
    "parked domain",
    "domain parking",
    "domain has expired",
    "domain is registered",
    "page for this domain",
    "domain steht zum verkauf",
    "domain kaufen",
    "domaine est à vendre",
    "domaine à vendre",
    "dominio está en venta",
    "dominio en venta",
    "dominio è in vendita",
    "domínio está à venda",
    "domein is te koop",
    "домен прода",
    "域名出售",
    "ドメインは販売",
];

/// What they say besides, and others too.
const REMARKS: [&str; 6] = [
    "domain owner",
    "make an offer",
    "sponsored listings",
    "related searches",
    "related links",
    "price quote",
];

/// So few words that one offer is what the page is for.
const SIGN_ON_A_LOT: usize = 60;

/// A short page that offers its own name for sale.
fn parked(url: &str, features: &PageFeatures) -> Option<Sign> {
    let text = format!("{} {}", features.title, features.text).to_lowercase();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match host(url).map(|host| host.trim_start_matches("www.")) {
        Some(name) => text.replace(name, "this domain"),
        None => text,
    };
    let count = words(&text).count();
    let said = |list: &[&'static str]| -> Vec<&str> {
        list.iter().copied().filter(|words| text.contains(words)).collect()
    };
    let (offers, remarks) = (said(&OFFERS), said(&REMARKS));
    let found = [offers.as_slice(), &remarks].concat();
    let evidence = format!("its {count} words offer the name itself: {}", found.join(", "));
    // One such phrase may be quoted; long pages may discuss them.
    let plain = usize::from(!offers.is_empty() && count <= SIGN_ON_A_LOT);
    let signs = (found.len() + plain) as f64;
    let sign = Sign::measured(SignKind::Parked, signs, 0.6, 2.0, evidence);
    (!offers.is_empty() && count <= 300).then_some(sign)
}

/// A host name made of search words.
fn address(url: &str) -> Option<Sign> {
    let host = host(url)?;
    let joints = host.matches('-').count();
    let evidence = format!("{} words are strung together in its name, {host}", joints + 1);
    let is_encoded = host.contains("xn--");
    (joints > 0 && !is_encoded)
        .then(|| Sign::measured(SignKind::Address, joints as f64, 3.0, 8.0, evidence))
}

/// A path that says its search words over and over.
fn stuffed_path(url: &str) -> Option<Sign> {
    let path = url.split_once("//")?.1.split_once('/')?.1.to_ascii_lowercase();
    let words: Vec<&str> =
        path.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 3).collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let repeated = words.len() - distinct.len();
    let evidence = format!("{repeated} of the {} words of its address are repeated", words.len());
    let sign = Sign::measured(SignKind::Address, repeated as f64, 5.0, 10.0, evidence);
    (repeated > 0).then_some(sign)
}

/// The host that a URL names; `None` where it names none.
pub(crate) fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("//")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpamVerdict;

    fn verdict(url: &str, html: &str) -> SpamVerdict {
        SpamVerdict::new(page_signs(url, &PageFeatures::of_html(html)))
    }

    const PROSE: &str = "Most links stay on their host. So pages are ranked within their hosts, hosts among \
        each other, and the product is a ranking of pages that is nearly right. A surfer follows a link of \
        the page at hand, any of them alike, and jumps otherwise; from a page without links the surfer \
        always jumps. What a group says of itself counts for nothing, so links within groups are left out. \
        Time has any unit, and popularity grows as a logistic curve while people follow links to it.";

    /// Links to so many hosts.
    fn links(hosts: u32) -> String {
        (0..hosts).map(|n| format!("<a href='http://h{n}.example/'>x</a>")).collect()
    }

    #[test]
    fn prose_shows_no_sign_whatever_its_frame() {
        for html in [
            format!("<p>{PROSE}</p>{}<nav hidden><a href=/a>b</a>{}</nav>", links(50), links(3)),
            format!("<title>On ranking</title><p>{PROSE}</p>"),
            format!("<title>On ranking</title><nav hidden>{PROSE}</nav><p>{PROSE}</p>"),
            format!(
                "<title>map&lt; {}&gt;</title><p>{PROSE}</p>",
                "std::enable_if&lt; is_same&lt; K ".repeat(20)
            ),
            format!("<meta http-equiv=refresh content='0;url=/next'><p>{PROSE}</p>"),
            format!(
                "<meta http-equiv=refresh content='0;url=http://www.a.example/'><p>{PROSE}{PROSE}"
            ),
            "<meta http-equiv=refresh content='0;url=http://b.example/'>This page has moved."
                .to_owned(),
            format!("<p>{PROSE} It may say: buy this domain.</p>"),
            String::new(),
        ] {
            let verdict = verdict("http://a.example/x", &html);
            assert!(verdict.probability < 0.5, "{html}: {verdict:?}");
        }
    }

    #[test]
    fn every_trick_is_seen_and_named() {
        let pills = "cheap pills online without prescription ".repeat(30);
        for (url, html, kind) in [
            (
                "http://a.example/",
                format!("<p>{PROSE}</p><p>{pills}{pills}</p>"),
                SignKind::Stuffed,
            ),
            (
                "http://a.example/",
                format!("<title>{}</title>{PROSE}", "pills buy ".repeat(12)),
                SignKind::Stuffed,
            ),
            (
                "http://a.example/",
                format!("<p>{PROSE}</p><div style='display:none'>{pills}</div>"),
                SignKind::Hidden,
            ),
            (
                "http://a.example/",
                format!("<p>{PROSE}{PROSE}</p><script>location='http://b.example/'</script>"),
                SignKind::Doorway,
            ),
            (
                "http://a.example/",
                "<title>a.example</title>This domain is for sale. Buy this domain!".to_owned(),
                SignKind::Parked,
            ),
            (
                "http://best-cheap-pills-buy-online-no-script-now.example/",
                PROSE.to_owned(),
                SignKind::Address,
            ),
            (
                "http://a.example/cheap-pills/buy-cheap-pills/cheap-pills-online-buy-pills-cheap-online-pills-buy-cheap",
                PROSE.to_owned(),
                SignKind::Address,
            ),
            (
                "http://a.example/",
                format!("<p>{PROSE}</p><div style='display:none'>{}</div>", links(20)),
                SignKind::Hidden,
            ),
        ] {
            let verdict = verdict(url, &html);
            assert!(verdict.probability > 0.5, "{kind:?}: {verdict:?}");
            assert_eq!(verdict.signs[0].kind, kind, "{verdict:?}");
        }
    }

    #[test]
    fn hosts_are_read_from_whole_addresses_only() {
        assert_eq!(host("http://a.example:80/x?y"), Some("a.example:80"));
        assert_eq!(
            (host("//b.example"), host("/x"), host("http:///")),
            (Some("b.example"), None, None)
        );
    }
}
