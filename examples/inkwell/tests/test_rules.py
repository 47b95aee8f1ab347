"""Which account a payee belongs to."""

import unittest

from inkwell.rules import Rule, match, parse_rules

RULES = [Rule("*", "expenses:other"), Rule("*shop*", "expenses:shopping"), Rule("*bookshop", "expenses:books")]


class ParseTests(unittest.TestCase):
    def test_reads_rules_and_comments(self):
        self.assertEqual(parse_rules("# all\n*hall* = expenses:rent # St Anne\n"), [Rule("*hall*", "expenses:rent")])

    def test_names_the_line(self):
        with self.assertRaisesRegex(ValueError, "line 2: not a rule"):
            parse_rules("a = b\nnonsense\n")


class MatchTests(unittest.TestCase):
    def test_the_most_special_rule_counts(self):
        self.assertEqual(match(RULES, "Corner bookshop"), "expenses:books")
        self.assertEqual(match(RULES, "Shop of St Anne"), "expenses:shopping")
        self.assertEqual(match(RULES, "Ferry"), "expenses:other")

    def test_case_does_not_matter(self):
        self.assertEqual(match(RULES, "CORNER BOOKSHOP"), "expenses:books")

    def test_of_equals_the_first_one_counts(self):
        self.assertEqual(match([Rule("a*", "first"), Rule("*b", "second")], "ab"), "first")

    def test_wildcards_are_no_letters(self):
        self.assertEqual(match([Rule("?????*", "wild"), Rule("fe*", "ferry")], "Ferry"), "ferry")

    def test_none_fits(self):
        self.assertIsNone(match(RULES[1:], "Ferry"))
