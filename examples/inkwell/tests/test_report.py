"""Reports as they are printed."""

import unittest

from inkwell.ledger import Ledger
from inkwell.reader import read
from inkwell.report import balance_report, footer, monthly_report, title

JOURNAL = """\
2025-01-04 Fees
  assets:bank          1,200.00 EUR
  income:fees         -1,200.00 EUR

2025-01-11 Hall
  expenses:rent          350.00 EUR
  assets:bank           -350.00 EUR

2025-03-22 Hall
  expenses:rent           87.50 EUR
  assets:bank            -87.50 EUR
"""

BALANCE = """\
Balance
=======

account              balance  entries
-------------  -------------  -------
assets            762.50 EUR        3
assets:bank       762.50 EUR        3
expenses          437.50 EUR        2
expenses:rent     437.50 EUR        2
income         -1,200.00 EUR        1
income:fees    -1,200.00 EUR        1
3 transactions, 2025-01-04 to 2025-03-22
"""

MONTHLY = """\
expenses by month
=================

2025-01  350.00 EUR  ####################
2025-02    0.00 EUR
2025-03   87.50 EUR  #####
3 transactions, 2025-01-04 to 2025-03-22
"""


class PartTests(unittest.TestCase):
    def test_title(self):
        self.assertEqual(title("Abc"), "Abc\n===\n\n")

    def test_footer_of_an_empty_ledger(self):
        self.assertEqual(footer(Ledger([])), "no transactions\n")


class BalanceReportTests(unittest.TestCase):
    maxDiff = None

    def test_whole_report(self):
        self.assertEqual(balance_report(Ledger(read(JOURNAL))), BALANCE)

    def test_empty_ledger(self):
        self.assertEqual(balance_report(Ledger([])), "Balance\n=======\n\nno transactions\n")


class MonthlyReportTests(unittest.TestCase):
    maxDiff = None

    def test_whole_report(self):
        self.assertEqual(monthly_report(Ledger(read(JOURNAL))), MONTHLY)

    def test_account_that_was_never_used(self):
        text = monthly_report(Ledger(read(JOURNAL)), "expenses:ink")
        self.assertIn("2025-02  0.00 EUR\n", text)

    def test_empty_ledger(self):
        self.assertEqual(monthly_report(Ledger([])), "expenses by month\n=================\n\nno transactions\n")
