//! What do pages, servers and other users get to see, to say and to do? No secret, no word to the terminal,
//! no name of a file, no address of our own network.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::tools::records;
use crate::common::{Place, Ran, wait_until};
use rustix::process::Signal;

const PASSWORD: &str = "s3cr3t-w0rd";

/// Characters that do something to a terminal: of ASCII, of Latin-1, and one that turns the direction.
const EVIL: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\x7f\u{202e}gnp.exe\x08";

fn evil(request: &Request) -> Answer {
    let (_, path) = request.page.split_once('/').unwrap();
    match path {
        "robots.txt" => Answer::status("200 OK").body(&format!("User-agent: *\nDisallow: /no{EVIL}\n")),
        "moved" => Answer::status("302 Found").with(&format!("Location: /{EVIL}")),
        _ => Answer::page(format!(
            "<title>{EVIL}{}</title><meta name=description content='{EVIL}'>\
             <p>Some words {} {EVIL} of this page, and more of them for a text.</p>\
             <a href='/{EVIL}'>{EVIL}</a><a href=/moved>x</a><a href=/no>y</a><a href='/a?{EVIL}=1'>z</a>",
            request.earlier,
            ["red", "green", "blue"][request.earlier % 3],
        ))
        .with(&format!("X-Words: {}", EVIL.replace(['\x7f', '\x1b', '\x07', '\x08'], "")))
        .with("Content-Disposition: attachment; filename=\"../../../owned.sh\""),
    }
}

/// Nothing but text, lines and, where it is a progress line, what the crawler itself wrote.
#[track_caller]
fn assert_speaks_to_nobody(ran: &Ran) {
    let acts = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202a}'..='\u{202e}');
    for text in [&ran.out, &ran.err] {
        assert_eq!(text.chars().find(acts), None, "{text:?}");
    }
}

