//! Every oddity of servers that is known: what comes out, and is it byte for byte what went in?
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests, helpers included")]

use crate::support::{client, config, fetch, fetch_err, fetch_ok, request, serve, serve_once};
use evercrawl_fetch::{Failure, Protocol, Request, RequestValidators, Truncation};
use tokio::io::AsyncWriteExt;

struct Quirk {
    name: &'static str,
    head: &'static str,
    rest: &'static str,
    status: u16,
    body: &'static str,
}

const fn quirk(
    name: &'static str,
    head: &'static str,
    rest: &'static str,
    status: u16,
    body: &'static str,
) -> Quirk {
    Quirk { name, head, rest, status, body }
}

const QUIRKS: &[Quirk] = &[
    quirk("plain", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk(
        "odd case and spaces",
        "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:    4   \r\nX-ODD:y\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk(
        "folded lines",
        "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length: 4\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk(
        "junk line",
        "HTTP/1.1 200 OK\r\nthis is junk\r\nContent-Length: 4\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk(
        "junk name",
        "HTTP/1.1 200 OK\r\nb@d n@me: x\r\nContent-Length: 4\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk(
        "space before colon",
        "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk("line feeds only", "HTTP/1.1 200 OK\nContent-Length: 4\n\n", "body", 200, "body"),
    quirk("mixed line ends", "HTTP/1.1 200 OK\r\nContent-Length: 4\n\r\n", "body", 200, "body"),
    quirk("no reason", "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk("odd reason", "HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk("status 999", "HTTP/1.1 999 No\r\nContent-Length: 4\r\n\r\n", "body", 999, "body"),
    quirk(
        "same length twice",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n",
        "body",
        200,
        "body",
    ),
    quirk("until close", "HTTP/1.1 200 OK\r\n\r\n", "body", 200, "body"),
    quirk("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk("HTTP/1.0 until close", "HTTP/1.0 200 OK\r\n\r\n", "body", 200, "body"),
    quirk(
        "HTTP/1.0 in chunks",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "4\r\nbody\r\n0\r\n\r\n",
        200,
        "body",
    ),
    quirk("HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk("no content", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, ""),
    quirk(
        "not modified with a length",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: \"x\"\r\n\r\n",
        "",
        304,
        "",
    ),
    quirk(
        "chunks",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        200,
        "body",
    ),
    quirk(
        "chunk extensions and trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n",
        "4;a=b\r\nbody\r\n0\r\nX: y\r\n\r\n",
        200,
        "body",
    ),
    quirk(
        "chunks and a length",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n",
        "4\r\nbody\r\n0\r\n\r\n",
        200,
        "body",
    ),
    quirk(
        "coded, then chunks",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "4\r\nbody\r\n0\r\n\r\n",
        200,
        "body",
    ),
    quirk(
        "more than promised",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
        "bodyand more",
        200,
        "body",
    ),
    quirk("empty value", "HTTP/1.1 200 OK\r\nX:\r\nContent-Length: 4\r\n\r\n", "body", 200, "body"),
    quirk(
        "body that looks like a head",
        "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n!",
        200,
        "HTTP/1.1 200 OK\r\n\r\n!",
    ),
    quirk(
        "redirect without body",
        "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
        "",
        302,
        "",
    ),
    quirk(
        "switching protocols unasked",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "",
        101,
        "",
    ),
];

#[tokio::test]
async fn heads_are_kept_byte_for_byte_and_bodies_freed_of_their_framing() {
    for Quirk { name, head, rest, status, body } in QUIRKS {
        let response = fetch_ok(format!("{head}{rest}")).await;
        assert_eq!(response.head, head.as_bytes(), "{name}");
        assert_eq!(response.status, *status, "{name}");
        assert_eq!(response.body, body.as_bytes(), "{name}");
        assert_eq!(response.truncated, None, "{name}");
        assert_eq!(
            response.chunked,
            rest.ends_with("0\r\n\r\n") || rest.ends_with("y\r\n\r\n"),
            "{name}"
        );
        let protocol =
            if head.starts_with("HTTP/1.0") { Protocol::Http10 } else { Protocol::Http11 };
        assert_eq!(response.protocol, protocol, "{name}");
    }
}

#[tokio::test]
async fn heads_that_come_in_drops_are_the_same() {
    for Quirk { name, head, rest, body, .. } in QUIRKS {
        let address = serve(move |mut peer, _| async move {
            crate::support::read_head(&mut peer).await;
            for byte in format!("{head}{rest}").bytes() {
                peer.write_all(&[byte]).await.unwrap_or_default();
                tokio::task::yield_now().await;
            }
        });
        let response = fetch(address.await).await.result.unwrap();
        assert_eq!(response.head, head.as_bytes(), "{name}");
        assert_eq!(response.body, body.as_bytes(), "{name}");
    }
}

#[tokio::test]
async fn values_are_parsed_as_far_as_they_can_be() {
    let response =
        fetch_ok(b"HTTP/1.1 200 OK\r\nX: caf\xe9\r\nF: a\r\n b\r\nN : v\r\n\r\n".to_vec()).await;
    assert_eq!(response.headers["x"].as_bytes(), b"caf\xe9");
    assert_eq!(response.headers["f"], "a b");
    assert_eq!(response.headers["n"], "v");
}

#[tokio::test]
async fn interim_heads_are_kept_apart() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    let response = fetch_ok(format!("{interim}{head}body")).await;
    assert_eq!(response.interim, interim);
    assert_eq!(response.head, head);
    assert_eq!(response.body, "body");
}

#[tokio::test]
async fn blank_lines_before_the_status_line_are_skipped() {
    let response = fetch_ok("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody").await;
    assert_eq!(response.head, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

#[tokio::test]
async fn what_is_another_protocol_is_no_page() {
    for (bytes, shown) in [
        (&b"<html>\r\n\r\nHello</html>"[..], "<html>\\r\\n"),
        (b"ICY 200 OK\r\nicy-name: x\r\n\r\nnoise", "ICY 200 OK\\r\\n"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "SSH-2.0-OpenSSH_9.9\\r"),
        (b"220 mail.example ESMTP\r\n", "220 mail.example ESM"),
        (b"\x15\x03\x01\0\x02\x02\x46", "\\x15\\x03\\x01\\x00\\x02\\x02F"),
        (b"\r\n\r\nhttp/1.1 200 OK\r\n\r\nbody", "http/1.1 200 OK\\r\\n"),
        (b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80", "\\x00\\x00\\x12\\x04"),
        (b"HTTPS/1.1 200 OK\r\n\r\nbody", "HTTPS/1.1 200 OK\\r\\n"),
    ] {
        let failure = fetch_err(bytes.to_vec()).await;
        assert!(
            matches!(&failure, Failure::NotHttp(start) if start.starts_with(shown)),
            "{failure:?} instead of {shown}"
        );
        assert_eq!(failure.code(), "not_http");
    }
}

#[tokio::test]
async fn another_protocol_is_told_though_its_server_waits() {
    let address = serve(|mut peer, _| async move {
        peer.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").await.unwrap();
        crate::support::stall(peer).await;
    });
    let failure = fetch(address.await).await.result.unwrap_err();
    assert!(matches!(failure, Failure::NotHttp(_)), "{failure:?}");
}

#[tokio::test]
async fn a_head_that_breaks_the_rules_is_a_failure_of_protocol() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!",
        "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nbody",
        "HTTP/1.10 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1200 OK\r\nContent-Length: 4\r\n\r\nbody",
        // A zero byte is passed over in no field: browsers refuse it, too.
        "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 4\r\n\r\nbody",
    ] {
        let failure = fetch_err(text).await;
        assert!(matches!(failure, Failure::Protocol(_)), "{text:?}: {failure:?}");
        assert_eq!(failure.code(), "bad_head");
    }
    for status in ["2000", "20", "abc", "000", " 200", "-1"] {
        let failure =
            fetch_err(format!("HTTP/1.1 {status} OK\r\nContent-Length: 4\r\n\r\nbody")).await;
        assert_eq!(failure.code(), "bad_status", "{status}");
    }
    for version in ["3.7", "2", "2.0", "0.9", "1"] {
        let failure =
            fetch_err(format!("HTTP/{version} 200 OK\r\nContent-Length: 4\r\n\r\nbody")).await;
        assert_eq!(failure.code(), "not_http", "{version}");
    }
}

#[tokio::test]
async fn bodies_that_break_are_kept_as_far_as_they_came() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (head, rest, body, why) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "body", "body", Truncation::Disconnect),
        (chunked, "4\r\nbody\r\n", "body", Truncation::Disconnect),
        (chunked, "9\r\nbody", "body", Truncation::Disconnect),
        (chunked, "4\r\nbody\r\nzz\r\nx", "body", Truncation::Chunk),
        (chunked, "4\r\nbodyzz\r\n0\r\n\r\n", "body", Truncation::Chunk),
        (chunked, "4\r\nbody\r\n-1\r\n", "body", Truncation::Chunk),
        (chunked, "4\r\nbody\r\n 0\r\n\r\n", "body", Truncation::Chunk),
        (chunked, "not a chunk", "", Truncation::Chunk),
        (chunked, "fffffffffffffffff\r\nx", "", Truncation::Chunk),
        (chunked, "", "", Truncation::Disconnect),
    ] {
        let response = fetch_ok(format!("{head}{rest}")).await;
        assert_eq!(response.body, body, "{rest:?}");
        assert_eq!(response.truncated, Some(why), "{rest:?}");
        assert!(!why.is_our_cap());
    }
}

#[tokio::test]
async fn the_request_is_recorded_as_the_server_saw_it() {
    let (tell, heard) = std::sync::mpsc::channel();
    let address = serve(move |mut peer, _| {
        let tell = tell.clone();
        async move {
            let head = crate::support::read_head(&mut peer).await;
            tell.send(head).unwrap();
            peer.write_all(b"HTTP/1.1 304 Not Modified\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let etag = Some("\"v1\"".to_owned());
    let last_modified = Some("Sun, 15 Nov 2026 22:15:50 GMT".to_owned());
    let request = request(address).with_validators(RequestValidators { etag, last_modified });
    let request = request.with_header("x-extra".parse().unwrap(), "1".parse().unwrap());
    let fetched = client().fetch(&request).await;
    let wanted = format!(
        "GET /page?x=1 HTTP/1.1\r\nHost: {address}\r\n\
         User-Agent: evercrawl/0.1 (+https://example.org/bot)\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Encoding: gzip, deflate, br, zstd\r\nIf-None-Match: \"v1\"\r\n\
         If-Modified-Since: Sun, 15 Nov 2026 22:15:50 GMT\r\nX-Extra: 1\r\n\r\n"
    );
    assert_eq!(fetched.request_bytes, wanted);
    assert_eq!(fetched.request_bytes, heard.recv().unwrap());
    assert_eq!(fetched.ip, Some(address.ip()));
    assert_eq!(fetched.bytes_on_wire, 29);
    assert_eq!(fetched.result.unwrap().status, 304);
    let times = fetched.times;
    assert!(times.connect > times.dns && times.total >= times.connect + times.first_byte);
    assert!(!times.first_byte.is_zero() && times.tls.is_zero());
}

#[tokio::test]
async fn many_header_fields_are_fine_but_not_any_number() {
    let head = |count: usize| {
        let fields: String = (0..count).map(|i| format!("X-{i}: {i}\r\n")).collect();
        format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n")
    };
    assert_eq!(fetch_ok(head(499)).await.headers.len(), 500);
    assert_eq!(fetch_err(head(500)).await, Failure::HeadTooLarge);
}

#[tokio::test]
async fn heads_have_a_cap() {
    let head = |bytes: usize| {
        format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(bytes))
    };
    assert_eq!(fetch_ok(head(200_000)).await.head.len(), head(200_000).len());
    for bytes in [256 * 1024, 450_000, 3_000_000] {
        assert_eq!(fetch_err(head(bytes)).await, Failure::HeadTooLarge, "{bytes}");
    }
    let mut small = config();
    small.limits.head_bytes = 100;
    let client = evercrawl_fetch::Client::new(small).unwrap();
    let address = serve_once(head(100)).await;
    let failure = client.fetch(&request(address)).await.result.unwrap_err();
    assert_eq!(failure, Failure::HeadTooLarge);
}

/// Answers that are whole, each with `body` for a body.
const WHOLE: [&str; 6] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.0 200 OK\r\nX: y\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\nT: 1\r\n\r\n",
    "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0004\r\nbody\r\n0\r\n\r\n",
    "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nbody",
];

#[tokio::test]
async fn an_answer_that_ends_early_is_never_taken_for_whole() {
    for whole in WHOLE {
        let final_head = whole.rfind("HTTP/1.").unwrap();
        let blank = ["\r\n\r\n", "\n\n"]
            .iter()
            .filter_map(|blank| whole[final_head..].find(blank).map(|at| at + blank.len()));
        let head = final_head + blank.min().unwrap();
        for end in 0..=whole.len() {
            let part = &whole[..end];
            match fetch(serve_once(part).await).await.result {
                Err(failure) => {
                    assert_eq!(failure, Failure::Disconnected, "{part:?}");
                    assert!(end < head, "{part:?} has a head");
                }
                Ok(response) => {
                    assert!(end >= head, "{part:?} has no head");
                    let is_whole = response.truncated.is_none();
                    assert_eq!(is_whole, end == whole.len(), "{part:?}");
                    assert!(b"body".starts_with(&response.body.whole()), "{part:?}");
                    assert_eq!(response.body.len() == 4, is_whole || response.body == "body");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_has_no_end_of_its_own_ends_with_the_connection() {
    for head in [
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: x-unknown\r\nContent-Length: 2\r\n\r\n",
    ] {
        let response = fetch_ok(format!("{head}body")).await;
        assert_eq!((response.body == "body", response.truncated), (true, None), "{head:?}");
    }
}

#[tokio::test]
async fn odd_fields_are_passed_over_and_the_others_kept() {
    for odd in [": no name\r\n", "Content-Length : 4\r\n", "Set-Cookie\r\n", "X: \x01\x7f\r\n"] {
        let response =
            fetch_ok(format!("HTTP/1.1 200 OK\r\n{odd}ETag: x\r\nContent-Length: 4\r\n\r\nbody"));
        let response = response.await;
        assert_eq!((response.header("etag"), response.truncated), (Some("x"), None), "{odd:?}");
        assert_eq!(response.body, "body", "{odd:?}");
    }
}

#[tokio::test]
async fn answers_without_a_body_have_none_whatever_they_say() {
    for head in [
        "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let response = fetch_ok(format!("{head}body")).await;
        assert_eq!((response.body.len(), response.truncated), (0, None), "{head:?}");
    }
}

#[tokio::test]
async fn codings_on_several_lines_are_one_list() {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: br, zstd\r\n\r\n";
    assert_eq!(fetch_ok(head).await.content_codings(), "gzip,br, zstd");
    assert_eq!(fetch_ok("HTTP/1.1 200 OK\r\n\r\n").await.content_codings(), "");
}

#[tokio::test]
async fn endless_interim_heads_end() {
    let address = serve(|mut peer, _| async move {
        crate::support::read_head(&mut peer).await;
        while peer.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").await.is_ok() {}
    });
    assert_eq!(fetch(address.await).await.result.unwrap_err(), Failure::HeadTooLarge);
}

#[tokio::test]
async fn a_large_body_comes_through_whole() {
    let body: Vec<u8> = (0..3_000_000u32).flat_map(u32::to_le_bytes).collect();
    let mut plain =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    plain.extend_from_slice(&body);
    assert!(fetch_ok(plain).await.body == body);
    let mut chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in body.chunks(100_003) {
        chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let wire = chunked.len() as u64;
    let fetched = fetch(serve_once(chunked).await).await;
    assert_eq!(fetched.bytes_on_wire, wire);
    assert!(fetched.result.unwrap().body == body);
}

#[tokio::test]
async fn redirects_are_followed_only_on_request_and_only_so_far() {
    let address = serve(|peer, _| async move {
        crate::support::keep_answering(
            peer,
            b"HTTP/1.1 302 Found\r\nLocation: next\r\nContent-Length: 0\r\n\r\n",
        )
        .await;
    })
    .await;
    let client = client();
    let first = Request::new(&format!("http://{address}/a/b")).unwrap();
    assert_eq!(client.fetch(&first).await.result.unwrap().status, 302);
    let hops = client.fetch_following(&first, 5).await;
    let urls: Vec<&str> = hops.iter().map(|hop| hop.url.path()).collect();
    assert_eq!(urls, ["/a/b", "/a/next", "/a/next", "/a/next", "/a/next", "/a/next"]);
    assert!(hops.iter().all(|hop| hop.fetched.result.as_ref().unwrap().status == 302));
}
