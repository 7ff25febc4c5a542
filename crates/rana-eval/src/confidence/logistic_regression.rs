//! Logistic regression on a handful of numbers, by Newton's method: it has one solution.

/// A price on large weights, per example: it only matters where examples do not tell.
const RIDGE: f64 = 1e-4;
const STEPS: usize = 100;
/// Weights that move less than this are there.
const STILL: f64 = 1e-10;

/// `1 / (1 + exp(−x))`.
pub(super) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// The weights under which the examples are most likely; the last one is for the constant, and free.
pub(super) fn fit<const TERMS: usize>(examples: &[([f64; TERMS], bool)]) -> [f64; TERMS] {
    let mut weights = [0.0; TERMS];
    if examples.is_empty() {
        return weights;
    }
    let price = RIDGE * examples.len() as f64;
    let cost = |weights: &[f64; TERMS]| {
        let likely: f64 = examples
            .iter()
            .map(|(terms, right)| {
                let x = dot(weights, terms);
                let x = if *right { -x } else { x };
                if x > 30.0 { x } else { x.exp().ln_1p() }
            })
            .sum();
        likely + 0.5 * price * weights[..TERMS - 1].iter().map(|weight| weight * weight).sum::<f64>()
    };
    for _ in 0..STEPS {
        let mut gradient = [0.0; TERMS];
        let mut curvature = [[0.0; TERMS]; TERMS];
        for (terms, right) in examples {
            let chance = sigmoid(dot(&weights, terms));
            let error = chance - f64::from(*right);
            let steepness = (chance * (1.0 - chance)).max(1e-12);
            for row in 0..TERMS {
                gradient[row] += error * terms[row];
                for column in 0..TERMS {
                    curvature[row][column] += steepness * terms[row] * terms[column];
                }
            }
        }
        for at in 0..TERMS {
            if at + 1 < TERMS {
                gradient[at] += price * weights[at];
                curvature[at][at] += price;
            }
            // Where all examples agree the constant has no end; this keeps it finite.
            curvature[at][at] += 1e-9;
        }
        let step = solve(curvature, gradient);
        // A whole step may overshoot.
        let before = cost(&weights);
        let mut length = 1.0;
        let mut next = moved(&weights, &step, length);
        while cost(&next) > before && length > 1e-6 {
            length *= 0.5;
            next = moved(&weights, &step, length);
        }
        weights = next;
        if step.iter().all(|by| (length * by).abs() < STILL) {
            break;
        }
    }
    weights
}

fn moved<const TERMS: usize>(weights: &[f64; TERMS], step: &[f64; TERMS], length: f64) -> [f64; TERMS] {
    std::array::from_fn(|at| weights[at] - length * step[at])
}

pub(super) fn dot<const TERMS: usize>(weights: &[f64; TERMS], terms: &[f64; TERMS]) -> f64 {
    weights.iter().zip(terms).map(|(weight, term)| weight * term).sum()
}

/// Solves a small system by Gaussian elimination with pivots.
fn solve<const TERMS: usize>(mut matrix: [[f64; TERMS]; TERMS], mut right: [f64; TERMS]) -> [f64; TERMS] {
    for at in 0..TERMS {
        let largest =
            (at..TERMS).max_by(|&one, &other| matrix[one][at].abs().total_cmp(&matrix[other][at].abs()));
        let pivot = largest.unwrap_or(at);
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        let (row, of_row) = (matrix[at], right[at]);
        for (below, of_below) in matrix[at + 1..].iter_mut().zip(&mut right[at + 1..]) {
            let factor = below[at] / row[at];
            below.iter_mut().zip(&row).for_each(|(value, above)| *value -= factor * above);
            *of_below -= factor * of_row;
        }
    }
    for at in (0..TERMS).rev() {
        let known: f64 = (at + 1..TERMS).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_weights_that_made_the_examples() {
        let true_weights = [1.5, -0.7, 0.4, -1.0];
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let examples: Vec<_> = (0..40_000)
            .map(|_| {
                let terms = [4.0 * uniform() - 2.0, 4.0 * uniform() - 2.0, 4.0 * uniform() - 2.0, 1.0];
                (terms, uniform() < sigmoid(dot(&true_weights, &terms)))
            })
            .collect();
        for (found, expected) in fit(&examples).iter().zip(true_weights) {
            assert!((found - expected).abs() < 0.06, "{found} for {expected}");
        }
    }

    #[test]
    fn examples_that_all_agree_give_finite_weights() {
        let weights = fit(&vec![([1.0, 0.0, 0.5, 1.0], false); 50]);
        assert!(weights.iter().all(|weight| weight.is_finite()), "{weights:?}");
        assert!(sigmoid(dot(&weights, &[1.0, 0.0, 0.5, 1.0])) < 0.05);
    }
}
