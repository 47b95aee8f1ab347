"""The command line from the arguments to the text."""

import io
import os
import tempfile
import unittest

from inkwell.cli import main

CLUB = os.path.join(os.path.dirname(__file__), "..", "club.journal")


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    code = main(list(arguments), out, err)
    return code, out.getvalue(), err.getvalue()


class CommandTests(unittest.TestCase):
    def test_balance(self):
        code, out, err = run("balance", CLUB)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("assets:bank         215.65 EUR        5\n", out)

    def test_monthly(self):
        code, out, _ = run("monthly", CLUB)
        self.assertEqual(code, 0)
        self.assertIn("2025-02  234.35 EUR  #############\n", out)
        self.assertIn("2025-02    0.00 EUR\n", run("monthly", CLUB, "expenses:rent")[1])

    def test_guess(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules:
            rules.write("*hall* = expenses:rent\n*shop = expenses:books\n")
            rules.flush()
            code, out, _ = run("guess", CLUB, rules.name)
        self.assertEqual(code, 0)
        self.assertIn("Corner Bookshop  expenses:books\n", out)
        self.assertIn("Cash drawn       ?\n", out)

    def test_share(self):
        code, out, _ = run("share", CLUB, "expenses:rent", "3")
        self.assertEqual(code, 0)
        self.assertIn("233.34 EUR, 233.33 EUR, 233.33 EUR", out.replace("\n", " "))
        self.assertTrue(all(len(line) <= 60 for line in out.splitlines()))

    def test_wrong_usage(self):
        for arguments in ((), ("dance",), ("balance",), ("share", CLUB, "expenses:rent", "many")):
            with self.subTest(arguments):
                code, out, err = run(*arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertIn("usage: inkwell", err)

    def test_a_journal_that_cannot_be_read(self):
        code, _, err = run("balance", CLUB + ".missing")
        self.assertEqual(code, 1)
        self.assertIn("club.journal.missing", err)
