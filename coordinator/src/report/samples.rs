//! One rich run, told record by record: repairs, an approval, a loss, a landing whose head moved, a parked item and what
//! it blocks, and an agent that writes what it should not.

use std::sync::Arc;

use cantus_core::event::{Millis, Repository, Submission};
use cantus_core::record::ItemFact as F;
use cantus_core::record::{
    Demand, DemandKind, Dispatch, Ending, Fact, Holder, Record, Refutation, Refuter, Spent,
};
use cantus_core::report::{self, Report};
use cantus_core::rules::Rules;
use cantus_core::run::Run;
use cantus_core::scope_delta::{Finding, Rule};
use cantus_core::{Core, Settings};
use cantus_proto::evidence::Trust;
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, ContainerName, CriterionId, Digest, HostName, ItemId,
    LearningId, LeaseId, RepositoryId, RoleName, RunId, TreeId,
};
use cantus_proto::message::AttemptKind::{self, Produce, Repair, Verify};
use cantus_proto::message::{
    Candidate, Claim, ClaimKind, Commits, Defect, Envelope, Exit, FailureKind, Isolation, Learning,
    LearningCheck, Leased, Phase, Receipt, Usage, WorkResult,
};
use cantus_proto::plan::compile::compile;
use cantus_proto::plan::{LandingStyle, Plan};
use cantus_proto::units::MicroUsd;

/// When the sample was submitted: 2026-11-30T08:00:00Z.
const START: Millis = Millis(1_796_025_600_000);

/// An item whose name wants out of wherever it is written.
pub(crate) const HOSTILE: &str = "../docs/<b>&\"'🎼";

/// A run with all that has been told of it.
pub(crate) struct Sample {
    core: Core,
    pub(crate) records: Vec<(u64, Record)>,
    now: Millis,
    leases: u64,
}

impl Sample {
    pub(crate) fn run(&self) -> &Run {
        &self.core.runs()[&RunId::new("nightly").unwrap()]
    }

    pub(crate) fn report(&self) -> Report {
        report::of(self.run(), self.now)
    }

    fn at(&mut self, seconds: u64) -> &mut Self {
        self.now = START.plus(seconds * 1_000);
        self
    }

    fn record(&mut self, fact: Fact) -> &mut Self {
        let record = Record { at: self.now, run: RunId::new("nightly").unwrap(), fact };
        self.core.apply(&record).unwrap();
        self.records.push((self.core.position(), record));
        self
    }

    fn fact(&mut self, id: &str, fact: F) -> &mut Self {
        let place = self.run().by_id[&ItemId::new(id).unwrap()];
        self.record(Fact::Item(place, fact))
    }

    fn number(&self, id: &str) -> AttemptNumber {
        let run = self.run();
        run.item(run.by_id[&ItemId::new(id).unwrap()]).last_number()
    }

    fn begin(&mut self, id: &str, kind: AttemptKind, seconds: u64) -> &mut Self {
        let number = AttemptNumber(self.number(id).0 + 1);
        self.fact(id, F::Queued(number, kind, Arc::new(Dispatch::default())));
        self.leases += 1;
        let word = if kind == Verify { "verifier" } else { "worker" };
        let leased = Leased {
            role: RoleName::new(word).unwrap(),
            host: HostName::new("host-a").unwrap(),
            container: ContainerName::new(format!("{word}-{}", self.leases)).unwrap(),
            isolation: Isolation::Container,
            base: Some(commit("start")),
            image: "debian:bookworm-slim".to_owned(),
        };
        let lease = LeaseId::from_bytes(u128::from(self.leases).to_be_bytes());
        self.at(seconds).fact(id, F::Leased(number, Box::new(Holder { lease, leased })))
    }

    fn deliver(&mut self, id: &str, seconds: u64, result: WorkResult) -> &mut Self {
        let number = self.number(id);
        let priced = |usage: &Usage| Spent {
            tokens: Some(usage.tokens()),
            cost: Some(usage.cost),
            estimated: false,
            phases: result.phases.clone(),
        };
        self.at(seconds);
        if let Some(spent) = result.usage.as_ref().map(priced) {
            self.fact(id, F::Settled(number, Box::new(spent)));
        }
        for learning in &result.learnings {
            self.fact(id, F::Learned(number, Box::new(learning.clone())));
        }
        self.fact(id, F::Delivered(number, Box::new(result)))
    }

