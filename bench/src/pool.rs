//! From a lease in a warm pool to the agent's first instruction, in real containers.

use cantus_tests::installation::{Installation, Role, git};
use serde_json::{Value, json};

use crate::print;

#[derive(clap::Args)]
pub struct Arguments {
    /// Items, one after the other
    #[arg(long, default_value_t = 20)]
    items: usize,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The agent says when it began, by the same clock that the coordinator reads; then it does its work.
const AGENT: &str = r#"now=$(date +%s%N)
echo "{\"text\": \"$now\"}" > "$CANTUS_OUTBOX/claims.jsonl"
echo done > "work/$CANTUS_ITEM"
"#;

pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let agent = tempfile::tempdir()?;
    std::fs::write(agent.path().join("run.sh"), AGENT)?;
    let roles = [Role::worker(2, agent.path(), &["sh", "/agent/run.sh"]), Role::verifier(2)];
    let installation = Installation::new(&roles);
    let repository = installation.path().join("repository");
    std::fs::create_dir_all(repository.join("work"))?;
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(repository.join("work/begin"), "begin\n")?;
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "begin"]);
    git(&repository, &["checkout", "--quiet", "--detach"]);
    let plan = installation.path().join("plan.yaml");
    std::fs::write(&plan, plan_text(arguments.items))?;
    installation.run(&["up"]);
    let (plan, repository) = (plan.display().to_string(), repository.display().to_string());
    installation.run(&["submit", &plan, "--repository", &repository, "--run", "bench", "--watch"]);
    let mut waits = Vec::new();
    for number in 0..arguments.items {
        let item = installation.json(&["item", "bench", &format!("item-{number}")]);
        waits.push(wait_ms(&item)?);
    }
    waits.sort_by(f64::total_cmp);
    let at =
        |share: f64| (waits[((waits.len() - 1) as f64 * share) as usize] * 10.0).round() / 10.0;
    let figures = json!({
        "items": arguments.items,
        "leased_to_agent_ms_p50": at(0.5),
        "leased_to_agent_ms_max": at(1.0),
        "reach_ms": 100,
    });
    print(&figures, arguments.json);
    Ok(())
}

/// The coordinator's lease record against the agent's first words.
fn wait_ms(item: &Value) -> anyhow::Result<f64> {
    let begun = item["claims"][0]["text"].as_str().and_then(|text| text.parse::<f64>().ok());
    let begun = begun.ok_or_else(|| anyhow::anyhow!("the agent of {} said nothing", item["id"]))?;
    let leased = item["attempts"][0]["leased_ms"].as_f64().unwrap_or_default();
    Ok(begun / 1e6 - leased)
}

fn plan_text(items: usize) -> String {
    let mut text = "version: 1\nitems:\n".to_owned();
    for number in 0..items {
        let needs = if number == 0 { String::new() } else { format!("item-{}", number - 1) };
        text += &format!(
            "  - id: item-{number}\n    needs: [{needs}]\n    complexity: S\n    contract:\n      \
             goal: \"Write one file\"\n      deliverables: [\"work/item-{number} with one line\"]\n      \
             acceptance_criteria:\n        - {{id: AC-01, statement: \"the file is there\", checker: \"test -f \
             work/item-{number}\"}}\n      non_goals: [\"anything else\"]\n      allowed_scope: {{paths: \
             [\"work/\"], tools: [\"edit\"]}}\n      budgets: {{wall_clock_minutes: 5, \
             max_agents: 1, verification_ratio: 0.25}}\n      forbidden_actions: [\"network_egress\"]\n"
        );
    }
    text
}
