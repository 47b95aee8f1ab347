//! The coordinator: a pure core that decides, and a thin shell that stores, acts and answers.

pub mod audit;
pub mod cli;
pub mod config;
pub mod core;
pub mod grpc;
pub mod hub;
pub mod journal;
pub mod kernel;
pub mod ops;
pub mod view;
