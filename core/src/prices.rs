//! What measured use costs (case W21): a stated price is taken, all else is priced by the table.
//!
//! An unknown price is not zero: it makes the cost unknown, and a budget of money refuses that.

use cantus_proto::message::{ModelTokens, Usage};
use cantus_proto::units::MicroUsd;

use crate::rules::{Price, Prices};

/// Tokens that a price is for.
const PRICED_TOKENS: u128 = 1_000_000;

impl Prices {
    /// The cost of this use, each line rounded up to a whole millionth of a dollar; nothing when tokens of a model
    /// that is unnamed or not in the table are in it.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> Option<MicroUsd> {
        usage.unpriced.iter().try_fold(usage.cost, |sum, line| Some(sum.plus(self.line(line)?)))
    }

    /// The first model in this use whose price is not known.
    #[must_use]
    pub fn missing<'a>(&self, usage: &'a Usage) -> Option<&'a str> {
        let unknown = usage.unpriced.iter().find(|line| self.line(line).is_none());
        unknown.map(|line| line.model.as_str())
    }

    fn line(&self, line: &ModelTokens) -> Option<MicroUsd> {
        if line.input_tokens == 0 && line.output_tokens == 0 {
            return Some(MicroUsd(0));
        }
        let price = self.models.get(&line.model).filter(|_| !line.model.is_empty())?;
        Some(cost(*price, line.input_tokens, line.output_tokens))
    }
}

fn cost(price: Price, input_tokens: u64, output_tokens: u64) -> MicroUsd {
    let product = |tokens: u64, price: MicroUsd| u128::from(tokens) * u128::from(price.0);
    let sum =
        product(input_tokens, price.input).saturating_add(product(output_tokens, price.output));
    MicroUsd(u64::try_from(sum.div_ceil(PRICED_TOKENS)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `m` costs $3 and $15 for a million tokens.
    fn prices() -> Prices {
        let price = |input, output| Price { input: MicroUsd(input), output: MicroUsd(output) };
        let models = [
            ("m", price(3_000_000, 15_000_000)),
            ("dear", price(u64::MAX, u64::MAX)),
            ("", price(1, 1)),
        ];
        let models = models.map(|(name, price)| (name.to_owned(), price)).into();
        Prices { date: "2026-11-01".to_owned(), models }
    }

    fn of(cost: u64, unpriced: &[(&str, u64, u64)]) -> Option<u64> {
        let line = |(model, input_tokens, output_tokens): &(&str, u64, u64)| ModelTokens {
            model: (*model).to_owned(),
            input_tokens: *input_tokens,
            output_tokens: *output_tokens,
        };
        let unpriced = unpriced.iter().map(line).collect();
        let usage = Usage { cost: MicroUsd(cost), unpriced, ..Usage::default() };
        prices().of(&usage).map(|cost| cost.0)
    }

    #[test]
    fn what_is_stated_and_what_is_priced_add_up() {
        assert_eq!(of(0, &[]), Some(0));
        assert_eq!(of(70, &[]), Some(70));
        assert_eq!(of(70, &[("m", 1_000_000, 0), ("m", 0, 2)]), Some(3_000_100));
    }

    #[test]
    fn each_line_is_rounded_up_once() {
        let mut prices = prices();
        prices
            .models
            .insert("cheap".to_owned(), Price { input: MicroUsd(1), output: MicroUsd(999_999) });
        assert_eq!(cost(prices.models["cheap"], 1, 0), MicroUsd(1));
        assert_eq!(cost(prices.models["cheap"], 1, 1), MicroUsd(1));
        assert_eq!(cost(prices.models["cheap"], 2, 1), MicroUsd(2));
        assert_eq!(of(0, &[("m", 1, 0), ("m", 1, 0)]), Some(6));
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        assert_eq!(of(70, &[("m", 1, 1), ("other", 1, 0)]), None);
        assert_eq!(of(70, &[("", 0, 1)]), None);
        assert_eq!(of(70, &[("other", 0, 0), ("", 0, 0)]), Some(70));
    }

    #[test]
    fn what_does_not_fit_is_the_most_that_does() {
        let most = u64::MAX;
        assert_eq!(of(most, &[("m", 1, 0)]), Some(most));
        assert_eq!(of(0, &[("dear", most, most)]), Some(most));
        assert_eq!(of(1, &[("dear", most, most), ("dear", most, most)]), Some(most));
    }
}
