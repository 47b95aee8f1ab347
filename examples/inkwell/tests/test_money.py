"""Amounts: reading, adding, writing, dividing."""

import unittest

from inkwell.money import Amount, MoneyError, format_amount, is_settled, parse_amount, split, total


class AmountTests(unittest.TestCase):
    def test_reads_cents_and_grouping(self):
        self.assertEqual(parse_amount("-1,234.50 EUR"), Amount(-123450))
        self.assertEqual(parse_amount(" 7 USD "), Amount(700, "USD"))

    def test_refuses_what_is_no_amount(self):
        for text in ("", "12", "12.5 EUR", "1,23 EUR", "12.50 eur", "EUR 12.50"):
            with self.subTest(text), self.assertRaises(MoneyError):
                parse_amount(text)

    def test_adds_within_a_currency_only(self):
        self.assertEqual(total([Amount(150), Amount(-50)]), Amount(100))
        with self.assertRaises(MoneyError):
            Amount(1, "EUR") + Amount(1, "USD")

    def test_settles_each_currency_for_itself(self):
        self.assertTrue(is_settled([Amount(1), Amount(-1), Amount(0, "USD")]))
        self.assertFalse(is_settled([Amount(1), Amount(-1, "USD")]))


class FormatTests(unittest.TestCase):
    def test_two_digits_of_cents(self):
        self.assertEqual(format_amount(Amount(5)), "0.05 EUR")
        self.assertEqual(format_amount(Amount(1250)), "12.50 EUR")

    def test_groups_thousands(self):
        self.assertEqual(format_amount(Amount(123456789)), "1,234,567.89 EUR")
        self.assertEqual(format_amount(Amount(123456789), grouping=False), "1234567.89 EUR")

    def test_minus_stands_before_the_number(self):
        self.assertEqual(format_amount(Amount(-5, "USD")), "-0.05 USD")
        self.assertEqual(format_amount(Amount(-123450)), "-1,234.50 EUR")

    def test_is_read_back(self):
        for cents in (0, 1, -1, 99, -100, 10**9):
            with self.subTest(cents):
                self.assertEqual(parse_amount(format_amount(Amount(cents))), Amount(cents))


class SplitTests(unittest.TestCase):
    def test_even_division(self):
        self.assertEqual(split(Amount(900), 3), [Amount(300)] * 3)

    def test_no_cent_is_lost(self):
        self.assertEqual(split(Amount(1000), 3), [Amount(334), Amount(333), Amount(333)])

    def test_fewer_cents_than_parts(self):
        self.assertEqual(split(Amount(2), 4), [Amount(1), Amount(1), Amount(0), Amount(0)])

    def test_negative_amounts_mirror(self):
        self.assertEqual(split(Amount(-1000), 3), [Amount(-334), Amount(-333), Amount(-333)])

    def test_refuses_no_parts(self):
        with self.assertRaises(ValueError):
            split(Amount(100), 0)
