//! stub
use crate::rules::Prices;
use cantus_proto::message::Usage;
use cantus_proto::units::MicroUsd;
impl Prices {
    pub fn of(&self, u: &Usage) -> Option<MicroUsd> {
        if u.unpriced.is_empty() { Some(u.cost) } else { None }
    }
    pub fn missing<'a>(&self, u: &'a Usage) -> Option<&'a str> {
        u.unpriced.first().map(|m| m.model.as_str())
    }
}