    fn gated(&mut self, id: &str, seconds: u64) -> &mut Self {
        self.fact(id, F::Gated).merge(id, id, seconds)
    }

    fn merge(&mut self, id: &str, tree: &str, seconds: u64) -> &mut Self {
        self.fact(id, F::MergeBegan).at(seconds).fact(id, merged(tree))
    }

    fn verified(&mut self, id: &str, seconds: u64) -> &mut Self {
        let number = self.number(id);
        let envelope = |criterion: &CriterionId| Envelope {
            criterion: criterion.clone(),
            statement: br#"{"payloadType":"test","payload":"e30=","signatures":[]}"#.to_vec(),
            receipt: br#"{"payloadType":"receipt","payload":"e30=","signatures":[]}"#.to_vec(),
        };
        let run = self.run();
        let item = run.item(run.by_id[&ItemId::new(id).unwrap()]);
        let criteria = item.contract.acceptance_criteria.iter();
        let envelopes = criteria.map(|criterion| envelope(&criterion.id)).collect();
        self.at(seconds).fact(id, F::Verified(number, envelopes))
    }

    fn land(&mut self, id: &str, seconds: u64) -> &mut Self {
        let landed = F::Landed(commit(&format!("landed {id}")), Digest::of(id.as_bytes()));
        self.at(seconds).fact(id, landed)
    }

    fn end(&mut self, id: &str, seconds: u64, ending: Ending, why: &str) -> &mut Self {
        let number = self.number(id);
        self.at(seconds).fact(id, F::Ended(number, ending, why.to_owned()))
    }

    fn refute(&mut self, id: &str, by: Refuter, summary: &str, found: Vec<Finding>) -> &mut Self {
        let defect = Defect { summary: summary.to_owned(), findings: vec![], work: None };
        self.fact(id, F::Refuted(Box::new(Refutation { by, defect, out_of_scope: found })))
    }
}

fn merged(tree: &str) -> F {
    F::Merged(Box::new(Candidate {
        commit: commit(&format!("merge {tree}")),
        tree: TreeId::new(&Digest::of(tree.as_bytes()).as_str()[..40]).unwrap(),
        base: commit("start"),
        bundle: blob("candidate"),
        listing_sha256: Digest::of(tree.as_bytes()),
    }))
}

fn commit(word: &str) -> CommitId {
    CommitId::new(&Digest::of(word.as_bytes()).as_str()[..40]).unwrap()
}

fn blob(word: &str) -> Blob {
    Blob { sha256: Digest::of(word.as_bytes()), size_bytes: word.len() as u64 }
}

fn work(word: &str, tokens: u64, micro: u64) -> WorkResult {
    let usage = Usage {
        input_tokens: tokens * 3 / 4,
        output_tokens: tokens - tokens * 3 / 4,
        cost: MicroUsd(micro),
        unpriced: vec![],
    };
    let phase = |(name, duration_ms): (&str, u64)| Phase { name: name.to_owned(), duration_ms };
    let phases =
        [("workspace", 2_000), ("agent", 30_000), ("checks", 6_000), ("collection", 1_000)];
    WorkResult {
        usage: Some(usage),
        phases: phases.map(phase).to_vec(),
        log: Some(blob(&format!("log of {word}"))),
        ..WorkResult::new(commit("start"), commit(word), Some(blob(word)))
    }
}

fn learning(rule: &str, context: &str, discovery: &str) -> Learning {
    Learning {
        id: LearningId::of(rule),
        context: context.to_owned(),
        discovery: discovery.to_owned(),
        rule: rule.to_owned(),
        check: Some("grep -q tmp_path tests".to_owned()),
    }
}

fn item(id: &str, needs: &str, goal: &str) -> String {
    let id = serde_json::to_string(id).unwrap();
    format!(
        "  - id: {id}\n    needs: [{needs}]\n    contract:\n      goal: \"{goal}\"\n      \
         deliverables: [\"what the goal says\"]\n      acceptance_criteria:\n        \
         - {{id: AC-01, statement: \"it holds\", checker: \"make check\"}}\n      \
         allowed_scope: {{paths: [src/]}}\n"
    )
}

