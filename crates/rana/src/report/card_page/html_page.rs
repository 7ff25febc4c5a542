//! [`html_page`]: cards as a page, one file with tables and plots, which needs nothing but a browser.

use rana_eval::confidence::ReliabilityBin;
use rana_eval::{CardResult, Common, EvaluationCard, Official, Resampled, Spread};

use super::charts;
use super::svg::escape;

/// An HTML page that shows cards, one after the other.
///
/// It refers to nothing outside of itself, holds no script, and follows the reader's choice of
/// light or dark.
#[must_use]
pub fn html_page(cards: &[EvaluationCard]) -> String {
    let titles: Vec<String> = cards.iter().map(title).collect();
    let articles: String = cards.iter().enumerate().map(|(number, card)| article(number, card)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{articles}</main>\n</body>\n</html>\n",
        escape(titles.join("; ")),
        include_str!("style.css"),
    )
}

fn title(card: &EvaluationCard) -> String {
    format!(
        "{} on {} {} tasks, {} shots",
        card.model, card.protocol.tasks, card.protocol.split, card.protocol.shots
    )
}

fn article(number: usize, card: &EvaluationCard) -> String {
    let chart = |name: &str| format!("card{number}-{name}");
    let mut page = format!("<article>\n<h1>{}</h1>\n", escape(title(card)));
    page += &protocol(card);
    page += &tiles(card);
    page += "<h2>All rows</h2>\n<div class=\"charts\">\n<div>\n";
    page += &figure("MRR over all queries", &charts::rows(&chart("rows"), card));
    page += &figure("Share of queries with a rank of at most k", &charts::hits(&chart("hits"), card));
    page += "</div>\n<div>\n";
    page += &figure("MRR of each relation", &charts::relations(&chart("relations"), card));
    page += "</div>\n</div>\n";
    page += &rows_table(card);
    page += &ties_table(card);
    page += &common_table(card);
    page += &relations_table(card);
    page += &confidence(&chart("confidence"), card);
    page += &provenance(card);
    page + "</article>\n"
}

fn protocol(card: &EvaluationCard) -> String {
    let of = &card.protocol;
    let support = match of.draws {
        0 => "The support of a task is its first facts.".to_owned(),
        draws => {
            format!("Official: the support of a task is its first facts. Resampled: {draws} random supports.")
        }
    };
    format!(
        "<p class=\"dim\">{} queries; candidates {}, {}; ties {}. {support}</p>\n",
        thousands(of.queries),
        escape(of.candidates),
        of.filter,
        of.tie_rule
    )
}

fn tiles(card: &EvaluationCard) -> String {
    let Official { micro, macro_average, .. } = &card.result.official;
    let mut tiles = vec![
        ("MRR", number(micro.mrr)),
        ("Hits@1", number(micro.hits_at_1)),
        ("Hits@5", number(micro.hits_at_5)),
        ("Hits@10", number(micro.hits_at_10)),
        ("MRR, mean of tasks", number(macro_average.mrr)),
    ];
    if let Some(resampled) = &card.result.resampled {
        let Spread { mean, sd } = resampled.micro.mrr;
        tiles.push(("MRR, resampled", format!("{} <small>± {}</small>", number(mean), number(sd))));
    }
    let tiles = tiles.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
    format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.collect::<String>())
}

fn figure(caption: &str, svg: &str) -> String {
    format!("<figure>\n<figcaption>{}</figcaption>\n{svg}</figure>\n", escape(caption))
}

fn rows_table(card: &EvaluationCard) -> String {
    let titles = [
        "Row",
        "MRR",
        "Hits@1",
        "Hits@5",
        "Hits@10",
        "MRR, mean of tasks",
        "MRR, resampled",
        "Hits@10, resampled",
    ];
    let row = |result: &CardResult| {
        let Official { micro, macro_average, .. } = &result.official;
        let values = [micro.mrr, micro.hits_at_1, micro.hits_at_5, micro.hits_at_10, macro_average.mrr];
        let resampled = |of: fn(&Resampled) -> Spread| optional(result.resampled.as_ref().map(of));
        let spreads = [resampled(|of| of.micro.mrr), resampled(|of| of.micro.hits_at_10)];
        values.map(number).into_iter().chain(spreads).collect()
    };
    let rows: Vec<_> = card.rows().map(|(name, result)| (name.to_owned(), row(result))).collect();
    let caption = "Every row, over all queries of the official support unless said otherwise";
    let reasons = card
        .not_resampled()
        .map(|(name, reason)| format!("<p class=\"dim\">– {}: {}</p>\n", escape(name), escape(reason)));
    table(caption, &titles, &rows, Some(0)) + &reasons.collect::<String>()
}

