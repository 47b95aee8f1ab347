"""Amounts of money, in whole cents, so that no sum ever drifts."""

import re
from dataclasses import dataclass

_AMOUNT = re.compile(r"^(-?)((?:\d{1,3}(?:,\d{3})+|\d+))(?:\.(\d{2}))? ([A-Z]{3})$")


class MoneyError(ValueError):
    """An amount that cannot be read, or two that cannot be added."""


@dataclass(frozen=True, order=True)
class Amount:
    """A number of cents in one currency."""

    cents: int
    currency: str = "EUR"

    def __add__(self, other):
        if self.currency != other.currency:
            raise MoneyError(f"cannot add {other.currency} to {self.currency}")
        return Amount(self.cents + other.cents, self.currency)

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Amount(-self.cents, self.currency)


def parse_amount(text):
    """Reads `-1,234.50 EUR`; the cents and the grouping may be left out."""
    match = _AMOUNT.match(text.strip())
    if match is None:
        raise MoneyError(f"not an amount: {text.strip()!r}; write it like 1,234.50 EUR")
    sign, whole, fraction, currency = match.groups()
    cents = int(whole.replace(",", "")) * 100 + int(fraction or 0)
    return Amount(-cents if sign else cents, currency)


def format_amount(amount, grouping=True):
    """Writes an amount so that `parse_amount` reads it back: `-1,234.50 EUR`.

    The minus stands before the number; `grouping` puts a comma between thousands.
    """
    raise NotImplementedError("format_amount")


def total(amounts, currency="EUR"):
    """The sum of amounts of one currency; nothing adds up to zero."""
    result = Amount(0, currency)
    for amount in amounts:
        result = result + amount
    return result


def split(amount, parts):
    """Divides an amount into `parts` amounts that differ by a cent at most and add up to it.

    The larger shares come first; a negative amount is divided as its opposite would be.
    """
    raise NotImplementedError("split")


def is_settled(amounts):
    """Whether amounts cancel out in each of their currencies."""
    sums = {}
    for amount in amounts:
        sums[amount.currency] = sums.get(amount.currency, 0) + amount.cents
    return not any(sums.values())
