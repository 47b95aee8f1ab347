//! `usage.jsonl`: what models used. Missing is not zero, and what has no price is left to be priced (SPEC W21).

use std::collections::BTreeMap;

use cantus_proto::message::{ModelTokens, Usage};
use cantus_proto::units::MicroUsd;
use serde_json::{Map, Value};

/// Most models that one attempt names.
const MODELS_MAX: usize = 100;

/// Longest name of a model, in bytes.
const MODEL_BYTES_MAX: usize = 200;

/// The sum of all lines; nothing when there is none. The error says why it is not measured.
pub(super) fn add_up(lines: &[Value]) -> Result<Option<Usage>, String> {
    if lines.is_empty() {
        return Ok(None);
    }
    let mut total = Usage::default();
    let mut unpriced: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in lines {
        let line = line.as_object().ok_or("a line is not an object")?;
        let unknown = |key: &&String| {
            key.contains("token") && !["input_tokens", "output_tokens"].contains(&key.as_str())
        };
        if let Some(key) = line.keys().find(unknown) {
            return Err(format!("the token count {key:?} is unknown"));
        }
        let (input, output) = (tokens(line, "input_tokens")?, tokens(line, "output_tokens")?);
        total.input_tokens = total.input_tokens.saturating_add(input);
        total.output_tokens = total.output_tokens.saturating_add(output);
        if let Some(cost) = cost(line)? {
            total.cost = total.cost.plus(cost);
            continue;
        }
        let sum = unpriced.entry(model(line)?).or_default();
        *sum = (sum.0.saturating_add(input), sum.1.saturating_add(output));
        if unpriced.len() > MODELS_MAX {
            return Err(format!("it names more than {MODELS_MAX} models"));
        }
    }
    let of =
        |(model, (input_tokens, output_tokens))| ModelTokens { model, input_tokens, output_tokens };
    total.unpriced = unpriced.into_iter().map(of).collect();
    Ok(Some(total))
}

fn tokens(line: &Map<String, Value>, key: &str) -> Result<u64, String> {
    line.get(key).and_then(Value::as_u64).ok_or_else(|| format!("{key} is missing or no count"))
}

/// Nothing when the agent put no price on it.
fn cost(line: &Map<String, Value>) -> Result<Option<MicroUsd>, String> {
    let given = match line.get("cost_usd") {
        None | Some(Value::Null) => return Ok(None),
        Some(given) => given,
    };
    let cost = given.as_f64().and_then(MicroUsd::from_dollars);
    cost.map(Some).ok_or_else(|| "cost_usd is no amount".to_owned())
}

fn model(line: &Map<String, Value>) -> Result<String, String> {
    match line.get("model") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(name)) if name.len() <= MODEL_BYTES_MAX => Ok(name.clone()),
        Some(_) => Err(format!("model is no name of at most {MODEL_BYTES_MAX} bytes")),
    }
}
