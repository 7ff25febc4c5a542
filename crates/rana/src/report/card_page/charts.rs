//! The plots of a card.

use super::html_page::{number, spread};
use super::svg::{Anchor, Svg, WIDTH};
use rana_eval::confidence::Reliability;
use rana_eval::{CardResult, EvaluationCard, RelationCard};

/// Where rows of marks begin and how far they are apart.
const TOP: f64 = 14.0;
const ROW: f64 = 26.0;
/// The height of an axis and its title.
const AXIS: f64 = 52.0;
const LEGEND_LINE: f64 = 20.0;
/// Classes of colour in `style.css`.
const COLOURS: usize = 8;
/// Curves must be told apart without colours, too.
const DASHES: [&str; COLOURS] = ["", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "1 4", "12 4", "4 4"];

fn colour(row: usize) -> String {
    format!("s{}", row % COLOURS)
}

/// A stretch of numbers, drawn from `left` to `right`.
struct Axis {
    left: f64,
    right: f64,
    max: f64,
    step: f64,
}

impl Axis {
    /// An axis from zero that reaches at least to `max` with four to eight round steps.
    fn new(left: f64, right: f64, max: f64) -> Self {
        let max = max.clamp(0.01, 1.0);
        let steps = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
        let step = steps.into_iter().find(|step| max / step <= 6.0).unwrap_or(0.2);
        Self { left, right, max: (max / step - 1e-9).ceil() * step, step }
    }

    fn at(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * (value / self.max).clamp(0.0, 1.0)
    }

    fn draw(&self, svg: &mut Svg, bottom: f64, title: &str) {
        let count = (self.max / self.step).round() as usize;
        for tick in 0..=count {
            let value = tick as f64 * self.step;
            let x = self.at(value);
            svg.line((x, 2.0), (x, bottom), "grid");
            let decimals = if self.step < 0.01 {
                3
            } else if self.step < 0.1 {
                2
            } else {
                1
            };
            svg.text(x, bottom + 11.0, Anchor::Middle, "dim", &format!("{value:.decimals$}"));
        }
        svg.text((self.left + self.right) / 2.0, bottom + 29.0, Anchor::Middle, "dim", title);
    }
}

/// The beginning and the end of a name that is longer than `most` characters. The end is the longer part.
fn shortened(name: &str, most: usize) -> String {
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= most {
        return name.to_owned();
    }
    let first = most / 3;
    let ends = [&characters[..first], &characters[characters.len() + 1 + first - most..]];
    ends.map(|end| end.iter().collect::<String>()).join("…")
}

/// The MRR of every row: on the official support, and on resampled ones with its spread.
pub(super) fn rows(id: &str, card: &EvaluationCard) -> String {
    let rows: Vec<(&str, &CardResult)> = card.rows().collect();
    let reach = |result: &CardResult| {
        let resampled = result.resampled.map_or(0.0, |of| of.micro.mrr.mean + of.micro.mrr.sd);
        resampled.max(result.official.micro.mrr)
    };
    let most = rows.iter().map(|(_, result)| reach(result)).fold(0.0, f64::max);
    let axis = Axis::new(138.0, WIDTH - 108.0, most);
    let bottom = TOP + rows.len() as f64 * ROW - ROW / 2.0 + 6.0;
    let mut svg = Svg::default();
    axis.draw(&mut svg, bottom, "MRR");
    let mut description = Vec::new();
    for (row, (name, result)) in rows.iter().enumerate() {
        let (y, colour) = (TOP + row as f64 * ROW, colour(row));
        let official = result.official.micro.mrr;
        let resampled = result.resampled.map(|of| of.micro.mrr);
        let said = match resampled {
            Some(of) => format!("{name}: official {}, resampled {}", number(official), spread(of)),
            None => format!("{name}: official {}", number(official)),
        };
        svg.begin_group(&said);
        let class = if row == 0 { "name model" } else { "name" };
        svg.text(128.0, y, Anchor::End, class, &shortened(name, 18));
        if let Some(of) = resampled {
            let (low, high) = (axis.at(of.mean - of.sd), axis.at(of.mean + of.sd));
            let class = format!("stroke {colour}");
            svg.line((low, y), (high, y), &class);
            svg.line((low, y - 5.0), (low, y + 5.0), &class);
            svg.line((high, y - 5.0), (high, y + 5.0), &class);
            svg.circle((axis.at(of.mean), y), 4.5, &format!("mark {colour}"));
        }
        svg.diamond((axis.at(official), y), 6.0, &format!("hollow {colour}"));
        let value = resampled.map_or_else(|| number(official), spread);
        svg.text(WIDTH - 2.0, y, Anchor::End, class, &value);
        svg.end_group();
        description.push(said);
    }
    let legend = bottom + AXIS;
    svg.diamond((10.0, legend), 6.0, "hollow s5");
    svg.text(22.0, legend, Anchor::Start, "dim", "official support");
    if card.protocol.draws > 0 {
        svg.line((140.0, legend), (164.0, legend), "stroke s5");
        svg.circle((152.0, legend), 4.5, "mark s5");
        let text = format!("mean ± sd of {} resampled supports", card.protocol.draws);
        svg.text(172.0, legend, Anchor::Start, "dim", &text);
    }
    svg.finish(id, legend + LEGEND_LINE / 2.0 + 2.0, "MRR of every row", &description.join("; "))
}

