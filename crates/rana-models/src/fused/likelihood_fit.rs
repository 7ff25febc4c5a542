//! The first fit of trust, by likelihood: a softmax over candidates whose weights are linear in what is learned.
//!
//! That makes the loss convex. Newton's method finds its one minimum, so there is no learning rate, no random
//! start and no early stopping to choose.

use rayon::prelude::*;

use super::example::Example;
use super::trust::TERMS;

/// Where the right candidates are most likely.
pub(super) struct Likely {
    /// The numbers, `[source * TERMS + term]`, for values divided by scales.
    pub(super) at: Vec<f64>,
    /// How fast it becomes less likely around there; symmetric, row by row.
    pub(super) curvature: Vec<f64>,
}

/// Newton's method has arrived long before.
const MOST_STEPS: usize = 50;
/// A step that would gain less is not made.
const SMALL: f64 = 1e-7;

/// What is believed before any example is seen.
pub(super) struct Prior {
    /// The numbers, `[source * TERMS + term]`.
    pub(super) mean: Vec<f64>,
    /// What it costs to leave them: half the square of the distance, times this.
    pub(super) price: Vec<f64>,
    /// What a negative weight of each source costs in each example: half its square, times this.
    pub(super) against: Vec<f64>,
}

/// The numbers that make the right candidates of all examples most likely, each example counting the same, less what it
/// costs to leave the prior.
pub(super) fn fit(examples: &[&Example], scales: &[f32], prior: &Prior) -> Likely {
    let mut at = prior.mean.clone();
    let mut here = Local::of(examples, scales, &at, prior, true);
    for _ in 0..MOST_STEPS {
        let Some(step) = solve(&here.curvature, &here.gradient) else { break };
        let gain: f64 = step.iter().zip(&here.gradient).map(|(step, gradient)| step * gradient).sum();
        if gain < SMALL {
            break;
        }
        // Newton's step may be too long far from the minimum.
        let mut length = 1.0;
        let next = loop {
            let there: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at - length * step).collect();
            let loss = Local::of(examples, scales, &there, prior, false).loss;
            if loss <= here.loss - 0.1 * length * gain {
                break Some(there);
            }
            length /= 2.0;
            if length < 1e-4 {
                break None;
            }
        };
        let Some(next) = next else { break };
        at = next;
        here = Local::of(examples, scales, &at, prior, true);
    }
    Likely { at, curvature: here.curvature }
}

/// The loss at a place, its gradient and its curvature.
struct Local {
    loss: f64,
    gradient: Vec<f64>,
    /// Symmetric, row by row.
    curvature: Vec<f64>,
}

impl Local {
    fn of(examples: &[&Example], scales: &[f32], at: &[f64], prior: &Prior, is_full: bool) -> Self {
        let parts: Vec<Self> = examples
            .par_iter()
            .map(|example| Self::of_example(example, scales, at, prior, is_full))
            .collect();
        let way: Vec<f64> = at.iter().zip(&prior.mean).map(|(at, mean)| at - mean).collect();
        let price = |place: usize| prior.price[place];
        let cost = |(place, way): (usize, &f64)| 0.5 * price(place) * way * way;
        let mut sum = Self {
            loss: way.iter().enumerate().map(cost).sum(),
            gradient: way.iter().enumerate().map(|(place, way)| price(place) * way).collect(),
            curvature: vec![0.0; at.len() * at.len()],
        };
        (0..at.len()).for_each(|place| sum.curvature[place * at.len() + place] = price(place));
        let share = 1.0 / examples.len() as f64;
        // In order, whatever the threads did.
        for part in parts {
            sum.loss += share * part.loss;
            sum.gradient.iter_mut().zip(&part.gradient).for_each(|(sum, part)| *sum += share * part);
            sum.curvature.iter_mut().zip(&part.curvature).for_each(|(sum, part)| *sum += share * part);
        }
        sum
    }

    fn of_example(example: &Example, scales: &[f32], at: &[f64], prior: &Prior, is_full: bool) -> Self {
        let sources = scales.len();
        let weights = example.weights(scales, at);
        let share = 1.0 / example.queries.len() as f64;
        let (mut loss, mut slope, mut spread) = (0.0, vec![0.0; sources], vec![0.0; sources * sources]);
        for query in &example.queries {
            let mut chances: Vec<f32> = query
                .rows
                .chunks_exact(sources)
                .zip(&query.stands_for)
                .map(|(row, offset)| offset + row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f32>())
                .collect();
            let most = chances.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let right = chances[0] - most;
            let mut total = 0.0_f64;
            for chance in &mut chances {
                *chance = (*chance - most).exp();
                total += f64::from(*chance);
            }
            loss += share * (total.ln() - f64::from(right));
            if !is_full {
                continue;
            }
            let mut mean = vec![0.0_f32; sources];
            let mut products = vec![0.0_f32; sources * sources];
            for (row, chance) in query.rows.chunks_exact(sources).zip(&chances) {
                let chance = *chance / total as f32;
                // Most candidates are out of the question.
                if chance < 1e-9 {
                    continue;
                }
                for (source, &value) in row.iter().enumerate() {
                    let part = chance * value;
                    mean[source] += part;
                    for (product, other) in products[source * sources..][..=source].iter_mut().zip(row) {
                        *product += part * other;
                    }
                }
            }
            for source in 0..sources {
                slope[source] += share * f64::from(mean[source] - query.rows[source]);
                for other in 0..=source {
                    let spread = &mut spread[source * sources + other];
                    *spread +=
                        share * f64::from(products[source * sources + other] - mean[source] * mean[other]);
                }
            }
        }
        for (source, (&weight, record)) in weights.iter().zip(&example.records).enumerate() {
            let below = f64::from((weight * record.spread).min(0.0));
            if below < 0.0 {
                let (price, by_weight) = (prior.against[source], f64::from(record.spread));
                loss += 0.5 * price * below * below;
                slope[source] += price * below * by_weight;
                spread[source * sources + source] += price * by_weight * by_weight;
            }
        }
        let count = sources * TERMS;
        let (mut gradient, mut curvature) = (vec![0.0; count], vec![0.0; count * count]);
        if is_full {
            gradient = example.by_term(scales, &slope);
            let terms = example.terms();
            let factor = |source: usize, term: usize| f64::from(terms[source][term] / scales[source]);
            for source in 0..sources {
                for term in 0..TERMS {
                    let row = source * TERMS + term;
                    for other in 0..sources {
                        let spread = spread[source.max(other) * sources + source.min(other)];
                        for other_term in 0..TERMS {
                            curvature[row * count + other * TERMS + other_term] =
                                spread * factor(source, term) * factor(other, other_term);
                        }
                    }
                }
            }
        }
        Self { loss, gradient, curvature }
    }
}

/// Solves `matrix · x = right` for a symmetric positive definite matrix by Cholesky's method; none if it is not.
pub(super) fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let count = right.len();
    let mut lower = vec![0.0; count * count];
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| lower[row * count + k] * lower[column * count + k]).sum();
            let rest = matrix[row * count + column] - known;
            lower[row * count + column] = match row == column {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / lower[column * count + column],
            };
        }
    }
    let mut x = right.to_vec();
    for row in 0..count {
        let known: f64 = (0..row).map(|k| lower[row * count + k] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row * count + row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|k| lower[k * count + row] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row * count + row];
    }
    Some(x)
}
