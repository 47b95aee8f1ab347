"""Balances, registers and periods of a ledger."""

import datetime
import unittest

from inkwell.ledger import Ledger
from inkwell.model import Posting, Transaction
from inkwell.money import Amount
from inkwell.reader import read

JOURNAL = """\
2025-02-15 Bookshop
  expenses:books          42.90 EUR
  expenses:office          7.10 EUR
  assets:cash            -50.00 EUR

2025-01-31 Fees
  assets:bank            120.00 EUR
  income:fees           -120.00 EUR

2025-03-01 Bookshop
  expenses:books          10.00 EUR
  assets:bank            -10.00 EUR
"""


def transaction(day, cents):
    return Transaction(
        datetime.date.fromisoformat(day),
        "Shop",
        (Posting("expenses:books", Amount(cents)), Posting("assets:cash", Amount(-cents))),
    )


class LedgerTests(unittest.TestCase):
    def test_oldest_first(self):
        ledger = Ledger([transaction("2025-03-01", 1), transaction("2025-01-01", 2)])
        self.assertEqual(ledger.span(), (datetime.date(2025, 1, 1), datetime.date(2025, 3, 1)))
        self.assertEqual(ledger.accounts(), ["assets:cash", "expenses:books"])
        self.assertEqual(ledger.payees(), ["Shop"])

    def test_empty(self):
        self.assertTrue(Ledger([]).is_empty())
        self.assertIsNone(Ledger([]).span())


class BalanceTests(unittest.TestCase):
    def test_parents_hold_the_sum_of_theirs(self):
        balances = Ledger(read(JOURNAL)).balances()
        self.assertEqual(balances["expenses:books"], Amount(5290))
        self.assertEqual(balances["expenses"], Amount(6000))
        self.assertEqual(balances["assets"], Amount(6000))

    def test_in_the_order_of_names(self):
        names = list(Ledger(read(JOURNAL)).balances())
        self.assertEqual(names, sorted(names))
        self.assertEqual(names[:3], ["assets", "assets:bank", "assets:cash"])

    def test_an_empty_ledger_holds_nothing(self):
        self.assertEqual(Ledger([]).balances(), {})


class RegisterTests(unittest.TestCase):
    def test_running_balance(self):
        entries = Ledger(read(JOURNAL)).register("expenses:books")
        self.assertEqual([entry.amount for entry in entries], [Amount(4290), Amount(1000)])
        self.assertEqual([entry.balance for entry in entries], [Amount(4290), Amount(5290)])

    def test_holds_what_is_below(self):
        self.assertEqual(len(Ledger(read(JOURNAL)).register("expenses")), 3)

    def test_like_names_are_other_accounts(self):
        self.assertEqual(Ledger(read(JOURNAL)).register("expenses:book"), [])


class PeriodTests(unittest.TestCase):
    ledger = Ledger([transaction(day, 100) for day in ("2025-01-31", "2025-02-01", "2025-02-28", "2025-03-01")])

    def test_both_days_are_included(self):
        part = self.ledger.between(datetime.date(2025, 1, 31), datetime.date(2025, 2, 1))
        self.assertEqual(len(part.transactions), 2)

    def test_a_month(self):
        self.assertEqual(
            self.ledger.month((2025, 2)).span(), (datetime.date(2025, 2, 1), datetime.date(2025, 2, 28))
        )

    def test_keeps_the_currency(self):
        self.assertEqual(Ledger([], "USD").month((2025, 2)).currency, "USD")