/// The MRR of the model on each relation, compared with the best other row.
pub(super) fn relations(id: &str, card: &EvaluationCard) -> String {
    let best = card.best_baseline();
    let other = |at: usize| best.map(|row| row.per_relation[at].mrr);
    let mut relations: Vec<(&RelationCard, Option<f64>)> =
        card.per_relation.iter().enumerate().map(|(at, of)| (of, other(at))).collect();
    relations.sort_by(|(a, _), (b, _)| b.official.mrr.total_cmp(&a.official.mrr));
    let most = relations.iter().map(|(of, other)| of.official.mrr.max(other.unwrap_or(0.0)));
    let axis = Axis::new(200.0, WIDTH - 14.0, most.fold(0.0, f64::max));
    let bottom = TOP + relations.len() as f64 * ROW - ROW / 2.0 + 6.0;
    let mut svg = Svg::default();
    axis.draw(&mut svg, bottom, "MRR, official support");
    let mut description = Vec::new();
    let best_colour = best
        .and_then(|best| card.baselines.iter().position(|row| row.name == best.name))
        .map_or_else(String::new, |place| colour(place + 1));
    for (row, (of, other)) in relations.iter().enumerate() {
        let y = TOP + row as f64 * ROW;
        let name = of.label.as_ref().unwrap_or(&of.relation);
        let mut said = format!("{name}: {} {}", card.model, number(of.official.mrr));
        if let (Some(best), Some(mrr)) = (best, other) {
            said += &format!(", {} {}", best.name, number(*mrr));
        }
        svg.begin_group(&said);
        svg.text(188.0, y, Anchor::End, "name", &shortened(name, 29));
        let place = (axis.at(of.official.mrr), y);
        if let Some(mrr) = other {
            svg.line((axis.at(*mrr), y), place, "grid");
            svg.diamond((axis.at(*mrr), y), 6.0, &format!("hollow {best_colour}"));
        }
        svg.circle(place, 5.0, "mark s0");
        svg.end_group();
        description.push(said);
    }
    let legend = bottom + AXIS;
    svg.circle((10.0, legend), 5.0, "mark s0");
    svg.text(22.0, legend, Anchor::Start, "dim", &shortened(&card.model, 24));
    if let Some(best) = best {
        svg.diamond((212.0, legend), 6.0, &format!("hollow {best_colour}"));
        let text = format!("{} (best other row)", shortened(&best.name, 16));
        svg.text(224.0, legend, Anchor::Start, "dim", &text);
    }
    svg.finish(id, legend + LEGEND_LINE / 2.0 + 2.0, "MRR of every relation", &description.join("; "))
}

