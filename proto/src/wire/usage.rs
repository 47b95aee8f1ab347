//! What models used, on the wire: measured or not, priced or to be priced.

use super::{WireError, check, v1};
use crate::message::{ModelTokens, Phase, Usage};
use crate::units::MicroUsd;

impl From<&Usage> for v1::Usage {
    fn from(usage: &Usage) -> Self {
        let unpriced = usage.unpriced.iter().map(|tokens| v1::ModelTokens {
            model: tokens.model.clone(),
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
        });
        Self {
            measured: true,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_microusd: usage.cost.0,
            unpriced: unpriced.collect(),
        }
    }
}

/// Nothing when it was not measured, which is not zero.
pub(super) fn read(wire: Option<v1::Usage>) -> Result<Option<Usage>, WireError> {
    let Some(wire) = wire.filter(|usage| usage.measured) else { return Ok(None) };
    let unpriced = check::list("unpriced usage", wire.unpriced, |tokens| {
        Ok(ModelTokens {
            model: check::label("model", tokens.model)?,
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
        })
    })?;
    Ok(Some(Usage {
        input_tokens: wire.input_tokens,
        output_tokens: wire.output_tokens,
        cost: MicroUsd(wire.cost_microusd),
        unpriced,
    }))
}

impl From<&Phase> for v1::Phase {
    fn from(phase: &Phase) -> Self {
        Self { name: phase.name.clone(), duration_ms: phase.duration_ms }
    }
}

impl TryFrom<v1::Phase> for Phase {
    type Error = WireError;

    fn try_from(wire: v1::Phase) -> Result<Self, WireError> {
        Ok(Self { name: check::label("phase", wire.name)?, duration_ms: wire.duration_ms })
    }
}
