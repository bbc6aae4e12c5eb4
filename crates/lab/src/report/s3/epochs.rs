//! Eq. 24: how does WebFountain plan its epochs?

use evercrawl_policy::allocate::epochs::{ChangeRateBucket, EpochPlan, Epochs};

use crate::page::{Cell, ReportTable, cell};
use crate::report::ReportDocument;

const EPOCHS: usize = 4;

pub(super) fn write(document: &mut ReportDocument) {
    document.section("Eq. 24: WebFountain's epochs");
    document.paragraph(
        "600 pages in three classes, of which 60, 30 and 10 % change in an epoch; 10 new pages wait and 20 \
         more come in each; a budget of 200, a new page costs twice an old one. The plan makes stale and \
         waiting pages fewest, summed over four epochs. The survey names the model's constraints without \
         giving them: they are our reconstruction.",
    );
    let model = model(Vec::new());
    let best = model.plan();
    document.table(plan_table(&best));
    let flat = even_plan(&model);
    let emphases = [
        ("all epochs alike", vec![1.0; EPOCHS]),
        ("rising 1, 2, 3, 4", vec![1.0, 2.0, 3.0, 4.0]),
        ("falling 4, 3, 2, 1", vec![4.0, 3.0, 2.0, 1.0]),
        ("the last one tenfold", vec![1.0, 1.0, 1.0, 10.0]),
    ];
    let mut table = ReportTable::new(
        "epochs",
        "Stale pages at the end of each epoch, and stale and waiting pages summed over all, by what each \
         epoch counts in the plan.",
        &[
            "weights of epochs",
            "epoch 1",
            "epoch 2",
            "epoch 3",
            "epoch 4",
            "sum with waiting pages",
        ],
    );
    let mut row = |name: &str, plan: &EpochPlan| {
        let stale = model.stale(plan);
        let cells = stale.iter().map(|stale| cell(*stale, 1));
        table.row([Cell::from(name)].into_iter().chain(cells).chain([cell(model.cost(plan), 1)]));
        stale[EPOCHS - 1]
    };
    let even = row("no plan: every class alike", &flat);
    let ends: Vec<f64> = emphases
        .into_iter()
        .map(|(name, weights)| row(name, &self::model(weights).plan()))
        .collect();
    document.table(table);
    document.beside(
        "For good freshness the last epoch's weight should be the largest, those before it ever smaller; \
         solved by a general solver for a few choices of weights (section 2.1).",
        format!(
            "At the end {even:.0} pages are stale without a plan, {:.0} with equal weights, {:.0} with rising \
             and {:.0} with falling ones.",
            ends[0], ends[1], ends[2],
        ),
        "They agree, and must: what is fresh at the end of the plan is what the last weights buy, so it is \
         a matter of where one looks; over all epochs equal weights are best by definition.",
    );
}

fn model(emphasis: Vec<f64>) -> Epochs {
    let bucket = |size, change| ChangeRateBucket { size, change, stale: 50.0, weight: 1.0 };
    Epochs {
        buckets: vec![bucket(100.0, 0.6), bucket(200.0, 0.3), bucket(300.0, 0.1)],
        waiting: 10.0,
        arriving: vec![20.0; EPOCHS],
        capacity: vec![200.0; EPOCHS],
        cost_old: 1.0,
        cost_new: 2.0,
        weight_new: 1.0,
        emphasis,
    }
}

/// All new pages as they come, and the same share of every class.
fn even_plan(model: &Epochs) -> EpochPlan {
    let new: Vec<f64> = (0..EPOCHS)
        .map(|epoch| model.arriving[epoch] + if epoch == 0 { model.waiting } else { 0.0 })
        .collect();
    let total: f64 = model.buckets.iter().map(|bucket| bucket.size).sum();
    let left =
        |epoch: usize| (model.capacity[epoch] - model.cost_new * new[epoch]) / model.cost_old;
    let old = model
        .buckets
        .iter()
        .map(|bucket| (0..EPOCHS).map(|e| left(e) * bucket.size / total).collect());
    EpochPlan { old: old.collect(), new: new.clone() }
}

fn plan_table(plan: &EpochPlan) -> ReportTable {
    let mut table = ReportTable::new(
        "plan",
        "Pages fetched in each epoch by the best plan found, all epochs counting alike.",
        &["class", "epoch 1", "epoch 2", "epoch 3", "epoch 4"],
    );
    let names = ["100 pages, 60 % change", "200 pages, 30 %", "300 pages, 10 %"];
    for (name, counts) in names.iter().zip(&plan.old) {
        table.row([Cell::from(*name)].into_iter().chain(counts.iter().map(|x| cell(*x, 0))));
    }
    table.row([Cell::from("new pages")].into_iter().chain(plan.new.iter().map(|z| cell(*z, 0))));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_as_good_as_the_references_and_better_than_none() {
        let model = model(Vec::new());
        let cost = model.cost(&model.plan());
        assert!(cost < 683.946 + 1e-3, "{cost}");
        assert!(model.cost(&even_plan(&model)) > cost);
    }

    #[test]
    fn weight_on_the_end_makes_the_end_fresher() {
        let (flat, rising) = (model(Vec::new()), model(vec![1.0, 2.0, 3.0, 4.0]));
        let end = |model: &Epochs| flat.stale(&model.plan())[EPOCHS - 1];
        assert!(end(&rising) <= end(&flat) + 1e-9, "{} {}", end(&rising), end(&flat));
    }
}
