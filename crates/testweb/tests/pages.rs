//! Do pages look as the world says they are: changed when they changed, alike when they are copies, honest when they
//! should be?

// Helpers of tests may panic as tests do; the lint only knows functions marked as tests.
#![allow(clippy::unwrap_used)]

use evercrawl_testweb::{
    Charset, Edit, Host, HostRobots, HostValidators, Noise, PageId, World, WorldAnswer,
    WorldConfig, WorldRequest,
};

const MINUTE_MS: u64 = 60_000;

struct Reader {
    world: World,
    nonce: u64,
}

impl Reader {
    fn new(config: WorldConfig) -> Self {
        Reader { world: World::new(config), nonce: 0 }
    }

    fn get(&mut self, page: PageId, after_ms: u64) -> WorldAnswer {
        self.get_if(page, after_ms, None, None)
    }

    fn get_if(
        &mut self,
        page: PageId,
        after_ms: u64,
        etag: Option<&str>,
        date: Option<&str>,
    ) -> WorldAnswer {
        let target = self.world.path(page);
        self.get_path(page.host, &target, after_ms, etag, date)
    }

    fn get_path(
        &mut self,
        host: u32,
        target: &str,
        after_ms: u64,
        etag: Option<&str>,
        date: Option<&str>,
    ) -> WorldAnswer {
        let authority = self.world.host_name(host);
        let request = WorldRequest {
            authority: &authority,
            target,
            if_none_match: etag,
            if_modified_since: date,
        };
        let mut answer = WorldAnswer::new();
        self.nonce += 1;
        self.world.answer(
            &request,
            self.world.config().origin_ms + after_ms,
            self.nonce,
            &mut answer,
        );
        answer
    }

    fn hosts(&self, is: impl Fn(&Host) -> bool) -> Vec<u32> {
        (0..self.world.config().hosts).filter(|&id| is(&self.world.host(id))).collect()
    }

    fn changes(&self, page: PageId, from_ms: u64, to_ms: u64) -> usize {
        let origin_ms = self.world.config().origin_ms;
        self.world.changes_between(page, origin_ms + from_ms, origin_ms + to_ms).len()
    }
}

fn pages(hosts: &[u32], slots: u32) -> Vec<PageId> {
    hosts.iter().flat_map(|&host| (0..slots).map(move |slot| PageId::first(host, slot))).collect()
}

#[test]
fn bytes_change_exactly_when_the_page_did() {
    let mut reader = Reader::new(WorldConfig { hosts: 60, ..WorldConfig::wild() });
    let quiet =
        reader.hosts(|host| host.noise.is_none() && host.trap.is_none() && host.fault.is_none());
    let (mut changed, mut unchanged) = (0, 0);
    for page in pages(&quiet, 50) {
        let (early, late) = (reader.get(page, 5 * MINUTE_MS), reader.get(page, 7 * MINUTE_MS));
        if early.status == 200 && late.status == 200 {
            let changes = reader.changes(page, 5 * MINUTE_MS, 7 * MINUTE_MS);
            assert_eq!(early.body != late.body, changes > 0, "{page:?}");
            *(if changes > 0 { &mut changed } else { &mut unchanged }) += 1;
        }
    }
    assert!(changed > 300 && unchanged > 300, "{changed} changed, {unchanged} did not");
}

#[test]
fn right_validators_answer_304_exactly_when_nothing_changed() {
    for validators in [HostValidators::Right, HostValidators::LastModifiedOnly] {
        let mut reader =
            Reader::new(WorldConfig { page_shares: Default::default(), ..WorldConfig::wild() });
        let hosts = reader.hosts(|host| host.validators == validators && host.fault.is_none());
        let (mut kept, mut sent) = (0, 0);
        for page in pages(&hosts[..10], 50) {
            let first = reader.get(page, MINUTE_MS);
            let (etag, date) = (first.header("etag"), first.header("last-modified"));
            assert_eq!(etag.is_some(), validators == HostValidators::Right);
            let second = reader.get_if(page, MINUTE_MS + 20_000, etag, date);
            if date.is_some() || etag.is_some() {
                let same = reader.changes(page, MINUTE_MS, MINUTE_MS + 20_000) == 0;
                assert_eq!(second.status, if same { 304 } else { 200 }, "{page:?}");
                assert_eq!(second.body.is_empty(), same);
                *(if same { &mut kept } else { &mut sent }) += 1;
            }
        }
        assert!(kept > 50 && sent > 50, "{validators:?}: {kept} kept, {sent} sent");
    }
}