/// The plan of the sample.
pub(crate) fn plan() -> Plan {
    let text = [
        "version: 1\ntarget: main\ndefaults:\n  complexity: S\n  budgets: {wall_clock_minutes: 10, token_budget: 100000}\nitems:\n",
        &item("parser", "", "Durations such as 1h30m are parsed"),
        &item("cli", "parser", "`wait 1h30m` waits that long"),
        &item("cache", "", "What was parsed once is not parsed again"),
        &item("report", "cli", "Waiting is told once a minute"),
        &item(HOSTILE, "", "The manual says what wait does"),
        &item("release", &serde_json::to_string(HOSTILE).unwrap(), "Version 2 is tagged"),
    ]
    .concat();
    let compiled = compile("plan.yaml", &text);
    let mut plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    plan.budgets.token_budget = Some(150_000);
    plan.budgets.cost_budget = Some(MicroUsd(4_000_000));
    plan.budgets.wall_clock_minutes = Some(30);
    plan
}

/// The run before anything but its submission.
fn submitted() -> Sample {
    let settings = Settings {
        lease_ms: 15_000,
        heartbeat_ms: 2_000,
        queue_wait_ms: 600_000,
        queue_window: 100,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: 1,
        files_max: 1,
        rules: Rules::default(),
        trust: Trust::default(),
        allow_process_isolation: false,
    };
    let mut sample = Sample { core: Core::new(settings), records: vec![], now: START, leases: 0 };
    let bytes = cantus_core::journal::plan::encode(&plan());
    sample.record(Fact::Submitted(Box::new(Submission {
        run: RunId::new("nightly").unwrap(),
        plan: Arc::new(plan()),
        plan_blob: Blob { sha256: Digest::of(&bytes), size_bytes: bytes.len() as u64 },
        repository: Some(Repository {
            id: RepositoryId::of("/srv/wait"),
            location: "/srv/wait".to_owned(),
            target: "refs/heads/main".to_owned(),
            head: commit("start"),
            style: LandingStyle::Merge,
        }),
        notice: String::new(),
    })));
    sample
}

/// The run in its middle: one item landed, one is at work.
pub(crate) fn running() -> Sample {
    let mut sample = submitted();
    parser(&mut sample);
    sample.begin("cli", Produce, 110).at(130);
    sample
}

/// The run at its end.
pub(crate) fn ended() -> Sample {
    let mut sample = submitted();
    parser(&mut sample);
    cli(&mut sample);
    cache(&mut sample);
    hostile(&mut sample);
    sample.begin("report", Produce, 470);
    sample.deliver("report", 520, WorkResult { usage: None, ..work("report", 0, 0) });
    sample.gated("report", 524).begin("report", Verify, 530).verified("report", 560);
    sample.land("report", 562);
    sample
}

/// Lands at the first try, with a supported claim, an unsupported one, and a learning.
fn parser(sample: &mut Sample) {
    let claim = |id: &str, text: &str, criterion: bool, receipt: Option<&str>| Claim {
        id: id.to_owned(),
        text: text.to_owned(),
        criterion: criterion.then(|| CriterionId::new("AC-01").unwrap()),
        kind: ClaimKind::Observation,
        receipt: receipt.map(|word| Digest::of(word.as_bytes())),
    };
    let receipt = Receipt {
        argv: ["make", "check"].map(str::to_owned).to_vec(),
        exit: Exit::Code(0),
        timed_out: false,
        stdout_sha256: Digest::of(b"12 passed"),
        stderr_sha256: Digest::of(b""),
        duration_ms: 6_000,
        purpose: "test".to_owned(),
        environment: Default::default(),
        output_truncated: false,
    };
    let result = WorkResult {
        receipts: vec![receipt],
        claims: vec![
            claim("C1", "all twelve tests pass", true, Some("12 passed")),
            claim("C2", "this is the fastest parser there is", false, None),
        ],
        findings: vec!["src/old.py parses dates twice".to_owned()],
        learnings: vec![
            learning("Tests write to tmp_path only", "pytest tests", "two tests shared a file"),
            learning("Units live in src/units.py", "src/units.py", "three copies of one table"),
        ],
        ..work("parser", 42_000, 630_000)
    };
    sample.begin("parser", Produce, 5).deliver("parser", 44, result);
    sample.at(45).gated("parser", 46).begin("parser", Verify, 52);
    sample.fact(
        "parser",
        F::LearningsChecked(
            AttemptNumber(2),
            vec![
                LearningCheck { id: LearningId::of("Tests write to tmp_path only"), applied: true },
                LearningCheck { id: LearningId::of("Units live in src/units.py"), applied: false },
            ],
        ),
    );
    sample.verified("parser", 90).land("parser", 92);
}

