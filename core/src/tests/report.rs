//! Reports of runs that are told record by record: every figure, class and cause with its exact value.

mod causes;
mod classes;
mod figures;
mod story;
mod times;