#[test]
fn wrong_validators_are_wrong_in_their_way() {
    let mut reader =
        Reader::new(WorldConfig { page_shares: Default::default(), ..WorldConfig::wild() });
    let page_of = |reader: &Reader, validators| {
        let hosts = reader.hosts(|host| host.validators == validators && host.fault.is_none());
        pages(&hosts, 50)
            .into_iter()
            .find(|&page| reader.changes(page, MINUTE_MS, 2 * MINUTE_MS) > 0)
            .unwrap()
    };
    let new = page_of(&reader, HostValidators::EtagAlwaysNew);
    let etag = reader.get(new, MINUTE_MS).header("etag").unwrap().to_owned();
    assert_eq!(reader.get_if(new, MINUTE_MS, Some(&etag), None).status, 200);

    let frozen = page_of(&reader, HostValidators::EtagFrozen);
    let etag = reader.get(frozen, MINUTE_MS).header("etag").unwrap().to_owned();
    assert_eq!(reader.get_if(frozen, 2 * MINUTE_MS, Some(&etag), None).status, 304);

    let now = page_of(&reader, HostValidators::LastModifiedNow);
    let (first, second) = (reader.get(now, MINUTE_MS), reader.get(now, MINUTE_MS + 5_000));
    assert_ne!(first.header("last-modified"), second.header("last-modified"));
    assert_eq!(reader.get_if(now, MINUTE_MS, None, first.header("last-modified")).status, 200);

    let absent = reader.get(page_of(&reader, HostValidators::Absent), MINUTE_MS);
    assert_eq!((absent.header("etag"), absent.header("last-modified")), (None, None));
}

#[test]
fn a_small_edit_alters_a_small_part() {
    let mut reader =
        Reader::new(WorldConfig { page_shares: Default::default(), ..WorldConfig::wild() });
    for (edit, most_bytes) in [(Edit::Sentence, 250), (Edit::Paragraph, 900)] {
        let calm = |host: &Host| {
            host.edit == edit && host.noise.is_none() && host.trap.is_none() && host.fault.is_none()
        };
        let hosts = reader.hosts(calm);
        for page in pages(&hosts[..10], 50) {
            let (old, new) =
                (reader.get(page, 5 * MINUTE_MS).body, reader.get(page, 9 * MINUTE_MS).body);
            let same_before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let same_after =
                old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
            let altered = new.len().saturating_sub(same_before + same_after);
            assert!(altered <= most_bytes, "{edit:?} altered {altered} bytes of {}", new.len());
        }
    }
}

#[test]
fn noise_differs_at_every_look_and_is_no_change() {
    let mut reader = Reader::new(WorldConfig::wild());
    for kind in [Noise::Clock, Noise::Token, Noise::Session, Noise::Every] {
        let noisy = reader.hosts(|host| host.noise == Some(kind) && host.fault.is_none());
        let root = PageId::first(noisy[0], 0);
        assert_ne!(reader.get(root, MINUTE_MS).body, reader.get(root, MINUTE_MS).body, "{kind:?}");
        assert_eq!(reader.changes(root, MINUTE_MS, MINUTE_MS), 0);
    }
}

#[test]
fn blocks_take_turns_and_come_back() {
    let mut reader =
        Reader::new(WorldConfig { changes_per_day: 0.0, footer_days: 1e6, ..WorldConfig::noisy() });
    let hosts = reader.hosts(|host| host.noise == Some(Noise::Turns));
    let root = PageId::first(hosts[0], 0);
    let bodies: Vec<Vec<u8>> = (0..200).map(|_| reader.get(root, MINUTE_MS).body).collect();
    let distinct: std::collections::HashSet<&Vec<u8>> = bodies.iter().collect();
    assert_eq!(distinct.len(), 6 * 4, "every advertisement beside every list");
}

