//! stub
use crate::event::ItemIndex;
use crate::run::Run;
use cantus_proto::message::Part;
use cantus_proto::plan::PlanItem;
use cantus_proto::units::MicroUsd;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remainder {
    pub wall_clock_ms: u64,
    pub tokens: Option<u64>,
    pub cost: Option<MicroUsd>,
}
pub fn parts(
    _run: &Run,
    _w: ItemIndex,
    _p: &[Part],
    _r: &Remainder,
) -> Result<Vec<PlanItem>, String> {
    Err("stub".into())
}