#[test]
fn pages_do_not_speak_to_the_terminal_and_name_no_file() {
    let (site, place) = (Site::serve(evil), Place::new());
    let flags =
        format!("--delay 5ms --recrawl 200ms -s schedule.min_interval=100ms {}", site.flags());
    let crawl = place.start(&format!("crawl http://a.test/ --scope any {flags}"));
    wait_until("three visits", || site.asked("a.test/").len() > 3);
    crawl.signal(Signal::INT);
    assert_speaks_to_nobody(&crawl.wait().expect(11));
    let page = "http://a.test/";
    for words in [
        "urls",
        "urls --json",
        "status",
        "status --json",
        "changes",
        "changes --all --json",
        "plan",
        "plan --json",
        "rank",
        "rank --json",
        "spam",
        "spam --json",
        "check --deep",
        "wishes",
    ] {
        assert_speaks_to_nobody(&place.run(words).expect(0));
    }
    for words in ["why", "why --json", "history", "history --json", "diff", "diff --json"] {
        assert_speaks_to_nobody(&place.run(&format!("{words} {page}")).expect(0));
    }
    for words in ["fetch", "fetch --json", "robots", "robots --json"] {
        assert_speaks_to_nobody(&place.run(&format!("{words} {page} {}", site.flags())).expect(0));
    }
    assert_speaks_to_nobody(&place.run(&format!("robots http://a.test/no {}", site.flags())));
    assert_speaks_to_nobody(&place.run(&format!("why http://{EVIL}/")));
    assert_speaks_to_nobody(&place.run(&format!("push ftp://x/{EVIL}")));
    assert!(place.urls().len() > 3, "the pages behind evil links are known");

    let mut files = Vec::new();
    files_below(place.path(), &mut files);
    let names =
        ["evercrawl", "remembered", "learned", "lock", "store", "seen", "state", "cache", "trend"];
    let ours = |name: &str| {
        let own = place.path().join(name);
        let inside = name.starts_with("data/") || name.starts_with("cache/");
        let talk = name.ends_with(".out") || name.ends_with(".err");
        own.exists() && (talk || inside && names.iter().any(|known| name.contains(known)))
    };
    let strange: Vec<_> = files.iter().filter(|name| !ours(name)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(files.iter().all(|name| !name.contains("owned") && name.is_ascii()), "{files:?}");
}

fn files_below(dir: &Path, files: &mut Vec<String>) {
    fn walk(root: &Path, dir: &Path, files: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                walk(root, &entry.path(), files);
            } else {
                files.push(entry.path().strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    walk(dir, dir, files);
}

#[test]
fn passwords_in_links_reach_nobody() {
    let site = Site::serve(|request| {
        assert!(!request.headers.iter().any(|line| line.starts_with("authorization")), "sent");
        let (host, path) = request.page.split_once('/').unwrap();
        match path {
            "robots.txt" => Answer::status("404 Not Found"),
            "moved" => Answer::status("301 Moved")
                .with(&format!("Location: http://user:{PASSWORD}@{host}/behind")),
            _ => Answer::page(format!(
                "<a href='http://user:{PASSWORD}@{host}/linked'>1</a><a href=/moved>2</a>\
                 <a href='ftp://user:{PASSWORD}@{host}/x'>3</a><a href='http://u:{PASSWORD}@[bad/'>4</a>"
            )),
        }
    });
    let place = Place::new();
    place.write("seeds.txt", &format!("http://user:{PASSWORD}@b.test/ tag=x\n"));
    let flags = format!("--delay 5ms --scope any {}", site.flags());
    let seeds = format!("http://me:{PASSWORD}@a.test/ --seeds seeds.txt");
    let ran = place.run(&format!("crawl --once {seeds} {flags}")).expect(0);
    let mut said = vec![ran];
    for words in ["urls --json", "status --json", "changes --json", "config show"] {
        said.push(place.run(words).expect(0));
    }
    // What cannot be used is named, but not with what nobody may see.
    for words in [
        format!("crawl http://me:{PASSWORD}@[bad/"),
        format!("add ftp://me:{PASSWORD}@a.test/"),
        format!("push http://me:{PASSWORD}@a.test:99999/ ftp://me:{PASSWORD}@a.test/"),
        format!("why http://me:{PASSWORD}@a.test/linked"),
        format!("history http://me:{PASSWORD}@a.test/never"),
        format!("fetch http://me:{PASSWORD}@nowhere.test/ --connect-to ::127.0.0.1:1"),
        format!("robots http://me:{PASSWORD}@a.test/ {}", site.flags()),
    ] {
        said.push(place.run(&words));
    }
    for ran in &said {
        assert!(!ran.out.contains(PASSWORD) && !ran.err.contains(PASSWORD), "{ran:?}");
    }
    let known = place.urls();
    let knows = |url: &str| known.iter().any(|page| page["url"] == url);
    for url in ["http://a.test/", "http://a.test/linked", "http://a.test/behind", "http://b.test/"]
    {
        assert!(knows(url), "{url} is not in {known:?}");
    }
    for scanned in place.archive_files(".warc.gz").iter().flat_map(|file| records(file)) {
        let record = &scanned.record;
        let uri = record.header("WARC-Target-URI").unwrap_or_default();
        assert!(!uri.contains(PASSWORD), "{uri}");
        if record.header("WARC-Type") == Some("request") {
            assert!(!String::from_utf8_lossy(record.block()).contains(PASSWORD), "{uri}");
        }
    }
    for index in place.archive_files(".cdxj") {
        assert!(!fs::read_to_string(index).unwrap().contains(PASSWORD));
    }
}

#[test]
fn secrets_do_not_come_by_the_command_line_and_are_not_shown() {
    let place = Place::new();
    for name in ["push.token", "push.secret"] {
        let words = format!("crawl http://a.test/ -s {name}={PASSWORD}");
        let ran =
            place.run(&words).expect(2).explains(&["other users can read command lines", name]);
        assert!(!ran.err.contains(PASSWORD), "{ran:?}");
    }
    fs::create_dir_all(place.data()).unwrap();
    fs::write(place.data().join("evercrawl.toml"), format!("[push]\ntoken = \"{PASSWORD}\"\n"))
        .unwrap();
    for words in ["config show", "config show --json"] {
        let ran = place.run(words).expect(0);
        assert!(ran.out.contains("(hidden)") && !ran.out.contains(PASSWORD), "{ran:?}");
    }
}

#[test]
fn private_networks_are_opened_by_name_and_never_all_at_once() {
    let (site, place) = (Site::serve(|_| Answer::page("<p>here")), Place::new());
    let port = site.address().port();
    place.run(&format!("fetch http://127.0.0.1:{port}/ --allow-private")).expect(0);
    place
        .run(&format!("fetch http://127.0.0.1:{port}/ --allow-private=10.0.0.0/8,127.0.0.1"))
        .expect(0);
    for flag in ["", "--allow-private=10.0.0.0/8", "--allow-private=127.0.0.2"] {
        let fetch = format!("fetch http://127.0.0.1:{port}/ {flag}");
        place.run(&fetch).expect(5).explains(&["127.0.0.1 is not a public address"]);
    }
    for url in
        ["http://10.0.0.1/", "http://169.254.169.254/", "http://[fe80::1]/", "http://192.168.0.1/"]
    {
        let fetch = format!("fetch {url} --allow-private");
        place.run(&fetch).expect(5).explains(&["is not a public address"]);
    }
    for bad in ["all", "lan", "10.0.0.0/99"] {
        let fetch = format!("fetch http://127.0.0.1:{port}/ --allow-private={bad}");
        place.run(&fetch).expect(3).explains(&[bad, "is not a network"]);
    }
}

#[test]
fn pushed_urls_lead_to_no_private_address() {
    let (site, place) = (Site::serve(|_| Answer::page("<p>here")), Place::new());
    let (at, port) = (site.address(), site.address().port());
    let flags = "--allow-private=127.0.0.1 --scope any --delay 5ms --quiet --contact a@example.org";
    let crawl = place.start(&format!("crawl http://{at}/ {flags}"));
    wait_until("the first page", || !site.asked(&format!("{at}/")).is_empty());
    let pushed = [format!("http://127.0.0.2:{port}/"), "http://0xa9fea9fe/x".to_owned()];
    place.run(&format!("push {}", pushed.join(" "))).expect(0);
    let refused = || place.run("urls --reason private_address --json").expect(0).json_lines();
    wait_until("both to be refused", || refused().len() == 2);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
}

/// A name server: `moves.test` is another address each time, `inside.test` a private one, `both.test` a
/// private one beside one that is allowed.
fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut question, mut turn) = ([0; 512], 0);
        while let Ok((size, peer)) = socket.recv_from(&mut question) {
            let end = 12 + question[12..size].iter().position(|&byte| byte == 0).unwrap() + 5;
            let wants_v4 = question[end - 4..end - 2] == [0, 1];
            let ips: &[[u8; 4]] = match &question[13..16] {
                _ if !wants_v4 => &[],
                b"mov" if turn == 0 => &[[127, 0, 0, 1]],
                b"mov" => &[[127, 0, 0, 2]],
                b"bot" => &[[10, 0, 0, 1], [127, 0, 0, 1]],
                _ => &[[10, 0, 0, 1]],
            };
            turn += usize::from(wants_v4 && &question[13..16] == b"mov");
            let mut answer = question[..end].to_vec();
            let count = u8::try_from(ips.len()).unwrap();
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0]);
            for ip in ips {
                answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                answer.extend_from_slice(ip);
            }
            let _ = socket.send_to(&answer, peer);
        }
    });
    address
}

