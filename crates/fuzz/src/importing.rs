//! What must hold of the readers of other tools' files?

use evercrawl_import::{Kind, kind_of, scan_bytes};
use evercrawl_model::Time;
use evercrawl_urls::CanonicalSteps;

/// Every reader of lists and logs, whatever the content looks like.
pub(crate) fn import_list(bytes: &[u8]) {
    let now = Time::from_secs(2_000_000_000);
    let packages = [Kind::Warc, Kind::Wacz, Kind::Zip, Kind::Changedetection];
    for kind in Kind::ALL.into_iter().filter(|kind| !packages.contains(kind)) {
        let report = scan_bytes(bytes, kind, CanonicalSteps::default(), now);
        let found = report.seeds + report.visits + report.not_taken();
        assert!(found <= 2 * bytes.len() as u64 + 2, "{kind:?}: more is found than there can be");
        assert_eq!(report.visits == 0, report.from.is_none());
    }
    let _ = kind_of(bytes);
}

/// Every reader of archives and packages.
pub(crate) fn import_archive(bytes: &[u8]) {
    let now = Time::from_secs(2_000_000_000);
    for kind in [Kind::Warc, Kind::Wacz, Kind::Changedetection] {
        let report = scan_bytes(bytes, kind, CanonicalSteps::default(), now);
        assert!(report.named.len() <= 1000);
        assert!(report.until.is_none_or(|until| until <= now.rfc3339()));
    }
}
