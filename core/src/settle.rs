//! What follows from how an attempt ended: what it cost, what it wished, what it learned, and what comes next.

use cantus_proto::ids::{AttemptNumber, RunId};
use cantus_proto::message::{
    AttemptKind, Diagnosis, Failed, Learning, Phase, Proposal, Remedy, Saved, Usage, WorkResult,
};

use crate::event::ItemIndex;
use crate::item::{Attempt, Item, State};
use crate::record::{Decision, Ending, Fact, ItemFact, Spent};
use crate::results::commits;
use crate::{Core, Step, breaker, budget, split, text};

/// Learnings of one attempt that are kept: more is not a rule but a diary.
const LEARNINGS_PER_ATTEMPT_MAX: usize = 20;
/// Wishes of one attempt that are decided on.
const PROPOSALS_PER_ATTEMPT_MAX: usize = 10;

/// What is known of what an attempt used.
enum Told<'a> {
    /// It said so at its end; nothing if it did not measure.
    AtTheEnd(Option<&'a Usage>),
    /// It cannot be asked any more.
    Nothing,
}

impl Core {
    pub(crate) fn delivered(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        result: WorkResult,
    ) {
        let number = self.runs[run].item(place).last_number();
        if !matches!(self.runs[run].item(place).state, State::Working) {
            step.refused.push(format!(
                "attempt {number} of {run} is a verification; its result is refused"
            ));
            return;
        }
        let unmeasured = self.unmeasured(run, place, result.usage.as_ref());
        self.account_for(step, run, place, &Told::AtTheEnd(result.usage.as_ref()), &result.phases);
        self.listen(step, run, place, &result.learnings, &result.proposals);
        if let Some(reason) = unmeasured {
            if let Some(commits) = commits(&result) {
                let kept = Saved { commits, reason: reason.clone() };
                self.commit_item(
                    step,
                    run,
                    place,
                    ItemFact::Saved(number, kept.commits, kept.reason),
                );
            }
            self.lose(step, run, place, Ending::Unmeasured, reason);
            return;
        }
        self.commit_item(step, run, place, ItemFact::Delivered(number, Box::new(result)));
        self.settle(step, run, place);
        step.actions.extend(self.effect(step.at, run, place));
    }

    pub(crate) fn failed(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        failed: Failed,
    ) {
        let works = matches!(self.runs[run].item(place).state, State::Working);
        if works {
            let told = match &failed.usage {
                Some(usage) => Told::AtTheEnd(Some(usage)),
                None => Told::Nothing,
            };
            self.account_for(step, run, place, &told, &failed.phases);
            self.listen(step, run, place, &failed.learnings, &failed.proposals);
        }
        self.lose(step, run, place, Ending::Failed(failed.kind), failed.reason);
    }

    /// Ends the open attempt; tries again while the limits allow it.
    pub(crate) fn lose(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        ending: Ending,
        reason: String,
    ) {
        let number = self.runs[run].item(place).last_number();
        self.close_account(step, run, place);
        self.commit_item(step, run, place, ItemFact::Ended(number, ending, text::cut(reason)));
        self.settle(step, run, place);
    }

    /// An attempt that ends without having told what it used costs what is known of it.
    pub(crate) fn close_account(&mut self, step: &mut Step, run: &RunId, place: ItemIndex) {
        let open = self.runs[run].item(place).attempts.last();
        let open = open.filter(|attempt| attempt.ended.is_none() && attempt.spent.is_none());
        if open.is_some_and(|a| a.leased.is_some() && a.kind != AttemptKind::Verify) {
            self.account_for(step, run, place, &Told::Nothing, &[]);
        }
    }

    /// Decides what follows from the item's state alone: what its agent asked for, that its limits are used up, or
    /// that there is nowhere to land. Also asked after a replay, because the journal may end between two records
    /// of one decision.
    pub(crate) fn settle(&mut self, step: &mut Step, run: &RunId, place: ItemIndex) {
        let (lands, item) = (self.runs[run].repository.is_some(), self.runs[run].item(place));
        if matches!(item.state, State::Gating) && !lands {
            self.commit_item(step, run, place, ItemFact::Reported);
            return;
        }
        let remedy = breaker::remedy(item).filter(|(number, diagnosis)| {
            let proposals = item.attempt(*number).map_or(&[][..], Attempt::proposals);
            let is = |wish: &Proposal| matches!(wish, Proposal::Diagnosis(d) if d == *diagnosis);
            proposals.iter().any(|(wish, decision)| is(wish) && *decision == Decision::Pending)
        });
        if let (State::Ready, Some((number, diagnosis))) = (&item.state, remedy) {
            let diagnosis = diagnosis.clone();
            self.follow(step, run, place, number, &diagnosis);
        }
        let item = self.runs[run].item(place);
        if let Some(why) = item.used_up(self.settings.checks_max) {
            self.park(step, run, place, why);
        }
    }