/// Refuted, repaired, kept out, let through by a person, landed.
fn cli(sample: &mut Sample) {
    sample.begin("cli", Produce, 110);
    let demand = Demand {
        kind: DemandKind::FirstArtifact,
        text: "commit the smallest thing that shows the way".to_owned(),
        paths: vec!["src/cli.py".to_owned()],
    };
    sample.at(140).fact("cli", F::Demanded(AttemptNumber(1), Box::new(demand)));
    sample.deliver("cli", 180, work("cli", 51_000, 800_000)).at(181).gated("cli", 182);
    sample.begin("cli", Verify, 186).at(210);
    sample.refute(
        "cli",
        Refuter::Verdict(AttemptNumber(2)),
        "AC-01: make check ended with 1",
        vec![],
    );
    sample.begin("cli", Repair, 214).deliver("cli", 300, work("cli 2", 60_000, 950_000)).at(303);
    let found = Finding {
        rule: Rule::DependencyAdded,
        path: b"pyproject.toml".to_vec(),
        line: Some(14),
        text: "adds click, which the contract does not ask for".to_owned(),
    };
    sample.refute("cli", Refuter::Gate, "pyproject.toml:14: adds click", vec![found]);
    sample.at(380).fact("cli", F::Approved(AttemptNumber(3), "ada".to_owned()));
    sample.merge("cli", "cli 2", 382).begin("cli", Verify, 386).verified("cli", 420);
    sample.land("cli", 422);
}

/// Lost once with its work kept, then verified, outrun by another landing, verified again.
fn cache(sample: &mut Sample) {
    sample.begin("cache", Produce, 425).end("cache", 432, Ending::Lost, "nothing heard for 15 s");
    let commits = Commits { bundle: blob("kept"), base: commit("start"), head: commit("kept") };
    sample
        .fact("cache", F::Saved(AttemptNumber(1), commits, "its container was killed".to_owned()));
    let spent = Spent {
        tokens: Some(4_000),
        cost: Some(MicroUsd(60_000)),
        estimated: true,
        phases: vec![],
    };
    sample.fact("cache", F::Settled(AttemptNumber(1), Box::new(spent)));
    let quick = WorkResult { phases: vec![], ..work("cache", 9_000, 140_000) };
    sample.begin("cache", Produce, 433).deliver("cache", 440, quick);
    sample.gated("cache", 441).begin("cache", Verify, 442).verified("cache", 450);
    sample.fact("cache", F::HeadMoved(commit("landed cli"))).fact("cache", merged("cache 2"));
    sample.begin("cache", Verify, 452).verified("cache", 460).land("cache", 461);
}

/// Fails until it is parked, and says things on the way.
fn hostile(sample: &mut Sample) {
    for (from, why) in [
        (462, "the agent ended with 1: <script>alert('x')</script>"),
        (464, "**no** `progress` | at all\u{1b}[2J \u{202e}evil"),
        (466, "see https://example.org/a_b_c & [click](javascript:alert(1))"),
    ] {
        sample.begin(HOSTILE, Produce, from);
        sample.end(HOSTILE, from + 2, Ending::Failed(FailureKind::Agent), why);
    }
    let why = "3 of 3 tries are used up; the last: failed: see https://example.org/a_b_c & [click](javascript:alert(1))";
    sample.fact(HOSTILE, F::Parked(why.to_owned()));
}
