//! The coordinator: the thin shell around the pure core, which stores, acts and answers.

pub mod artifact;
pub mod audit;
pub mod cli;
pub mod config;
pub mod export;
pub mod grpc;
pub mod hub;
pub mod kernel;
pub mod ops;
pub mod replay;
pub mod report;
pub mod view;
