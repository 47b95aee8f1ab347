//! The contract as YAML, in the form in which people write it.
//!
//! Every text is a double-quoted scalar with JSON's escapes, which YAML reads the same way, so that no text can
//! become anything but itself.

use cantus_proto::contract::Contract;

/// The whole contract.
pub(crate) fn render(contract: &Contract) -> String {
    let mut yaml = String::new();
    let line = |yaml: &mut String, text: String| {
        yaml.push_str(&text);
        yaml.push('\n');
    };
    line(&mut yaml, format!("goal: {}", quoted(&contract.goal)));
    line(&mut yaml, format!("deliverables:{}", list(&contract.deliverables, 2)));
    line(&mut yaml, "acceptance_criteria:".to_owned());
    for criterion in &contract.acceptance_criteria {
        line(&mut yaml, format!("  - id: {}", quoted(criterion.id.as_str())));
        line(&mut yaml, format!("    statement: {}", quoted(&criterion.statement)));
        line(&mut yaml, format!("    checker: {}", quoted(&criterion.checker)));
    }
    line(&mut yaml, format!("non_goals:{}", list(&contract.non_goals, 2)));
    line(&mut yaml, "allowed_scope:".to_owned());
    line(&mut yaml, format!("  paths:{}", list(&contract.allowed_scope.paths, 4)));
    line(&mut yaml, format!("  tools:{}", list(&contract.allowed_scope.tools, 4)));
    let budgets = &contract.budgets;
    line(&mut yaml, "budgets:".to_owned());
    line(&mut yaml, format!("  wall_clock_minutes: {}", budgets.wall_clock_minutes));
    if let Some(tokens) = budgets.token_budget {
        line(&mut yaml, format!("  token_budget: {tokens}"));
    }
    if let Some(cost) = budgets.cost_budget {
        line(&mut yaml, format!("  cost_usd: {}", cost.dollars()));
    }
    line(&mut yaml, format!("  max_agents: {}", budgets.max_agents));
    line(&mut yaml, format!("  verification_ratio: {}", budgets.verification_ratio));
    line(&mut yaml, format!("  first_artifact_ratio: {}", budgets.first_artifact_ratio));
    line(&mut yaml, format!("forbidden_actions:{}", list(&contract.forbidden_actions, 2)));
    yaml
}

fn list(texts: &[String], indent: usize) -> String {
    if texts.is_empty() {
        return " []".to_owned();
    }
    texts.iter().map(|text| format!("\n{:indent$}- {}", "", quoted(text))).collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use cantus_proto::plan::compile::compile;
    use cantus_proto::units::MicroUsd;

    use super::render;
    use crate::testing::contract;

    #[test]
    fn the_contract_is_compiled_to_itself() {
        let mut contract = contract();
        contract.budgets.cost_budget = Some(MicroUsd(1_234_567));
        contract.budgets.first_artifact_ratio = 0.27;
        contract.goal = "Say: # \"hello\"\tthen\nstop".to_owned();
        for limited in [true, false] {
            if !limited {
                contract.budgets.token_budget = None;
                contract.budgets.cost_budget = None;
            }
            let compiled = compile("hello.yaml", &render(&contract));
            let plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
            assert_eq!(*plan.items[0].contract, contract);
        }
    }

    #[test]
    fn the_contract_reads_as_people_write_it() {
        let yaml = render(&contract());
        assert_eq!(
            yaml,
            concat!(
                "goal: \"Say \\\"hello\\\"\"\n",
                "deliverables:\n  - \"src/hello.txt the greeting\"\n",
                "acceptance_criteria:\n",
                "  - id: \"AC-1\"\n",
                "    statement: \"it greets\"\n",
                "    checker: \"grep -q hello src/hello.txt\"\n",
                "non_goals: []\n",
                "allowed_scope:\n",
                "  paths:\n    - \"src/\"\n",
                "  tools: []\n",
                "budgets:\n",
                "  wall_clock_minutes: 5\n",
                "  token_budget: 1000\n",
                "  max_agents: 1\n",
                "  verification_ratio: 0.25\n",
                "  first_artifact_ratio: 0.3\n",
                "forbidden_actions:\n  - \"network_egress\"\n",
            )
        );
    }
}
