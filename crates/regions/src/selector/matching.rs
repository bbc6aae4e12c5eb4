//! Which elements of a page does a list of selectors choose? One pass over the page a selector, inner ones first.

use super::{Combinator, Complex, Simple, Test};
use crate::tree::{Element, PageTree};

/// For each element whether any selector of the list chooses it.
pub(crate) fn matches(list: &[Complex], tree: &PageTree<'_>) -> Vec<bool> {
    let mut chosen = vec![false; tree.elements.len()];
    for complex in list {
        for (chosen, matched) in chosen.iter_mut().zip(matches_of(complex, tree)) {
            *chosen |= matched;
        }
    }
    chosen
}

/// Elements that one selector chooses: part after part.
fn matches_of(complex: &Complex, tree: &PageTree<'_>) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::new();
    for (number, (combinator, compound)) in complex.parts.iter().enumerate() {
        let mut now = matches_of_compound(compound, tree);
        if number > 0 {
            let may = reached(&found, *combinator, tree);
            for (now, may) in now.iter_mut().zip(may) {
                *now &= may;
            }
        }
        found = now;
    }
    found
}

/// Elements that stand to some of `from` as the combinator says. Elements come after their parents and their earlier
/// siblings, so that one pass is enough.
fn reached(from: &[bool], combinator: Combinator, tree: &PageTree<'_>) -> Vec<bool> {
    let mut reached = vec![false; from.len()];
    for (id, element) in tree.elements.iter().enumerate() {
        reached[id] = match combinator {
            Combinator::Child => element.parent.is_some_and(|parent| from[parent]),
            Combinator::Descendant => {
                element.parent.is_some_and(|parent| from[parent] || reached[parent])
            }
            Combinator::Next => element.previous.is_some_and(|previous| from[previous]),
            Combinator::Later => {
                element.previous.is_some_and(|previous| from[previous] || reached[previous])
            }
        };
    }
    reached
}

/// Elements that have some of `to` where the combinator says.
fn reaching(to: &[bool], combinator: Combinator, tree: &PageTree<'_>) -> Vec<bool> {
    let mut reaching = vec![false; to.len()];
    for (id, element) in tree.elements.iter().enumerate().rev() {
        let (other, passes_on) = match combinator {
            Combinator::Child => (element.parent, false),
            Combinator::Descendant => (element.parent, true),
            Combinator::Next => (element.previous, false),
            Combinator::Later => (element.previous, true),
        };
        if let Some(other) = other {
            reaching[other] |= to[id] || passes_on && reaching[id];
        }
    }
    reaching
}

fn matches_of_compound(compound: &[Simple], tree: &PageTree<'_>) -> Vec<bool> {
    let mut found: Vec<bool> = tree.elements.iter().map(|element| !element.inert).collect();
    for simple in compound {
        let inner = match simple {
            Simple::Is(list) | Simple::Not(list) => Some(matches(list, tree)),
            Simple::Has(list) => Some(has(list, tree)),
            _ => None,
        };
        let negated = matches!(simple, Simple::Not(_));
        for (id, (found, element)) in found.iter_mut().zip(&tree.elements).enumerate() {
            *found = *found
                && match &inner {
                    Some(inner) => inner[id] != negated,
                    None => holds(simple, element),
                };
        }
    }
    found
}

fn has(list: &[(Combinator, Complex)], tree: &PageTree<'_>) -> Vec<bool> {
    let mut all = vec![false; tree.elements.len()];
    for (combinator, complex) in list {
        let found = reaching(&matches_of(complex, tree), *combinator, tree);
        for (all, found) in all.iter_mut().zip(found) {
            *all |= found;
        }
    }
    all
}

/// Whether a condition holds of an element by itself.
fn holds(simple: &Simple, element: &Element) -> bool {
    match simple {
        Simple::Type(name) => *element.name == **name,
        Simple::Id(id) => element.attribute("id") == Some(id),
        Simple::Class(class) => element
            .attribute("class")
            .is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class)),
        Simple::Attribute { name, test, value, any_case } => {
            element.attribute(name).is_some_and(|found| passes(*test, found, value, *any_case))
        }
        Simple::Root => element.parent.is_none(),
        Simple::Place { nth, of_name, from_end } => {
            let (place, of) = places(element, *of_name);
            nth.holds(if *from_end { of + 1 - place.min(of) } else { place })
        }
        Simple::Only { of_name } => places(element, *of_name).1 == 1,
        Simple::Is(_) | Simple::Not(_) | Simple::Has(_) => false,
    }
}

fn places(element: &Element, of_name: bool) -> (u32, u32) {
    match of_name {
        true => (element.place_of_name, element.siblings_of_name),
        false => (element.place, element.siblings),
    }
}

fn passes(test: Test, found: &str, value: &str, any_case: bool) -> bool {
    if any_case {
        return passes(test, &found.to_ascii_lowercase(), &value.to_ascii_lowercase(), false);
    }
    let says = !value.is_empty();
    match test {
        Test::There => true,
        Test::Equals => found == value,
        Test::Word => says && found.split_ascii_whitespace().any(|word| word == value),
        Test::Dash => {
            found.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Test::Begins => says && found.starts_with(value),
        Test::Ends => says && found.ends_with(value),
        Test::Contains => says && found.contains(value),
    }
}
