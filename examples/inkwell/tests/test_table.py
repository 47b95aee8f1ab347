"""Tables in plain text."""

import unittest

from inkwell.table import align_decimal, as_markdown, pad, render, wrap_cell


class RenderTests(unittest.TestCase):
    def test_header_and_sides(self):
        self.assertEqual(
            render([["rent", "7"], ["a", "12"]], header=["what", "n"], align=["left", "right"]),
            "what   n\n----  --\nrent   7\na     12\n",
        )

    def test_short_rows_are_filled(self):
        self.assertEqual(render([["a"], ["b", "c"]]), "a\nb  c\n")

    def test_nothing(self):
        self.assertEqual(render([]), "")

    def test_center(self):
        self.assertEqual(pad("ab", 6, "center"), "  ab  ")


class MarkdownTests(unittest.TestCase):
    def test_a_table(self):
        self.assertEqual(as_markdown([["a", "1"]], ["name", "sum"]), "| name | sum |\n| --- | --- |\n| a | 1 |\n")

    def test_bars_and_line_breaks(self):
        self.assertEqual(as_markdown([["a|b", "c\nd"]], ["x", "y"]).splitlines()[2], r"| a\|b | c<br>d |")


class WrapTests(unittest.TestCase):
    def test_breaks_at_spaces(self):
        self.assertEqual(wrap_cell("a quick brown fox", 7), ["a quick", "brown", "fox"])

    def test_cuts_long_words(self):
        self.assertEqual(wrap_cell("abcdefgh ij", 3), ["abc", "def", "gh", "ij"])

    def test_empty_text_is_one_line(self):
        self.assertEqual(wrap_cell("", 5), [""])
        self.assertEqual(wrap_cell("   ", 5), [""])

    def test_refuses_no_width(self):
        with self.assertRaises(ValueError):
            wrap_cell("a", 0)


class DecimalTests(unittest.TestCase):
    def test_points_stand_in_one_column(self):
        self.assertEqual(align_decimal(["12.50 EUR", "7.05 EUR"]), ["12.50 EUR", " 7.05 EUR"])

    def test_cells_without_a_point(self):
        self.assertEqual(align_decimal(["7", "12.5", "-"]), [" 7  ", "12.5", " -  "])

    def test_letters_after_a_whole_number(self):
        self.assertEqual(align_decimal(["3 EUR", "10.25 EUR"]), [" 3 EUR   ", "10.25 EUR"])

    def test_nothing(self):
        self.assertEqual(align_decimal([]), [])
