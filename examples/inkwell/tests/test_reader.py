"""Journals as text."""

import datetime
import unittest

from inkwell.model import Posting
from inkwell.money import Amount
from inkwell.reader import JournalError, parse_posting, read, strip_comment

JOURNAL = """\
; a comment

2025-03-01 Corner  shop ; on the corner
  expenses:office       12.50 EUR
  assets:cash          -12.50 EUR
2025-03-02 is no new paragraph
"""


class CommentTests(unittest.TestCase):
    def test_strips_comments(self):
        self.assertEqual(strip_comment("  a  ; b ; c"), "  a")

    def test_an_empty_journal_has_no_transactions(self):
        self.assertEqual(read("; nothing\n\n"), [])

    def test_names_the_line_of_a_bad_date(self):
        with self.assertRaises(JournalError) as caught:
            read("\n\nyesterday Shop\n")
        self.assertEqual(caught.exception.line, 3)


class PostingTests(unittest.TestCase):
    def test_account_and_amount(self):
        self.assertEqual(parse_posting("  a:b   -1,250.00 EUR"), Posting("a:b", Amount(-125000)))

    def test_single_spaces_belong_to_the_account(self):
        self.assertEqual(parse_posting("  petty cash box  7 EUR"), Posting("petty cash box", Amount(700)))

    def test_refuses_half_a_posting_and_names_it(self):
        for text in ("  a:b", "  12.50 EUR", "  a:b 12.50 EUR", "  a:b  cheap"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text.split()[-1]):
                parse_posting(text)


class ReadTests(unittest.TestCase):
    def test_reads_a_transaction(self):
        (transaction,) = read(JOURNAL.rsplit("2025-03-02", 1)[0])
        self.assertEqual(transaction.day, datetime.date(2025, 3, 1))
        self.assertEqual(transaction.payee, "Corner  shop")
        self.assertEqual([posting.account for posting in transaction.postings], ["expenses:office", "assets:cash"])

    def test_names_the_line_of_a_bad_posting(self):
        with self.assertRaises(JournalError) as caught:
            read(JOURNAL)
        self.assertEqual(caught.exception.line, 6)

    def test_refuses_what_does_not_add_up(self):
        with self.assertRaisesRegex(JournalError, "line 1: .*do not add up to zero"):
            read("2025-03-01 Shop\n  a  1.00 EUR\n  b  -1.01 EUR\n")
