//! Do rows become the right operations, and operations the right requests?

use evercrawl_query::{At, Code, LifeChangeView, LogPage};

use super::*;

fn visit(change: Change, outcome: Outcome) -> VisitView {
    VisitView {
        time: At(evercrawl_model::Time::from_secs(1_794_780_950)),
        outcome: Code(outcome),
        cause: None,
        status: Some(200),
        change: Code(change),
        score: 1.0,
        in_doubt: false,
        digest: None,
        bytes: 10,
        ms: 1,
        near: None,
        warc: None,
        offset: None,
        length: None,
        url: None,
    }
}

fn row(visit: Option<VisitView>, life: Option<(LifeState, LifeState)>) -> LogRow {
    let life = life.map(|(from, to)| LifeChangeView {
        from: Code(from),
        to: Code(to),
        reason: String::new(),
    });
    let page = LogPage {
        url: "http://a.org/".to_owned(),
        kind: Some(Code(PageKind::Page)),
        ..LogPage::default()
    };
    let time = At(evercrawl_model::Time::EPOCH);
    LogRow { number: 7, time, page, visit, life, held: None }
}

#[test]
fn rows_put_or_delete_documents() {
    use LifeState::{Failing, Gone, Live, Moved, New, Refused, SoftGone};
    let news = visit(Change::New, Outcome::Ok);
    for (row, want) in [
        (row(Some(news.clone()), Some((New, Live))), "put"),
        (row(Some(visit(Change::Near, Outcome::Ok)), None), "put"),
        (row(Some(visit(Change::Same, Outcome::Ok)), None), "nothing"),
        (row(Some(visit(Change::Same, Outcome::NotModified)), None), "nothing"),
        (row(Some(visit(Change::New, Outcome::Redirect)), Some((New, Live))), "nothing"),
        (row(Some(visit(Change::Failed, Outcome::ServerError)), Some((Live, Failing))), "nothing"),
        (row(Some(visit(Change::Gone, Outcome::ClientError)), Some((Live, Gone))), "delete gone"),
        (
            row(Some(visit(Change::Changed, Outcome::SoftGone)), Some((Live, SoftGone))),
            "delete soft_404",
        ),
        (row(Some(visit(Change::Gone, Outcome::Redirect)), Some((Live, Moved))), "delete moved"),
        (row(None, Some((Live, Refused))), "delete refused"),
        (row(Some(visit(Change::Gone, Outcome::ClientError)), Some((New, Gone))), "nothing"),
        (LogRow { held: Some(news), ..row(None, Some((Refused, Live))) }, "put"),
    ] {
        let got = match (visit_to_put(&row), delete(&row)) {
            (Some(_), None) => "put".to_owned(),
            (None, Some(Operation::Delete { reason, .. })) => format!("delete {reason}"),
            (None, None) => "nothing".to_owned(),
            both => format!("{both:?}"),
        };
        assert_eq!(got, want, "{row:?}");
    }
    let mut feed = row(Some(visit(Change::New, Outcome::Ok)), None);
    feed.page.kind = Some(Code(PageKind::Feed));
    assert!(visit_to_put(&feed).is_none(), "feeds are no documents");
}

fn put(seq: u64, id: &str) -> Operation {
    let page = PageText::default();
    let row = LogRow { number: seq, ..row(Some(visit(Change::New, Outcome::Ok)), None) };
    let document = Documents::default().document(&row, row.visit.as_ref().unwrap(), page);
    Operation::Put(Box::new(Document { id: id.to_owned(), ..document }))
}

fn gone(seq: u64, id: &str) -> Operation {
    Operation::Delete { seq, id: id.to_owned(), url: String::new(), reason: "gone".to_owned() }
}

fn bodies(form: DocumentForm, operations: &[Operation]) -> Vec<(String, String)> {
    let batches = form.batches(operations).into_iter();
    let shown = batches.map(|batch| {
        (format!("{} {}", batch.method, batch.path), String::from_utf8(batch.body).unwrap())
    });
    shown.collect()
}

#[test]
fn every_index_is_told_in_its_own_form() {
    let operations = [put(1, "a"), put(2, "b"), gone(3, "a"), gone(4, "c")];
    let bulk = bodies(DocumentForm::OpenSearch, &operations);
    assert_eq!(bulk[0].0, "POST /_bulk");
    let lines: Vec<&str> = bulk[0].1.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], r#"{"index":{"_id":"b","version":2,"version_type":"external_gte"}}"#);
    assert_eq!(lines[2], r#"{"delete":{"_id":"a","version":3,"version_type":"external_gte"}}"#);
    let meilisearch = bodies(DocumentForm::Meilisearch, &operations);
    assert_eq!(meilisearch[0].0, "POST /documents?primaryKey=id");
    assert_eq!(
        meilisearch[1],
        ("POST /documents/delete-batch".to_owned(), r#"["a","c"]"#.to_owned())
    );
    let typesense = bodies(DocumentForm::Typesense, &operations);
    assert_eq!(typesense[0].0, "POST /documents/import?action=upsert");
    assert_eq!(typesense[1].0, "DELETE /documents?filter_by=id:[a,c]");
    assert_eq!(bodies(DocumentForm::Typesense, &operations[..1]).len(), 1, "nothing to delete");
    let quickwit = bodies(DocumentForm::Quickwit, &operations);
    assert!(quickwit[0].1.lines().count() == 3 && quickwit[0].1.contains(r#""op":"delete""#));
    assert_eq!(bodies(DocumentForm::Meilisearch, &[gone(1, "a")]).len(), 1);
}

#[test]
fn answers_say_what_was_taken() {
    use DocumentForm::{Meilisearch, OpenSearch, Quickwit, Typesense};
    let bulk = |status: u16| {
        format!(r#"{{"errors":true,"items":[{{"index":{{"_id":"a","status":{status}}}}}]}}"#)
    };
    for (form, status, body, want) in [
        (OpenSearch, 200, bulk(201), "taken"),
        (OpenSearch, 200, bulk(409), "taken"),
        (OpenSearch, 200, bulk(404), "taken"),
        (OpenSearch, 200, bulk(429), "busy"),
        (OpenSearch, 200, bulk(400), "wrong"),
        (OpenSearch, 200, "<html>".to_owned(), "wrong"),
        (OpenSearch, 503, String::new(), "busy"),
        (OpenSearch, 401, String::new(), "wrong"),
        (Meilisearch, 202, r#"{"taskUid":1}"#.to_owned(), "taken"),
        (
            Typesense,
            200,
            "{\"success\":true}\n{\"success\":false,\"error\":\"x\"}".to_owned(),
            "wrong",
        ),
        (Typesense, 200, "{\"num_deleted\":2}".to_owned(), "taken"),
        (Quickwit, 200, r#"{"num_docs_for_processing":3}"#.to_owned(), "taken"),
        (Quickwit, 200, r#"{"num_rejected_docs":1}"#.to_owned(), "wrong"),
    ] {
        let got = match form.check(status, body.as_bytes()) {
            Ok(()) => "taken",
            Err(Refused::Busy(_)) => "busy",
            Err(Refused::Wrong(_)) => "wrong",
        };
        assert_eq!(got, want, "{form:?} {status} {body}");
    }
}

#[test]
fn documents_are_known_by_32_digits_of_their_url() {
    let id = document_id("http://a.org/");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_ne!(id, document_id("https://a.org/"));
    assert_eq!(domain_of("http://www.a.co.uk/x"), "a.co.uk");
}