#[test]
fn names_that_lead_inside_or_change_their_mind_are_not_followed_there() {
    let site = Site::serve(|request| match request.page.split_once('/').unwrap().1 {
        "robots.txt" => Answer::status("404 Not Found"),
        _ => Answer::page("<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>")
            .with("Connection: close"),
    });
    let (place, port) = (Place::new(), site.address().port());
    // Whoever comes to the second address is caught.
    let trap = std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
    trap.set_nonblocking(true).unwrap();
    let flags = format!(
        "--allow-private=127.0.0.1 --delay 5ms --contact a@example.org -s fetch.dns={}",
        name_server()
    );
    let seeds = ["moves", "inside", "both"].map(|name| format!("http://{name}.test:{port}/"));
    place.run(&format!("crawl --once {} {flags}", seeds.join(" ")));
    let asked = |name: &str| site.asked(&format!("{name}.test:{port}/")).len();
    assert_eq!((asked("moves"), asked("both"), asked("inside")), (1, 1, 0));
    assert!(trap.accept().is_err(), "somebody came to an address that was not allowed");
    let refused = place.run("urls --reason private_address --json").expect(0).json_lines();
    assert!(refused.iter().any(|page| page["url"] == seeds[1].as_str()), "{refused:?}");
    place.run("check --deep").expect(0);
}

#[test]
fn whoever_crowds_the_control_socket_is_sent_away_and_the_crawl_goes_on() {
    let (site, place) = (Site::serve(|_| Answer::page("<p>here")), Place::new());
    let crawl = place.start(&format!("crawl http://a.test/ --delay 5ms --quiet {}", site.flags()));
    wait_until("the first page", || !site.asked("a.test/").is_empty());
    let socket = place.data().join("control.sock");
    // All places are taken by callers who say nothing.
    let silent: Vec<UnixStream> = (0..16).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let mut heard = String::new();
    wait_until("the seventeenth to be sent away", || {
        let mut one_more = UnixStream::connect(&socket).unwrap();
        one_more.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        heard.clear();
        let _ = one_more.read_to_string(&mut heard);
        heard.contains("too many verbs at once")
    });
    drop(silent);
    // A question without end is not taken whole.
    let mut long = UnixStream::connect(&socket).unwrap();
    let _ = long.write_all(&vec![b'x'; 2 << 20]);
    let mut answer = Vec::new();
    let _ = long.read_to_end(&mut answer);
    // Not before one of the sixteen is known to have left.
    wait_until("garbage to be refused", || {
        let mut garbage = UnixStream::connect(&socket).unwrap();
        let _ = garbage.write_all(b"{\"not\": \"words\"}\n");
        let mut answer = Vec::new();
        let _ = garbage.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).contains("does not understand")
    });
    wait_until("verbs to be answered", || place.run("urls").code == Some(0));
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
}
