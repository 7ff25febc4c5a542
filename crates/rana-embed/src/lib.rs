//! Embeddings of knowledge graphs: tables of vectors, their files, and how well they predict links.

pub mod link_prediction;
