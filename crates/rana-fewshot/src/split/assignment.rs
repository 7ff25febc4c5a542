//! Which relations become tasks, and of which split.

use rana_graph::{Fact, FewShotRule, Graph, Lists, RelationId, Split};
use rand::seq::SliceRandom;

use super::assignment_rule::{Assignment, Ratio, RelationNames};
use super::config::SplitSettings;
use super::error::SplitError;
use crate::seed::{Purpose, rng};

/// The relations that shall become tasks: by number if counted, in the order given if named.
pub(super) fn chosen(
    graph: &Graph,
    facts: &Lists<Fact>,
    settings: &SplitSettings,
) -> Result<Vec<RelationId>, SplitError> {
    match &settings.assignment {
        Assignment::Ratio(_) => few_shot(graph, facts, settings),
        Assignment::Names(names) => named(graph, facts, names),
    }
}

fn few_shot(
    graph: &Graph,
    facts: &Lists<Fact>,
    settings: &SplitSettings,
) -> Result<Vec<RelationId>, SplitError> {
    let SplitSettings { more_than, less_than, .. } = *settings;
    let rule = FewShotRule { more_than: more_than as u64, less_than: less_than as u64 };
    let chosen: Vec<RelationId> = graph
        .relations()
        .filter(|relation| rule.holds(facts.get(relation.number()).len() as u64))
        // Their answers would stay readable in the types of the graph.
        .filter(|relation| !graph.type_relations().contains(relation))
        .collect();
    if chosen.is_empty() {
        return Err(SplitError::NothingFewShot { relations: graph.relation_count(), more_than, less_than });
    }
    Ok(chosen)
}

fn named(graph: &Graph, facts: &Lists<Fact>, names: &RelationNames) -> Result<Vec<RelationId>, SplitError> {
    let find = |(split, name): (Split, &str)| match graph.relation(name) {
        None => Err(SplitError::UnknownRelation { name: name.to_owned(), split }),
        Some(relation) if !graph.is_background(relation) || facts.get(relation.number()).is_empty() => {
            Err(SplitError::NoFacts { name: name.to_owned(), split })
        }
        Some(relation) if graph.type_relations().contains(&relation) => {
            Err(SplitError::StatesTypes { name: name.to_owned(), split })
        }
        Some(relation) => Ok(relation),
    };
    names.iter().map(find).collect()
}

/// The split of each relation in `kept`: train, then dev, then test.
pub(super) fn assigned(
    graph: &Graph,
    kept: &[RelationId],
    settings: &SplitSettings,
) -> Vec<(Split, RelationId)> {
    match &settings.assignment {
        Assignment::Ratio(ratio) => dealt(kept, ratio, settings.seed),
        Assignment::Names(names) => names
            .iter()
            .filter_map(|(split, name)| Some((split, graph.relation(name)?)))
            .filter(|(_, relation)| kept.contains(relation))
            .collect(),
    }
}

fn dealt(relations: &[RelationId], ratio: &Ratio, seed: u64) -> Vec<(Split, RelationId)> {
    let mut shuffled = relations.to_vec();
    shuffled.shuffle(&mut rng(seed, Purpose::Assignment, [0, 0]));
    let mut rest = shuffled.into_iter();
    let mut assigned: Vec<(Split, RelationId)> = Split::ALL
        .into_iter()
        .zip(apportioned(relations.len(), ratio))
        .flat_map(|(split, count)| rest.by_ref().take(count).map(|r| (split, r)).collect::<Vec<_>>())
        .collect();
    // Within a split the order of the graph reads better than that of the shuffle.
    assigned.sort_unstable();
    assigned
}

/// How many of `total` go to train, dev and test, by largest remainder.
///
/// From three on, every split with a proportion above zero gets at least one, at the cost of the
/// largest.
fn apportioned(total: usize, ratio: &Ratio) -> [usize; 3] {
    let ratios = Split::ALL.map(|split| ratio.of(split));
    let quotas = ratios.map(|ratio_of| total as f64 * (ratio_of / ratio.sum()));
    let mut counts = quotas.map(|quota| quota as usize);
    let mut by_remainder = [0, 1, 2];
    by_remainder.sort_by(|&a, &b| quotas[b].fract().total_cmp(&quotas[a].fract()));
    let left = total - counts.iter().sum::<usize>();
    for &split in by_remainder.iter().filter(|&&split| ratios[split] > 0.0).cycle().take(left) {
        counts[split] += 1;
    }
    for split in 0..3 {
        if total >= 3 && ratios[split] > 0.0 && counts[split] == 0 {
            let largest = usize::from(counts[1] > counts[0]);
            let largest = if counts[2] > counts[largest] { 2 } else { largest };
            counts[largest] -= 1;
            counts[split] = 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_published_proportions_give_the_published_counts() {
        assert_eq!(apportioned(67, &Ratio::default()), [51, 5, 11]);
        assert_eq!(apportioned(3, &Ratio::default()), [1, 1, 1]);
        assert_eq!(apportioned(4, &Ratio::default()), [2, 1, 1]);
        assert_eq!(apportioned(1, &Ratio::default()), [1, 0, 0]);
        assert_eq!(apportioned(5, &Ratio { train: 0.0, dev: 1.0, test: 1.0 }), [0, 3, 2]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_wanted_split_is_empty(
            total in 0usize..300,
            ratios in prop::array::uniform3(prop_oneof![Just(0.0), Just(1e-300), Just(1e300), 0.0..100.0f64])
                .prop_filter("all zero", |ratios| ratios.iter().sum::<f64>() > 0.0),
        ) {
            let [train, dev, test] = ratios;
            let counts = apportioned(total, &Ratio { train, dev, test });
            prop_assert_eq!(counts.iter().sum::<usize>(), total);
            for (count, ratio) in counts.into_iter().zip(ratios) {
                prop_assert!(ratio > 0.0 || count == 0);
                prop_assert!(count > 0 || ratio == 0.0 || total < 3);
            }
        }
    }
}
