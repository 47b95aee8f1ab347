//! Routing (SPEC E3, B14): which model works on an item, and how hard it should try.
//!
//! Size chooses the model; repeated failure chooses the strong one and high effort, and keeps them until a person
//! puts the item back.

use cantus_proto::message::{AttemptKind, Route};
use cantus_proto::plan::{Complexity, Effort};

use crate::breaker;
use crate::item::Item;
use crate::record::Breaker;
use crate::rules::Rules;

/// Failures after which an item is escalated, breaker or not.
const FAILURES_MAX: usize = 2;

/// The route of the item's next attempt of this kind.
#[must_use]
pub fn route(item: &Item, rules: &Rules, kind: AttemptKind, breaker: Option<Breaker>) -> Route {
    let escalated =
        breaker.is_some() || breaker::failures(item) >= FAILURES_MAX || was_escalated(item);
    let strong = escalated || matches!(item.complexity, Complexity::Large | Complexity::ExtraLarge);
    let model = if strong { &rules.routing.strong } else { &rules.routing.fast };
    let usual = match kind {
        AttemptKind::Produce | AttemptKind::Repair => Effort::Medium,
        AttemptKind::Verify => Effort::High,
    };
    let effort = if escalated { Effort::High } else { item.effort.unwrap_or(usual) };
    Route { model: model.clone(), effort }
}

/// Whether an attempt since a person last put the item back was escalated.
fn was_escalated(item: &Item) -> bool {
    let before = item.remarks.as_deref().map_or(0, |remarks| remarks.attempts_before_requeue);
    item.attempts.iter().skip(before).any(|attempt| attempt.dispatch.breaker.is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cantus_proto::message::FailureKind;

    use super::*;
    use crate::item::Outcome;
    use crate::record::{Dispatch, Ending};
    use crate::rules::Routing;
    use crate::tests::samples::{self, tried};

    const KINDS: [AttemptKind; 3] =
        [AttemptKind::Produce, AttemptKind::Repair, AttemptKind::Verify];

    fn rules() -> Rules {
        let routing = Routing { fast: "fast".to_owned(), strong: "strong".to_owned() };
        Rules { routing, ..Rules::default() }
    }

    fn to(item: &Item, kind: AttemptKind, breaker: Option<Breaker>) -> (String, Effort) {
        let route = route(item, &rules(), kind, breaker);
        (route.model, route.effort)
    }

    fn produce(item: &Item) -> (String, Effort) {
        to(item, AttemptKind::Produce, None)
    }

    fn failing(times: usize) -> Item {
        let mut item = samples::item();
        for _ in 0..times {
            let why = Outcome::InVain(Ending::Failed(FailureKind::Agent), String::new());
            tried(&mut item, AttemptKind::Produce, Some(why));
        }
        item
    }

    fn strong() -> (String, Effort) {
        ("strong".to_owned(), Effort::High)
    }

    #[test]
    fn size_chooses_the_model_and_kind_the_effort() {
        let mut item = samples::item();
        let models = Complexity::ALL.map(|complexity| {
            item.complexity = complexity;
            KINDS.map(|kind| to(&item, kind, None))
        });
        for (place, name) in ["fast", "fast", "strong", "strong"].into_iter().enumerate() {
            let expected =
                [Effort::Medium, Effort::Medium, Effort::High].map(|e| (name.to_owned(), e));
            assert_eq!(models[place], expected);
        }
        let plain = route(&item, &Rules::default(), AttemptKind::Produce, None);
        assert_eq!(plain, Route { model: String::new(), effort: Effort::Medium });
    }

    #[test]
    fn a_breaker_or_two_failures_escalate() {
        assert_eq!(produce(&failing(1)), ("fast".to_owned(), Effort::Medium));
        assert_eq!(produce(&failing(2)), strong());
        let stuck = to(&failing(1), AttemptKind::Produce, Some(Breaker::Stuck));
        assert_eq!(stuck, strong());
    }

    #[test]
    fn the_plans_effort_lowers_no_escalation() {
        let low = |times| Item { effort: Some(Effort::Low), ..failing(times) };
        assert_eq!(KINDS.map(|kind| to(&low(0), kind, None).1), [Effort::Low; 3]);
        assert_eq!(produce(&low(2)), strong());
    }

    #[test]
    fn what_was_escalated_stays_so_until_a_person_puts_it_back() {
        let mut item = failing(1);
        item.attempts[0].dispatch =
            Arc::new(Dispatch { breaker: Some(Breaker::Predicted), ..Dispatch::default() });
        // As after a split: failures are counted anew.
        item.attempts_before = 1;
        assert_eq!(produce(&item), strong());
        item.remarks_mut().attempts_before_requeue = 1;
        assert_eq!(produce(&item), ("fast".to_owned(), Effort::Medium));
    }
}
