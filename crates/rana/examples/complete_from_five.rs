//! Learns from a graph, completes a relation from five pairs, and says how sure each answer is and why.
//!
//! The same program is in the README, and `tests/learn.rs` runs it.

// A test calls it; your own is just `fn main`.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A small graph that comes with rana, without one of its relations. Your own: rana::learn(["facts.tsv"], "learned").
    let learning = rana::Learning { leave_out: vec!["causes".to_owned()], ..Default::default() };
    let predictor = learning.learn([rana::umls()], "learned-umls", &())?;
    let five = [
        ("bacterium", "pathologic_function"),
        ("fungus", "disease_or_syndrome"),
        ("antibiotic", "congenital_abnormality"),
        ("enzyme", "neoplastic_process"),
        ("food", "acquired_abnormality"),
    ];
    let causes = predictor.learn_named("causes", &five)?;
    for answer in causes.answers("virus", 3)? {
        let sure = answer.confidence.map_or("?".to_owned(), |sure| format!("{:.0} %", 100.0 * sure));
        println!("virus causes {} ({sure}): {}", answer.label, answer.reason);
    }
    Ok(())
}