    /// Acts on an agent's own diagnosis (SPEC E8).
    fn follow(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        number: AttemptNumber,
        diagnosis: &Diagnosis,
    ) {
        self.refuse_older(step, run, place, number);
        let wish = Box::new(Proposal::Diagnosis(diagnosis.clone()));
        let proposed = |decision| ItemFact::Proposed(number, wish.clone(), decision);
        match &diagnosis.remedy {
            Remedy::Retry | Remedy::Escalate => {
                self.commit_item(step, run, place, proposed(Decision::Confirmed));
            }
            Remedy::Skip => {
                self.commit_item(step, run, place, proposed(Decision::Confirmed));
                let why = format!("its agent asks for a person: {}", diagnosis.reason);
                self.park(step, run, place, why);
            }
            Remedy::Split(parts) => {
                let found = &self.runs[run];
                let remainder = budget::remainder(found, found.item(place), step.at);
                match split::parts(found, place, parts, &remainder) {
                    Ok(items) => {
                        self.commit_item(step, run, place, proposed(Decision::Confirmed));
                        self.commit_item(step, run, place, ItemFact::Split(number, items));
                    }
                    Err(why) => {
                        let refused = Decision::Refused(text::cut(why));
                        self.commit_item(step, run, place, proposed(refused));
                    }
                }
            }
        }
    }

    /// Diagnoses of earlier attempts that were never acted on are overtaken by this one's.
    fn refuse_older(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        newest: AttemptNumber,
    ) {
        let item = self.runs[run].item(place);
        let before = item.attempts.iter().zip(1..newest.0);
        let open = before.flat_map(|(attempt, number)| {
            let proposals = attempt.proposals().iter();
            let open = proposals.filter(|(wish, decision)| {
                matches!(wish, Proposal::Diagnosis(_)) && *decision == Decision::Pending
            });
            open.map(move |(wish, _)| (AttemptNumber(number), wish.clone()))
        });
        for (number, wish) in open.collect::<Vec<_>>() {
            let refused =
                Decision::Refused(format!("attempt {newest} failed too, and its own counts"));
            self.commit_item(step, run, place, ItemFact::Proposed(number, Box::new(wish), refused));
        }
    }

    /// Writes down what an attempt learned and wished. Nothing of it is decided yet.
    fn listen(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        learnings: &[Learning],
        proposals: &[Proposal],
    ) {
        let number = self.runs[run].item(place).last_number();
        // A journal that was cut within this decision has some of it already.
        let attempt = self.runs[run].item(place).attempts.last();
        let exchange = attempt.and_then(|attempt| attempt.exchange.as_deref());
        let (learned, wished) =
            exchange.map_or((Vec::new(), Vec::new()), |e| (e.learned.clone(), e.proposals.clone()));
        let new = learnings.iter().take(LEARNINGS_PER_ATTEMPT_MAX);
        for learning in new.filter(|learning| !learned.contains(&learning.id)) {
            let fact = ItemFact::Learned(number, Box::new(learning.clone()));
            self.commit_item(step, run, place, fact);
        }
        let mut known: Vec<&Proposal> = Vec::new();
        for wish in proposals.iter().filter(|wish| !wished.iter().any(|(old, _)| old == *wish)) {
            if !matches!(wish, Proposal::Note(_)) && !known.contains(&wish) {
                known.push(wish);
            }
        }
        for wish in known.into_iter().take(PROPOSALS_PER_ATTEMPT_MAX) {
            let fact = ItemFact::Proposed(number, Box::new(wish.clone()), Decision::Pending);
            self.commit_item(step, run, place, fact);
        }
    }

