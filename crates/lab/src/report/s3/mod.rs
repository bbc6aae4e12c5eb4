//! Meng, Wang and Yan (2006), "Web evolution and incremental crawling": the survey's formulas, by
//! simulation.

mod classes;
mod division;
mod epochs;
mod estimators;
mod orders;
mod sampling;
mod systems;

use super::{Effort, ReportDocument};

/// Measures the survey again: no recorded sites are needed.
pub fn s3(effort: Effort) -> ReportDocument {
    let mut document = ReportDocument::new(
        "s3",
        "S3: the mathematics of incremental crawling",
        "Meng, Wang and Yan, Journal of Software 17(5), 2006, survey how pages change and when to fetch \
         them. Every formula here is computed by the code that crawls and checked by simulation.",
    );
    orders::write(&mut document, effort);
    estimators::write(&mut document, effort);
    classes::write(&mut document, effort);
    sampling::write(&mut document, effort);
    division::write(&mut document, effort);
    epochs::write(&mut document);
    systems::write(&mut document, effort);
    document
}
