//! What can go wrong, how often, and how often it did.

use std::collections::BTreeMap;

use crate::random::Random;

/// Kinds of faults, with how many of a thousand chances each takes in a seed that has it.
macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident $rate:literal,)*) => {
        /// See the module.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $($(#[$doc])* $name,)* }

        impl Fault {
            /// All of them, with their rates.
            pub const ALL: &[(Self, u64)] = &[$((Self::$name, $rate),)*];
        }
    };
}

faults! {
    /// A report whose sender died before the bus had it.
    ReportLost 20,
    /// A report is stored twice.
    ReportDuplicated 60,
    /// A report arrives seconds late, after later ones.
    ReportDelayed 60,
    /// A report arrives minutes late.
    ReportLate 20,
    /// Bytes that are no report.
    Nonsense 300,
    /// A heartbeat or its answer is lost.
    HeartbeatLost 50,
    /// An attempt is lost on its way to the queue and published again.
    PublishLost 60,
    /// An attempt is queued, and its publisher does not hear of it.
    PublishAckLost 60,
    /// The acknowledgement of a taken attempt is lost.
    WorkAckLost 60,
    /// Somebody acknowledges what another holds or nobody has taken.
    WorkAckForged 300,
    /// The bus forgets acknowledgements and who has what, as after a kill.
    QueueForgets 500,
    /// An append is stored and its answer lost.
    AppendAckLost 40,
    /// The bus is away for seconds or minutes.
    BusAway 400,
    /// The bus is away for longer than a coordinator waits for an append.
    BusAwayLong 300,
    /// The bus comes back with an old store, journal included.
    BusRestored 250,
    /// A taker dies before it says `Leased`.
    TakerDied 50,
    /// A taker says `Leased` only when others have been given its attempt.
    TakerSlow 50,
    /// A worker or verifier dies and its pool tells.
    HolderDied 40,
    /// It dies and nobody tells.
    HolderDiedUnseen 40,
    /// A whole host goes down and comes back.
    HostDied 400,
    /// A holder is stopped and goes on much later.
    HolderPaused 15,
    /// A holder beats for ever and does nothing.
    HolderHangs 50,
    /// Its heartbeats show no artifact.
    NoArtifact 60,
    /// They show rounds and rounds without a commit.
    NoCommits 60,
    /// They tell of something that only a person can help with.
    Blocked 40,
    /// They tell of use beyond every budget.
    Spendthrift 60,
    /// An agent gives up.
    AgentFails 200,
    /// The result touches what it may not.
    OutOfScope 100,
    /// The result does not do what the contract asks for.
    WrongWork 150,
    /// The result does not merge.
    Conflict 200,
    /// The hub does not take the result in.
    ResultRefused 60,
    /// Texts without end, with control characters.
    HostileText 150,
    /// A result is handed in twice, once more after its end.
    HandedInAgain 80,
    /// Wishes that mean nothing, or split an item into a cycle.
    NonsenseProposed 300,
    /// An agent gives up and asks for a split, sound or not.
    SplitAsked 200,
    /// Use of models that is not measured, or enormous.
    UsageUnknown 100,
    /// Somebody leases what the queue never gave them.
    LeaseForged 300,
    /// A report under a lease that nobody holds.
    ReportForged 300,
    /// A verifier hands in evidence of other work.
    EvidenceReplayed 60,
    /// A verifier checked another tree.
    EvidenceOfOtherTree 60,
    /// A verifier whose key nobody trusts.
    EvidenceUntrusted 60,
    /// A verifier leaves a criterion out.
    EvidenceMissing 60,
    /// A verifier's checker cannot run.
    Inconclusive 100,
    /// The producer's own container takes the verification.
    ProducerVerifies 100,
    /// A taker of another role.
    WrongRole 50,
    /// Clocks that differ by minutes.
    ClockSkewed 500,
    /// Somebody else moves the target.
    HeadMoved 300,
    /// Somebody else moves it without changing a file.
    HeadMovedEmpty 200,
    /// An effect of the hub fails for good.
    EffectFailed 30,
    /// An effect is carried out and its answer is lost with the coordinator.
    AnswerLost 0,
    /// An effect's answer comes twice, once late.
    AnsweredTwice 120,
    /// An effect takes minutes.
    EffectSlow 80,
    /// The coordinator dies before it appends what it decided.
    KilledBeforeAppend 8,
    /// It dies between two appends of one turn.
    KilledAmidAppends 300,
    /// It dies when all is stored and nothing done.
    KilledAfterAppend 8,
    /// It dies after some of what it was to do.
    KilledAmidActions 8,
    /// It dies while nothing happens.
    KilledIdle 250,
    /// A second one is alive at the same time.
    SecondCoordinator 250,
    /// A person cancels a run.
    RunCancelled 30,
    /// A person cancels an item.
    ItemCancelled 200,
    /// A person cancels an item while it lands, and somebody may push at the same time.
    CancelledWhileLanding 100,
    /// A person puts items back.
    ItemRequeued 500,
    /// A person lets through what the gates kept out.
    ResultApproved 400,
    /// A person has a result checked again.
    CheckedAgain 400,
    /// The same run is submitted again.
    SubmittedTwice 100,
    /// Nobody has a role for some time.
    RoleMissing 250,
}

/// Which faults this seed has, and which there were.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    rates: BTreeMap<Fault, u64>,
    seen: BTreeMap<Fault, u64>,
    calm: bool,
}

impl Weather {
    /// Every seed has some of the faults, so that each gets room to do harm; some seeds have few.
    pub(crate) fn new(random: &mut Random) -> Self {
        let share = [10, 30, 60, 90][random.place(4)];
        let rates = Fault::ALL.iter().filter_map(|(fault, rate)| {
            let stronger = random.between(1, 3);
            random.chance(share).then_some((*fault, (rate * stronger).min(900)))
        });
        Self { rates: rates.collect(), seen: BTreeMap::new(), calm: false }
    }

    /// Whether this goes wrong now.
    pub(crate) fn strikes(&mut self, random: &mut Random, fault: Fault) -> bool {
        let rate = self.rates.get(&fault).copied().unwrap_or(0);
        if self.calm || rate == 0 {
            return false;
        }
        let strikes = random.below(1_000) < rate;
        if strikes {
            self.count(fault);
        }
        strikes
    }

    pub(crate) fn count(&mut self, fault: Fault) {
        *self.seen.entry(fault).or_insert(0) += 1;
    }

    pub(crate) fn seen(&self) -> &BTreeMap<Fault, u64> {
        &self.seen
    }

    /// From now on nothing goes wrong.
    pub(crate) fn calm_down(&mut self) {
        self.calm = true;
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }
}