fn confidence(id: &str, card: &EvaluationCard) -> String {
    let Some(of) = &card.confidence else { return String::new() };
    let titles = ["Said", "Right", "Answers"];
    let row =
        |bin: &ReliabilityBin| (number(bin.confidence), vec![number(bin.right), thousands(bin.answers)]);
    let caption = format!(
        "The best ten answers of each head, by how sure {} is; expected calibration error {}",
        card.model,
        number(of.expected_error)
    );
    let table = table(&caption, &titles, &of.bins.iter().map(row).collect::<Vec<_>>(), None);
    let figure = figure("Share of right answers against confidence", &charts::reliability(id, of));
    format!(
        "<h2>How sure</h2>\n<div class=\"charts\">\n<div>\n{figure}</div>\n<div>\n{table}</div>\n</div>\n"
    )
}

fn ties_table(card: &EvaluationCard) -> String {
    let titles = [
        "Row",
        "MRR, optimistic",
        "MRR, realistic",
        "MRR, pessimistic",
        "Queries with ties",
        "Tied candidates",
    ];
    let row = |result: &CardResult| {
        let ties = &result.official.ties;
        let values = [ties.optimistic, ties.realistic, ties.pessimistic].map(|of| number(of.mrr));
        let counts = [ties.tied_queries, ties.tied_candidates].map(thousands);
        values.into_iter().chain(counts).collect()
    };
    let rows: Vec<_> = card.rows().map(|(name, result)| (name.to_owned(), row(result))).collect();
    let table = table("The same ranks under every rule", &titles, &rows, Some(0));
    format!("<h2>What ties do</h2>\n{table}")
}

fn common_table(card: &EvaluationCard) -> String {
    let Some(Common { tasks, left_out, queries, .. }) = &card.result.common else { return String::new() };
    let most = card.protocol.common_shots;
    let titles = ["Row", "MRR", "Hits@1", "Hits@5", "Hits@10", "MRR, mean of tasks", "MRR, resampled"];
    let row = |common: &Common| {
        let Official { micro, macro_average, .. } = &common.official;
        let values = [micro.mrr, micro.hits_at_1, micro.hits_at_5, micro.hits_at_10, macro_average.mrr];
        let resampled = optional(common.resampled.map(|of| of.micro.mrr));
        values.map(number).into_iter().chain([resampled]).collect()
    };
    let rows: Vec<_> = card
        .rows()
        .filter_map(|(name, result)| Some((name.to_owned(), row(result.common.as_ref()?))))
        .collect();
    let left_out = match left_out {
        0 => String::new(),
        count => format!(" ({count} tasks are too small)"),
    };
    let caption = format!(
        "The {} queries of {tasks} tasks that are in no support of up to {most} facts, which results with other \
         numbers of shots share{left_out}",
        thousands(*queries)
    );
    format!("<h2>Queries common to all shots</h2>\n{}", table(&caption, &titles, &rows, Some(0)))
}

fn relations_table(card: &EvaluationCard) -> String {
    let best = card.best_baseline();
    let best_title = best.map(|best| format!("MRR, {}", best.name));
    let mut titles =
        vec!["Relation", "Candidates", "Queries", "MRR", "Hits@1", "Hits@5", "Hits@10", "MRR, resampled"];
    titles.extend(best_title.as_deref());
    let rows: Vec<_> = card
        .per_relation
        .iter()
        .enumerate()
        .map(|(at, of)| {
            let name = match &of.label {
                Some(label) => format!("{label} ({})", of.relation),
                None => of.relation.clone(),
            };
            let official = of.official;
            let mut cells = vec![thousands(of.candidates as u64), thousands(of.queries)];
            let values = [official.mrr, official.hits_at_1, official.hits_at_5, official.hits_at_10];
            cells.extend(values.map(number));
            cells.push(optional(of.resampled.map(|of| of.mrr)));
            cells.extend(best.map(|best| number(best.per_relation[at].mrr)));
            (name, cells)
        })
        .collect();
    let caption = format!("{} on each relation, official support unless said otherwise", card.model);
    format!("<h2>Relation by relation</h2>\n{}", table(&caption, &titles, &rows, None))
}

fn provenance(card: &EvaluationCard) -> String {
    let of = &card.provenance;
    let memory = of.peak_memory_bytes.map(|bytes| format!("{} MB", bytes / 1_000_000));
    let known = [
        ("graph", Some(of.graph.clone())),
        ("seed", Some(card.protocol.seed.to_string())),
        ("rana", Some(of.version.to_owned())),
        ("time", Some(format!("{:.1} s", of.seconds))),
        ("peak memory", memory),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let rows = known.chain(of.details.clone()).map(|(name, value)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value))
    });
    format!(
        "<h2>Where this comes from</h2>\n<div class=\"scroll\">\n<table class=\"facts\">\n\
         <caption>Data, program and cost</caption>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
        rows.collect::<String>()
    )
}

