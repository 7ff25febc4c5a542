//! [`Prefixes`]: short names of IRIs, such as `wdt:P740`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Namespaces that people in the field know by their prefix.
const WELL_KNOWN: [(&str, &str); 34] = [
    ("bibo", "http://purl.org/ontology/bibo/"),
    ("dbc", "http://dbpedia.org/resource/Category:"),
    ("dbo", "http://dbpedia.org/ontology/"),
    ("dbp", "http://dbpedia.org/property/"),
    ("dbr", "http://dbpedia.org/resource/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("dct", "http://purl.org/dc/terms/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("geo", "http://www.opengis.net/ont/geosparql#"),
    ("gn", "http://www.geonames.org/ontology#"),
    ("go", "http://purl.obolibrary.org/obo/GO_"),
    ("mesh", "http://id.nlm.nih.gov/mesh/"),
    ("obo", "http://purl.obolibrary.org/obo/"),
    ("org", "http://www.w3.org/ns/org#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("p", "http://www.wikidata.org/prop/"),
    ("pq", "http://www.wikidata.org/prop/qualifier/"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("ps", "http://www.wikidata.org/prop/statement/"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("schema", "http://schema.org/"),
    ("sdo", "https://schema.org/"),
    ("sioc", "http://rdfs.org/sioc/ns#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("vann", "http://purl.org/vocab/vann/"),
    ("vcard", "http://www.w3.org/2006/vcard/ns#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("wd", "http://www.wikidata.org/entity/"),
    ("wdt", "http://www.wikidata.org/prop/direct/"),
    ("wdtn", "http://www.wikidata.org/prop/direct-normalized/"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("yago", "http://yago-knowledge.org/resource/"),
];

/// Prefixes and their namespaces: those that the files of a graph declare, and the well-known ones.
///
/// ```
/// use rana_graph::Prefixes;
/// let mut prefixes = Prefixes::default();
/// prefixes.declare("ex", "http://example.org/terms#");
/// assert_eq!(prefixes.shorten("http://example.org/terms#parent").as_deref(), Some("ex:parent"));
/// assert_eq!(prefixes.shorten("http://www.wikidata.org/prop/direct/P740").as_deref(), Some("wdt:P740"));
/// assert_eq!(prefixes.expand("ex:parent").as_deref(), Some("http://example.org/terms#parent"));
/// assert_eq!(prefixes.shorten("parent"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prefixes {
    /// The declared namespaces by their prefix.
    declared: BTreeMap<String, String>,
}

impl Prefixes {
    /// How many declared prefixes are kept: generated files can declare one for every entity.
    const MOST: usize = 1000;

    /// Adds a prefix of a file. The first meaning of a prefix is kept. The empty prefix is left out: `:name` says less
    /// than the name.
    pub fn declare(&mut self, prefix: &str, namespace: &str) {
        if prefix.is_empty() || namespace.is_empty() || self.declared.len() >= Self::MOST {
            return;
        }
        self.declared.entry(prefix.to_owned()).or_insert_with(|| namespace.to_owned());
    }

    /// Whether no file declared a prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    /// The short name of an IRI, by the longest namespace that leaves a name of one part.
    #[must_use]
    pub fn shorten(&self, iri: &str) -> Option<String> {
        if !iri.contains("://") && !iri.starts_with("urn:") {
            return None;
        }
        let declared = self.declared.iter().map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str()));
        // A well-known prefix that the files use for something else would expand to that.
        let free = |(prefix, _): &(&str, &str)| !self.declared.contains_key(*prefix);
        let known = declared.chain(WELL_KNOWN.into_iter().filter(free));
        let fitting = known.filter_map(|(prefix, namespace)| {
            let local = iri.strip_prefix(namespace)?;
            (!local.is_empty() && !local.contains(['/', '#', ':'])).then_some((
                namespace.len(),
                prefix,
                local,
            ))
        });
        // Of two prefixes of one namespace the first by the alphabet.
        let (_, prefix, local) =
            fitting.max_by_key(|&(length, prefix, _)| (length, std::cmp::Reverse(prefix)))?;
        Some(format!("{prefix}:{local}"))
    }

    /// The IRI of a short name; none if its prefix is unknown.
    #[must_use]
    pub fn expand(&self, short: &str) -> Option<String> {
        let (prefix, local) = short.split_once(':')?;
        let well_known = || WELL_KNOWN.into_iter().find(|(known, _)| *known == prefix).map(|(_, of)| of);
        let namespace = self.declared.get(prefix).map(String::as_str).or_else(well_known)?;
        Some(format!("{namespace}{local}"))
    }
}

/// The last part of an IRI; any other name as it is.
#[must_use]
pub fn last_part(name: &str) -> &str {
    if !name.contains("://") {
        return name;
    }
    let last = name.trim_end_matches(['/', '#', '>']).rsplit(['/', '#']).next().unwrap_or(name);
    if last.is_empty() { name } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_namespace_wins_and_parts_stay_whole() {
        let prefixes = Prefixes::default();
        let short = |iri: &str| prefixes.shorten(iri);
        assert_eq!(short("http://www.wikidata.org/prop/direct/P31").as_deref(), Some("wdt:P31"));
        assert_eq!(short("http://www.wikidata.org/prop/P31").as_deref(), Some("p:P31"));
        assert_eq!(short("http://purl.obolibrary.org/obo/GO_0008150").as_deref(), Some("go:0008150"));
        assert_eq!(short("http://dbpedia.org/resource/AC/DC"), None);
        assert_eq!(short("http://www.wikidata.org/entity/"), None);
    }

    #[test]
    fn short_names_expand_to_what_they_stand_for() {
        for (prefix, namespace) in WELL_KNOWN {
            let iri = format!("{namespace}x");
            let short = Prefixes::default().shorten(&iri).unwrap();
            assert_eq!(Prefixes::default().expand(&short), Some(iri), "{prefix}");
        }
        let mut own = Prefixes::default();
        own.declare("wd", "http://example.org/wood/");
        own.declare("wd", "http://example.org/second/");
        assert_eq!(own.expand("wd:oak").as_deref(), Some("http://example.org/wood/oak"));
        assert_eq!(own.shorten("http://www.wikidata.org/entity/Q1"), None);
        assert_eq!(own.expand("oak"), None);
    }

    #[test]
    fn the_last_part_of_an_iri() {
        for (name, last) in [
            ("http://e.org/a/b", "b"),
            ("http://e.org/a#b", "b"),
            ("http://e.org/a/", "a"),
            ("concept:x:y", "concept:x:y"),
            ("http://", "http:"),
        ] {
            assert_eq!(last_part(name), last);
        }
    }
}
