//! A compiled plan as a blob: each distinct contract once, needs as places.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cantus_proto::contract::Contract;
use cantus_proto::ids::{ItemId, RoleName};
use cantus_proto::limits::WIRE_VERSION;
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem};
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
    let places: BTreeMap<&ItemId, u32> = plan.items.iter().map(|item| &item.id).zip(0..).collect();
    let mut contracts: Vec<&Contract> = Vec::new();
    let items = plan.items.iter().map(|item| {
        // Plans made by programs repeat the contract before; a plan of people is short.
        if contracts.last().is_none_or(|before| **before != *item.contract) {
            contracts.push(&item.contract);
        }
        v1::PlanItem {
            id: item.id.to_string(),
            needs: item.needs.iter().map(|need| places[need]).collect(),
            role: item.role.to_string(),
            verifier: item.verifier.to_string(),
            complexity: item.complexity.as_str().to_owned(),
            priority: item.priority,
            attempts_max: item.attempts_max,
            contract: u32::try_from(contracts.len() - 1).unwrap_or(u32::MAX),
        }
    });
    let items = items.collect();
    let document = v1::PlanDocument {
        plan: Some(v1::Plan {
            version: WIRE_VERSION,
            landing: plan.landing.as_str().to_owned(),
            items,
        }),
        contracts: contracts.into_iter().map(Into::into).collect(),
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
    let shared = |wire| Ok::<_, RecordError>(Arc::new(Contract::try_from(wire)?));
    let contracts: Vec<Arc<Contract>> =
        document.contracts.into_iter().map(shared).collect::<Result<_, _>>()?;
    let ids: Vec<ItemId> =
        plan.items.iter().map(|item| ItemId::new(&item.id)).collect::<Result<_, _>>()?;
    let items = plan.items.into_iter().zip(&ids).map(|(item, id)| {
        let need =
            |place: &u32| ids.get(*place as usize).cloned().ok_or(RecordError::Unknown("need"));
        let contract =
            contracts.get(item.contract as usize).ok_or(RecordError::Unknown("contract"))?;
        Ok(PlanItem {
            id: id.clone(),
            needs: item.needs.iter().map(need).collect::<Result<_, _>>()?,
            role: RoleName::new(&item.role)?,
            verifier: RoleName::new(&item.verifier)?,
            complexity: Complexity::ALL
                .into_iter()
                .find(|complexity| complexity.as_str() == item.complexity)
                .ok_or(RecordError::Unknown("complexity"))?,
            priority: item.priority,
            attempts_max: item.attempts_max,
            contract: Arc::clone(contract),
        })
    });
    let landing = LandingStyle::ALL.into_iter().find(|style| style.as_str() == plan.landing);
    let landing = landing.ok_or(RecordError::Unknown("landing style"))?;
    let items = items.collect::<Result<_, RecordError>>()?;
    Ok(Arc::new(Plan { repository: None, target: None, landing, items }))
}
