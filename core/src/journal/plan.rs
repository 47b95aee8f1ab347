//! A compiled plan as a blob: each distinct contract once, needs as places.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cantus_proto::contract::Contract;
use cantus_proto::ids::{ItemId, RoleName};
use cantus_proto::limits::WIRE_VERSION;
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem, RunBudgets};
use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1;
use prost::Message as _;

use super::wire::RecordError;

/// Longest compiled plan in bytes: 200,000 items with short contracts fit.
pub const COMPILED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How long a compiled plan may take to or from the blob store.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Encodes a plan.
#[must_use]
pub fn encode(plan: &Plan) -> Bytes {
    let (items, contracts) = items_out(&plan.items);
    let budgets = plan.budgets;
    let document = v1::PlanDocument {
        plan: Some(v1::Plan {
            version: WIRE_VERSION,
            landing: plan.landing.as_str().to_owned(),
            items,
            budgets: Some(v1::RunBudgets {
                wall_clock_minutes: budgets.wall_clock_minutes.unwrap_or(0),
                token_budget: budgets.token_budget.unwrap_or(0),
                cost_budget_microusd: budgets.cost_budget.map_or(0, |cost| cost.0),
                max_agents: budgets.max_agents.unwrap_or(0),
            }),
        }),
        contracts,
    };
    Bytes::from(document.encode_to_vec())
}

/// Decodes what [`encode`] wrote.
///
/// # Errors
/// [`RecordError`] when it is not such a plan.
pub fn decode(bytes: &[u8]) -> Result<Arc<Plan>, RecordError> {
    let document = v1::PlanDocument::decode(bytes)?;
    let plan = document.plan.ok_or(RecordError::Unknown("plan"))?;
    if plan.version != WIRE_VERSION {
        return Err(RecordError::Version { found: plan.version });
    }
    let landing = LandingStyle::ALL.into_iter().find(|style| style.as_str() == plan.landing);
    let landing = landing.ok_or(RecordError::Unknown("landing style"))?;
    let budgets = plan.budgets.ok_or(RecordError::Unknown("budgets"))?;
    let limit = |value: u64| (value != 0).then_some(value);
    let narrow = |value: u32| (value != 0).then_some(value);
    let budgets = RunBudgets {
        wall_clock_minutes: narrow(budgets.wall_clock_minutes),
        token_budget: limit(budgets.token_budget),
        cost_budget: limit(budgets.cost_budget_microusd).map(MicroUsd),
        max_agents: narrow(budgets.max_agents),
    };
    let items = items_in(plan.items, document.contracts)?;
    Ok(Arc::new(Plan { repository: None, target: None, landing, budgets, items }))
}

/// Items with their contracts, each distinct one once; needs are places among the items.
pub(super) fn items_out(items: &[PlanItem]) -> (Vec<v1::PlanItem>, Vec<v1::Contract>) {
    let places: BTreeMap<&ItemId, u32> = items.iter().map(|item| &item.id).zip(0..).collect();
    let mut contracts: Vec<&Contract> = Vec::new();
    let out = items.iter().map(|item| {
        // Plans made by programs repeat the contract before; a plan of people is short.
        if contracts.last().is_none_or(|before| **before != *item.contract) {
            contracts.push(&item.contract);
        }
        let effort = item.effort.map_or(v1::Effort::Unspecified, v1::Effort::from);
        v1::PlanItem {
            id: item.id.to_string(),
            needs: item.needs.iter().map(|need| places[need]).collect(),
            role: item.role.to_string(),
            verifier: item.verifier.to_string(),
            complexity: item.complexity.as_str().to_owned(),
            priority: item.priority,
            attempts_max: item.attempts_max,
            contract: u32::try_from(contracts.len() - 1).unwrap_or(u32::MAX),
            effort: effort.into(),
        }
    });
    let out = out.collect();
    (out, contracts.into_iter().map(Into::into).collect())
}

/// Reads what [`items_out`] gave.
///
/// # Errors
/// [`RecordError`] when they are no such items.
pub(super) fn items_in(
    items: Vec<v1::PlanItem>,
    contracts: Vec<v1::Contract>,
) -> Result<Vec<PlanItem>, RecordError> {
    let shared = |wire| Ok::<_, RecordError>(Arc::new(Contract::try_from(wire)?));
    let contracts: Vec<Arc<Contract>> =
        contracts.into_iter().map(shared).collect::<Result<_, _>>()?;
    let ids: Vec<ItemId> =
        items.iter().map(|item| ItemId::new(&item.id)).collect::<Result<_, _>>()?;
    let read = |(item, id): (v1::PlanItem, &ItemId)| {
        let need =
            |place: &u32| ids.get(*place as usize).cloned().ok_or(RecordError::Unknown("need"));
        let contract =
            contracts.get(item.contract as usize).ok_or(RecordError::Unknown("contract"))?;
        let effort = v1::Effort::try_from(item.effort).ok();
        Ok(PlanItem {
            id: id.clone(),
            needs: item.needs.iter().map(need).collect::<Result<_, _>>()?,
            role: RoleName::new(&item.role)?,
            verifier: RoleName::new(&item.verifier)?,
            complexity: Complexity::ALL
                .into_iter()
                .find(|complexity| complexity.as_str() == item.complexity)
                .ok_or(RecordError::Unknown("complexity"))?,
            effort: effort.ok_or(RecordError::Unknown("effort"))?.domain(),
            priority: item.priority,
            attempts_max: item.attempts_max,
            contract: Arc::clone(contract),
        })
    };
    items.into_iter().zip(&ids).map(read).collect()
}