/// A table of named rows; the one at `marked` stands out.
fn table(caption: &str, titles: &[&str], rows: &[(String, Vec<String>)], marked: Option<usize>) -> String {
    let caption = escape(caption);
    let titles = titles.iter().map(|title| format!("<th scope=\"col\">{}</th>", escape(title)));
    let row = |(at, (name, cells)): (usize, &(String, Vec<String>))| {
        let class = if marked == Some(at) { " class=\"model\"" } else { "" };
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        format!("<tr{class}><th scope=\"row\">{}</th>{cells}</tr>\n", escape(name))
    };
    // A region that scrolls must be reachable by keyboard.
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
        titles.collect::<String>(),
        rows.iter().enumerate().map(row).collect::<String>()
    )
}

/// A share as results are published.
pub(super) fn number(value: f64) -> String {
    format!("{value:.3}")
}

/// A count with its thousands apart.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

pub(super) fn spread(Spread { mean, sd }: Spread) -> String {
    format!("{mean:.3} ± {sd:.3}")
}

fn optional(value: Option<Spread>) -> String {
    value.map_or_else(|| "–".to_owned(), spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VectorTraining;
    use crate::trial::Workspace;
    use rana_embed::{EmbedConfig, ModelKind};
    use rana_eval::CardSettings;
    use rana_fewshot::{PretrainingFacts, SupportError};
    use rana_graph::{Duplicates, GraphBuilder, Pair, Split, TaskSetBuilder};
    use rana_models::vectors::KgeModel;
    use rana_models::{Baseline, BaselineKind};

    const NASTY: &str = "<script>alert('x')</script> & \"co\"";

    fn page(draws: usize) -> String {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        (0..12).for_each(|n| {
            builder.add_named(&format!("e{n}"), "r", &format!("e{}", (n + 1) % 12));
        });
        builder.add_task_relation(NASTY).unwrap();
        let graph = builder.finish();
        let entities: Vec<_> = graph.entities().collect();
        let relation = graph.relation(NASTY).unwrap();
        let facts = entities.iter().map(|&head| Pair { head, tail: entities[head.index() % 3] }).collect();
        let mut builder = TaskSetBuilder::default();
        builder.add_task(Split::Test, relation, facts);
        builder.add_candidates(relation, entities);
        let tasks = builder.finish();
        let [copy, rules] = [BaselineKind::Copy, BaselineKind::Rules].map(|kind| Baseline::new(kind, &graph));
        let settings = CardSettings { shots: 3, draws, ..CardSettings::default() };
        let mut card = settings.evaluate((NASTY, &copy), &[("rules", &rules)], &graph, &tasks, &()).unwrap();
        card.provenance.details.insert("a \"detail\"".to_owned(), NASTY.to_owned());
        html_page(&[card.clone(), card])
    }

    /// Every element that is opened is closed, in the right order; no quote is left open.
    fn check_well_formed(page: &str) {
        let mut open = Vec::new();
        let body = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
        for part in body.split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("a tag ends");
            assert!(!text.contains('>'), "a stray > in {part}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{part}");
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn the_page_is_whole_and_escapes_every_name() {
        for draws in [0, 4] {
            let page = page(draws);
            check_well_formed(&page);
            assert!(!page.contains("<script"), "{page}");
            assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;co&quot;"));
            assert!(page.contains("a &quot;detail&quot;"));
            assert_eq!(page.matches("<svg").count(), 6);
            assert_eq!(page.contains("resampled supports"), draws > 0);
        }
    }

    #[test]
    fn a_model_without_resampled_supports_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let store = crate::trial::tests::umls(&Workspace::new(dir.path().join("data")));
        let config = EmbedConfig { epochs: 2, ..EmbedConfig::recommended(ModelKind::DistMult, 2_500) };
        let set = VectorTraining::new(&store, config, PretrainingFacts::Supports, None, 3);
        let set = set.unwrap().finish().unwrap();
        let model = KgeModel::new(&set, &store.graph, &store.tasks).unwrap();
        let settings = CardSettings { shots: 3, draws: 4, ..CardSettings::default() };
        let card = settings.evaluate(("distmult", &model), &[], &store.graph, &store.tasks, &()).unwrap();
        let other_facts = SupportError::OtherFacts { trained: 3 }.to_string();
        assert_eq!(card.result.not_resampled.as_ref(), Some(&other_facts));
        assert!(html_page(&[card]).contains(&other_facts));
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1000, 7_532_401].map(thousands), ["0", "999", "1,000", "7,532,401"]);
    }

    #[test]
    fn nothing_comes_from_outside_and_ids_are_unique() {
        let page = page(4);
        for outside in ["http:", "https:", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!((ids.len(), distinct.len()), (12, 12));
        assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
    }
}
