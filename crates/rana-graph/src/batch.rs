//! [`FactBatch`]: facts by name, gathered to be added to a graph together.

/// How many facts are worth gathering: their cache misses overlap, and their text stays in cache.
const FULL: usize = 1024;

/// A batch of facts by name, with the line each stood in.
#[derive(Debug, Default)]
pub(crate) struct FactBatch {
    text: String,
    /// For each fact where head, relation and tail end in `text`, and its line.
    entries: Vec<([usize; 3], Option<u64>)>,
}

impl FactBatch {
    /// Adds a fact; `true` if the batch is now full.
    #[must_use]
    pub(crate) fn push(&mut self, names: [&str; 3], line: Option<u64>) -> bool {
        let ends = names.map(|name| {
            self.text.push_str(name);
            self.text.len()
        });
        self.entries.push((ends, line));
        self.entries.len() >= FULL
    }

    /// The facts by name, each with its line.
    pub(crate) fn facts(&self) -> Vec<([&str; 3], Option<u64>)> {
        let mut start = 0;
        self.entries
            .iter()
            .map(|&([head, relation, tail], line)| {
                let names = [&self.text[start..head], &self.text[head..relation], &self.text[relation..tail]];
                start = tail;
                (names, line)
            })
            .collect()
    }

    /// Forgets all facts and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_in_order() {
        let mut batch = FactBatch::default();
        assert!(!batch.push(["a", "", "bc"], Some(1)));
        assert!(!batch.push(["é", "r", "a"], None));
        assert_eq!(batch.facts(), [(["a", "", "bc"], Some(1)), (["é", "r", "a"], None)]);
        batch.clear();
        assert!(batch.facts().is_empty());
        assert!((1..FULL).all(|_| !batch.push(["a", "b", "c"], None)));
        assert!(batch.push(["a", "b", "c"], None));
    }
}