/// The share of queries whose rank is at most k, for every row.
pub(super) fn hits(id: &str, card: &EvaluationCard) -> String {
    let (left, right, top, bottom) = (40.0, WIDTH - 14.0, 10.0, 250.0);
    let rows: Vec<(&str, &CardResult)> = card.rows().collect();
    let largest = card.result.hits_curve.last().map_or(10, |at| at.k).max(10);
    let x = |k: u64| left + (right - left) * (k as f64).ln() / (largest as f64).ln();
    let y = |hits: f64| bottom + (top - bottom) * hits;
    let mut svg = Svg::default();
    for fifth in 0..=5_u32 {
        let hits = f64::from(fifth) / 5.0;
        svg.line((left, y(hits)), (right, y(hits)), "grid");
        svg.text(left - 6.0, y(hits), Anchor::End, "dim", &format!("{hits:.1}"));
    }
    let powers = (1..).map(|power| 10_u64.pow(power)).take_while(|&k| k <= largest);
    for k in [1, 5].into_iter().chain(powers) {
        svg.line((x(k), top), (x(k), bottom), "grid");
        svg.text(x(k), bottom + 11.0, Anchor::Middle, "dim", &k.to_string());
    }
    svg.text((left + right) / 2.0, bottom + 29.0, Anchor::Middle, "dim", "k (logarithmic)");
    let mut description = Vec::new();
    // The model is drawn last, above the others.
    for (row, (name, result)) in rows.iter().enumerate().rev() {
        let points: Vec<(f64, f64)> = result.hits_curve.iter().map(|at| (x(at.k), y(at.hits))).collect();
        let of = &result.official.micro;
        let [first, tenth] = [of.hits_at_1, of.hits_at_10].map(number);
        let said = format!("{name}: Hits@1 {first}, Hits@10 {tenth}");
        svg.begin_group(&said);
        svg.curve(&points, DASHES[row % COLOURS], &format!("stroke {}", colour(row)));
        svg.end_group();
        description.push(said);
    }
    description.reverse();
    let per_line = 2;
    for (row, (name, _)) in rows.iter().enumerate() {
        let (x, y) =
            (left + (row % per_line) as f64 * 200.0, bottom + AXIS + (row / per_line) as f64 * LEGEND_LINE);
        svg.curve(&[(x, y), (x + 30.0, y)], DASHES[row % COLOURS], &format!("stroke {}", colour(row)));
        let class = if row == 0 { "name model" } else { "name" };
        svg.text(x + 38.0, y, Anchor::Start, class, &shortened(name, 20));
    }
    let lines = rows.len().div_ceil(per_line) as f64;
    let height = bottom + AXIS + lines * LEGEND_LINE - LEGEND_LINE / 2.0 + 2.0;
    svg.finish(id, height, "Share of queries with a rank of at most k", &description.join("; "))
}

/// The share of right answers against what was said, and the line on which both are the same.
pub(super) fn reliability(id: &str, of: &Reliability) -> String {
    let (left, right, top, bottom) = (40.0, 300.0, 10.0, 270.0);
    let x = |said: f64| left + (right - left) * said;
    let y = |share: f64| bottom + (top - bottom) * share;
    let mut svg = Svg::default();
    for fifth in 0..=5_u32 {
        let share = f64::from(fifth) / 5.0;
        svg.line((left, y(share)), (right, y(share)), "grid");
        svg.line((x(share), top), (x(share), bottom), "grid");
        svg.text(left - 6.0, y(share), Anchor::End, "dim", &format!("{share:.1}"));
        svg.text(x(share), bottom + 11.0, Anchor::Middle, "dim", &format!("{share:.1}"));
    }
    svg.text((left + right) / 2.0, bottom + 29.0, Anchor::Middle, "dim", "confidence");
    svg.curve(&[(x(0.0), y(0.0)), (x(1.0), y(1.0))], DASHES[2], "stroke s7");
    let points: Vec<(f64, f64)> = of.bins.iter().map(|bin| (x(bin.confidence), y(bin.right))).collect();
    svg.curve(&points, "", "stroke s0");
    let mut description = Vec::new();
    for (bin, &point) in of.bins.iter().zip(&points) {
        let said =
            format!("said {}, right {}, {} answers", number(bin.confidence), number(bin.right), bin.answers);
        svg.begin_group(&said);
        // The more answers, the larger.
        let share = bin.answers as f64 / of.answers.max(1) as f64;
        svg.circle(point, 3.0 + 7.0 * share.sqrt(), "mark s0");
        svg.end_group();
        description.push(said);
    }
    svg.finish(id, bottom + AXIS, "Share of right answers against confidence", &description.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_reach_far_enough_in_round_steps() {
        for max in [0.0, 0.011, 0.06, 0.1, 0.328, 0.5, 0.93, 1.0] {
            let axis = Axis::new(0.0, 100.0, max);
            let steps = axis.max / axis.step;
            assert!(axis.max >= max && (steps - steps.round()).abs() < 1e-6, "{max}: {}", axis.max);
            assert!((2.0..=6.5).contains(&steps), "{max}: {steps} steps");
            assert!(axis.at(max) <= 100.0 && axis.at(-0.1) == 0.0);
        }
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("concept:producedby", 12), "conc…ducedby");
        assert_eq!(shortened("Größe", 5), "Größe");
    }
}
