//! stub
use crate::item::Item;
use crate::record::Breaker;
use crate::rules::Rules;
use cantus_proto::message::{AttemptKind, Route};
use cantus_proto::plan::Effort;
pub fn route(_item: &Item, _rules: &Rules, kind: AttemptKind, _b: Option<Breaker>) -> Route {
    Route {
        model: String::new(),
        effort: if kind == AttemptKind::Verify { Effort::High } else { Effort::Medium },
    }
}