    /// Confirms or refuses the markers of completion of the present work (SPEC E10).
    pub(crate) fn answer_markers(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        decision: &Decision,
    ) {
        let Some((number, _)) = self.runs[run].item(place).work() else { return };
        let attempt = self.runs[run].item(place).attempt(number);
        let pending = attempt.map_or(&[][..], Attempt::proposals).iter();
        let pending = pending.filter(|(wish, decided)| {
            *decided == Decision::Pending && matches!(wish, Proposal::Done | Proposal::Partial(_))
        });
        for wish in pending.map(|(wish, _)| wish.clone()).collect::<Vec<_>>() {
            let decision = match (&wish, decision) {
                // Who says that it is not whole is right when the kernel says so too.
                (Proposal::Partial(_), Decision::Refused(_)) => Decision::Confirmed,
                (_, decision) => decision.clone(),
            };
            self.commit_item(
                step,
                run,
                place,
                ItemFact::Proposed(number, Box::new(wish), decision),
            );
        }
    }

    /// Replaces the open attempt's reservation by what it cost, and warns where most of a budget is spent.
    fn account_for(
        &mut self,
        step: &mut Step,
        run_id: &RunId,
        place: ItemIndex,
        told: &Told<'_>,
        phases: &[Phase],
    ) {
        let run = &self.runs[run_id];
        let item = run.item(place);
        let Some(attempt) = item.attempts.last() else { return };
        let prices = &self.settings.rules.prices;
        let mut spent = match told {
            Told::AtTheEnd(Some(usage)) => budget::measured(usage, prices),
            Told::AtTheEnd(None) => Spent::default(),
            Told::Nothing => {
                let heard = item.open_lease().and_then(|lease| self.watches.get(lease));
                budget::estimated(attempt, heard.and_then(|heard| heard.usage()), prices, step.at)
            }
        };
        spent.phases = phases.to_vec();
        if spent == (Spent { estimated: spent.estimated, ..Spent::default() }) {
            return;
        }
        let number = item.last_number();
        let warnings = budget::item_warnings(item, &spent, step.at);
        self.commit_item(step, run_id, place, ItemFact::Settled(number, Box::new(spent)));
        for warning in warnings {
            self.commit_item(step, run_id, place, ItemFact::Warned(warning));
        }
        for warning in budget::run_warnings(&self.runs[run_id]) {
            self.commit(step, run_id, Fact::RunWarned(warning));
        }
    }

    /// Why a result cannot count although it may be good: what it cost is not known, and must be.
    fn unmeasured(&self, run: &RunId, place: ItemIndex, usage: Option<&Usage>) -> Option<String> {
        let run = &self.runs[run];
        let (tokens, cost) = budget::must_measure(run, run.item(place));
        match usage {
            None if tokens || cost => Some(
                "there is a token or money budget, and the use of models was not measured: let the \
                 agent write usage.jsonl, or say `usage: none` in its role if it calls no model"
                    .to_owned(),
            ),
            Some(usage) if cost => self.settings.rules.prices.missing(usage).map(|model| {
                format!(
                    "there is a money budget, and the price of model {model:?} is not known: add \
                     it to the price table"
                )
            }),
            _ => None,
        }
    }

    /// Ends every work attempt of a run and lets none begin: its time is over. What was handed in goes on to its
    /// verdict.
    pub(crate) fn stop_run(&mut self, step: &mut Step, run: &RunId) {
        let minutes = self.runs[run].budgets.wall_clock_minutes.unwrap_or_default();
        let why = format!("the run's wall clock of {minutes} min is used up");
        let works =
            |item: &Item| matches!(item.state, State::Ready | State::Queued | State::Working);
        let places: Vec<ItemIndex> = self.places(run, works);
        for place in places {
            if matches!(self.runs[run].item(place).state, State::Working) {
                self.lose(step, run, place, Ending::OverBudget, why.clone());
            }
            self.withdraw(step, run, place);
            if !self.runs[run].item(place).state.is_terminal() {
                self.park(step, run, place, why.clone());
            }
        }
    }

    pub(crate) fn places(&self, run: &RunId, test: impl Fn(&Item) -> bool) -> Vec<ItemIndex> {
        let Some(run) = self.runs.get(run) else { return Vec::new() };
        let places = run.items.iter().enumerate().filter(|(_, item)| test(item));
        places.map(|(place, _)| crate::run::index(place)).collect()
    }

    pub(crate) fn park(&mut self, step: &mut Step, run: &RunId, place: ItemIndex, why: String) {
        self.commit_item(step, run, place, ItemFact::Parked(text::cut(why)));
        step.actions.extend(self.effect(step.at, run, place));
    }
}