#[test]
fn a_footer_is_the_same_on_all_pages_and_written_anew_at_times() {
    let mut reader = Reader::new(WorldConfig::noisy());
    let footer = |reader: &mut Reader, slot: u32, at_ms: u64| {
        let body = reader.get(PageId::first(0, slot), at_ms).body;
        String::from_utf8_lossy(&body).split_once("<footer>").unwrap().1.to_owned()
    };
    let footers: Vec<String> = (0..70).map(|n| footer(&mut reader, n % 50, n.into())).collect();
    assert!(footers.windows(2).all(|two| two[0] == two[1]));
    let days = (0..70).map(|day| footer(&mut reader, 0, day * MINUTE_MS));
    let distinct: std::collections::HashSet<String> = days.collect();
    assert!((10..=11).contains(&distinct.len()), "{} footers in ten weeks", distinct.len());
}

#[test]
fn copies_have_the_same_bytes_or_all_but_one_word() {
    let mut config = WorldConfig { hosts: 40, ..WorldConfig::calm() };
    config.page_shares.duplicate = 0.1;
    config.page_shares.near_duplicate = 0.1;
    let mut reader = Reader::new(config);
    let mut by_body = std::collections::HashMap::<Vec<u8>, Vec<PageId>>::new();
    let mut by_rest = std::collections::HashMap::<Vec<u8>, Vec<PageId>>::new();
    for page in pages(&reader.hosts(|_| true), 50) {
        let body = reader.get(page, 0).body;
        let text = String::from_utf8(body.clone()).unwrap();
        let (before, after) = text.split_once("Filed under ").unwrap();
        let rest = format!("{before}{}", after.split_once('.').unwrap().1);
        by_body.entry(body).or_default().push(page);
        by_rest.entry(rest.into_bytes()).or_default().push(page);
    }
    let copies = |groups: &std::collections::HashMap<Vec<u8>, Vec<PageId>>| {
        groups.values().map(|group| group.len() - 1).sum::<usize>()
    };
    let (exact, any) = (copies(&by_body), copies(&by_rest));
    assert!(exact > 100 && any > exact + 80, "{exact} exact, {any} exact or near");
    let across = by_body
        .values()
        .filter(|group| group.iter().any(|page| page.host != group[0].host))
        .count();
    assert!(across > 10, "{across} groups across hosts");
}

#[test]
fn charsets_are_declared_as_the_host_does() {
    let mut reader =
        Reader::new(WorldConfig { page_shares: Default::default(), ..WorldConfig::wild() });
    for (charset, header, is_utf8) in [
        (Charset::Utf8, "text/html; charset=utf-8", true),
        (Charset::Latin1, "text/html; charset=iso-8859-1", false),
        (Charset::Latin1Meta, "text/html", false),
        (Charset::Undeclared, "text/html", true),
    ] {
        let host = reader.hosts(|host| host.charset == charset && host.fault.is_none())[0];
        let answer = reader.get(PageId::first(host, 0), 0);
        assert_eq!(answer.header("content-type"), Some(header));
        assert_eq!(std::str::from_utf8(&answer.body).is_ok(), is_utf8, "{charset:?}");
        let says_so =
            String::from_utf8_lossy(&answer.body).contains("<meta charset=\"iso-8859-1\">");
        assert_eq!(says_so, charset == Charset::Latin1Meta);
    }
}

