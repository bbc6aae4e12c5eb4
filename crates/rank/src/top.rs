//! Which nodes come first by a score?

/// The `count` nodes with the highest scores, highest first; of equal ones the first comes first.
pub fn top_nodes(scores: &[f64], count: usize) -> Vec<u32> {
    let score = |node: u32| scores.get(node as usize).copied().unwrap_or(f64::NEG_INFINITY);
    let order = |a: &u32, b: &u32| score(*b).total_cmp(&score(*a)).then(a.cmp(b));
    let mut nodes: Vec<u32> = (0..scores.len() as u32).collect();
    if count < nodes.len() {
        // Who wants a few of many need not have all in order.
        nodes.select_nth_unstable_by(count, order);
        nodes.truncate(count);
    }
    nodes.sort_unstable_by(order);
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_come_first_and_equals_in_their_order() {
        let scores = [0.1, 0.4, 0.2, 0.4, 0.0];
        for (count, want) in
            [(0, &[][..]), (1, &[1]), (3, &[1, 3, 2]), (5, &[1, 3, 2, 0, 4]), (9, &[1, 3, 2, 0, 4])]
        {
            assert_eq!(top_nodes(&scores, count), want);
        }
        assert!(top_nodes(&[], 3).is_empty());
    }
}
