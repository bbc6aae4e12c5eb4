//! Kumagai and Yamana (2004), finding changed pages by the link structure of their server: every table
//! and figure, on recorded sites.

mod cho;
mod collect;
mod compare;
mod example;
mod measure;
mod survey;

use super::ReportDocument;
use super::trace::SiteTrace;

/// Measures the paper again on `traces`; tells `progress` what was done.
pub fn s0(traces: &[SiteTrace], progress: &(dyn Fn(&str) + Sync)) -> ReportDocument {
    let mut document = ReportDocument::new(
        "s0",
        "S0: changed pages, found by the links of their server",
        "Kumagai and Yamana, DEWS 2004, watched 17 613 Japanese servers (1.65 million pages) weekly for \
         half a year and proposed to look at top pages first. Here every table and figure is measured \
         again, on the recorded year of sites whose links are known.",
    );
    let measured = measure::measure(traces, progress);
    survey::write(&mut document, traces, &measured);
    example::write(&mut document);
    compare::write(&mut document, traces, &measured);
    cho::write(&mut document, &measured);
    document
}