#[test]
fn the_dead_and_the_unborn_are_not_served() {
    let mut config = WorldConfig::demo();
    config.page_shares.mortal = 1.0;
    let mut reader = Reader::new(config);
    let origin_ms = reader.world.config().origin_ms;
    let mut statuses = std::collections::BTreeSet::new();
    for page in pages(&[0, 1, 2], 30) {
        if let Some(deleted_ms) =
            reader.world.life(page).deleted_ms.filter(|&deleted_ms| deleted_ms > origin_ms)
        {
            let after_ms = deleted_ms - origin_ms;
            statuses.insert(reader.get(page, after_ms).status);
            assert!(!matches!(reader.get(page, after_ms - 1).status, 404 | 410), "{page:?}");
            let next = PageId { generation: 1, ..page };
            assert_eq!(reader.get(next, after_ms).status, 404);
        }
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [404, 410]);
}

#[test]
fn robots_txt_says_what_the_world_obeys() {
    let mut reader = Reader::new(WorldConfig::wild());
    for (robots, status) in [
        (HostRobots::Open, 200),
        (HostRobots::Disallow, 200),
        (HostRobots::Missing, 404),
        (HostRobots::Failing, 503),
    ] {
        let host = reader.hosts(|host| host.robots == robots && host.fault.is_none())[0];
        let answer = reader.get_path(host, "/robots.txt", 0, None, None);
        assert_eq!(answer.status, status);
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(text.contains("Disallow: /private/"), robots == HostRobots::Disallow);
    }
    let host = reader
        .hosts(|host| host.crawl_delay_s.is_some() && host.has_sitemap() && host.fault.is_none())
        [0];
    let text = String::from_utf8(reader.get_path(host, "/robots.txt", 0, None, None).body).unwrap();
    assert!(
        text.contains("Crawl-delay: 1\n")
            && text.contains(&format!("Sitemap: http://h{host}.test/sitemap.xml"))
    );
}

#[test]
fn the_feed_names_the_latest_changes_first() {
    let mut reader = Reader::new(WorldConfig::demo());
    let host = reader.hosts(|host| host.feed)[0];
    let feed =
        String::from_utf8(reader.get_path(host, "/feed.xml", 60 * MINUTE_MS, None, None).body)
            .unwrap();
    let now_ms = reader.world.config().origin_ms + 60 * MINUTE_MS;
    let links = feed
        .split("<item>")
        .skip(1)
        .map(|item| item.split("<link>").nth(1).unwrap().split('<').next().unwrap());
    let changes: Vec<u64> = links
        .map(|url| {
            reader.world.last_change(reader.world.find(&url.replace("&amp;", "&")).unwrap(), now_ms)
        })
        .collect();
    assert!(changes.len() == 15 && changes.is_sorted_by(|a, b| a >= b), "{changes:?}");
}

#[test]
fn absolute_urls_follow_the_port_of_the_request() {
    let world = World::new(WorldConfig::calm());
    let host = (0..20).find(|&id| world.host(id).absolute_links).unwrap();
    let authority = format!("h{host}.test:8088");
    let mut answer = WorldAnswer::new();
    world.answer(
        &WorldRequest { authority: &authority, target: "/", ..WorldRequest::default() },
        0,
        0,
        &mut answer,
    );
    assert!(
        String::from_utf8(answer.body).unwrap().contains(&format!("href=\"http://{authority}/"))
    );
}

#[test]
fn bench_pages_are_of_the_measured_size() {
    let mut reader = Reader::new(WorldConfig::bench());
    let sample = pages(&[0, 1], 200);
    let (mut bytes, mut anchors) = (0, 0);
    for &page in &sample {
        let body = String::from_utf8(reader.get(page, 0).body).unwrap();
        bytes += body.len();
        anchors += body.matches("<a ").count();
    }
    let (bytes, anchors) = (bytes / sample.len(), anchors / sample.len());
    assert!((31_000..35_000).contains(&bytes), "{bytes} bytes");
    assert_eq!(anchors, 78);
}

#[test]
fn the_last_page_of_a_huge_world_is_there_without_the_others() {
    let mut reader =
        Reader::new(WorldConfig { hosts: 1_000_000, pages: 100, ..WorldConfig::calm() });
    let page = PageId::first(999_999, 99);
    assert_eq!(reader.get(page, MINUTE_MS).status, 200);
    assert_eq!(reader.world.find(&reader.world.url(page)), Some(page));
}
