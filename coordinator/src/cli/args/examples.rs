//! What stands at the end of each `--help`: examples to copy. Cut off from the arguments for their length.

pub(super) const CANTUS: &str = "\
A first run:
  cantus init                             write a configuration, then edit its roles
  cantus up                               start bus, coordinator and containers
  cantus lint plan.yaml                   what is wrong with the plan, with line and column
  cantus submit plan.yaml --watch         run it and follow it
  cantus item RUN ITEM                    why an item is where it is
  cantus audit .                          that all which landed was proved
  cantus down                             leave nothing behind

Exit codes: 0 done; 1 the run failed, evidence is missing, or refused; 2 the command line is wrong;
3 the plan has errors; 4 the run was cancelled; 5 no coordinator answers; 6 Cantus failed; 130 Ctrl-C.";

pub(super) const DEMO: &str = "\
Examples:
  cantus demo                             in a checkout of Cantus: runs examples/, then removes all of it
  cantus demo --keep                      leaves repository and state, and says where";

pub(super) const UP: &str = "\
Examples:
  cantus up                               containers without a network, as the configuration says
  cantus up --isolation process --allow-process-isolation
                                          no containers for agents: for development only

What runs is found again by `up`, and ended by `down`. Logs are in the home under logs/.";

pub(super) const INIT: &str = "\
Examples:
  cantus init                             writes cantus.yaml to the home
  cantus --home ./state init              an installation of its own in ./state";

pub(super) const LINT: &str = "\
Each message is one line, `FILE:LINE:COLUMN: error[CODE]: what is wrong (what to do)`; all of them at once.
`submit` refuses with the same lines. A contract alone is a plan of one item.

Examples:
  cantus lint plan.yaml                   exit code 0, or 3 when `submit` would refuse it
  cantus lint - --json < plan.yaml        for an editor or a script";

pub(super) const SUBMIT: &str = "\
A path in the plan's `repository` is relative to the plan's file; one in --repository to this directory.

Examples:
  cantus submit plan.yaml                 prints the name of the run and goes
  cantus submit plan.yaml --watch         exit code 0 completed, 1 failed, 4 cancelled
  cantus submit fix.contract.yaml --repository . --target main --run fix-login";

pub(super) const WATCH: &str = "\
On a terminal the tree of items is drawn in place. Into a pipe one line is written per change, each with its
time; with --json one document per line. Ctrl-C ends the watching, not the run.

Examples:
  cantus watch r6a1b2c3-d4e5f6            exit code 0 completed, 1 failed, 4 cancelled
  cantus watch nightly | tee run.log";

pub(super) const ITEM: &str = "\
Examples:
  cantus item nightly parse-dates         every attempt: who, how long, how it ended and why
  cantus item nightly parse-dates --json";

pub(super) const LOGS: &str = "\
The log is what the agent or the checkers wrote. On a terminal control characters are shown, not obeyed;
into a pipe it comes byte for byte.

Examples:
  cantus logs nightly parse-dates
  cantus logs nightly parse-dates --attempt 2 > attempt-2.log";

pub(super) const APPROVE: &str = "\
What the gates found is printed with file and line. What is let through is merged and verified like any other
result; the run's outcome is then assisted, and the record keeps who approved. A repair that runs is stopped.

Examples:
  cantus item nightly parse-dates         what the gates found in it
  cantus approve nightly parse-dates
  cantus approve nightly parse-dates --by 'Kim, by telephone'";

pub(super) const RETRY: &str = "\
The same check runs at most twice by itself. When it could decide nothing, say what another run would tell
apart: what was wrong with the machine, and is not any more. For another result use `cantus requeue`.

Examples:
  cantus retry nightly parse-dates --hypothesis 'the disk of build-2 was full, and is not now'";

pub(super) const REPLAY: &str = "\
The journal is fetched and replayed here, so nothing is disturbed. Times shown are as of that moment.

Examples:
  cantus replay nightly --list            every point: sequence, time and what was decided
  cantus replay nightly --at 41           the run after sequence 41, as `cantus status` shows it
  cantus replay nightly --until -10m      the run ten minutes ago
  cantus replay nightly --until 2026-11-30T18:11:23Z --item parse-dates
  cantus replay nightly --diff 41 -10m    what became otherwise between the two
  cantus replay nightly --list --item parse-dates --json";

pub(super) const EVIDENCE: &str = "\
Each criterion of the contract has two signed envelopes (DSSE, in-toto): the result of its checker on the
exact tree, and the receipt of that command. They are checked here against the trusted keys.

Examples:
  cantus evidence nightly parse-dates
  cantus evidence nightly parse-dates --out evidence/ && (cd evidence && sha256sum -c SHA256SUMS)";

pub(super) const AUDIT: &str = "\
Nothing but the repository and the keys is believed: no coordinator, no network. A clone needs the evidence
too: git fetch origin 'refs/evidence/*:refs/evidence/*'

Examples:
  cantus audit .                          exit code 1 when a commit lacks evidence, or none has landed
  cantus audit . v1.0..main --trust keys/trust.json
  cantus audit /srv/git/project.git main --json";

pub(super) const SERVE: &str = "\
Examples:
  cantus serve                            listens on cantus.sock in the home, for its owner alone
  cantus serve --listen 127.0.0.1:7733    and on TCP, for `--connect http://127.0.0.1:7733`";

pub(super) const POOL: &str = "\
The first SIGTERM or Ctrl-C drains: leases finish, no new ones are taken. The second stops at once; what agents
did until then is saved.

Examples:
  cantus pool --host build-2 --bus nats://10.0.0.5:4222
  cantus pool --roles verifier";
