"""Bars of characters."""

import unittest

from inkwell.chart import bar, sparkline


class BarTests(unittest.TestCase):
    def test_length_is_in_proportion(self):
        self.assertEqual(bar(50, 100, 10), "#####")
        self.assertEqual(bar(100, 100, 10), "#" * 10)

    def test_a_small_value_still_shows(self):
        self.assertEqual(bar(1, 1000, 10), "#")

    def test_nothing_shows_nothing(self):
        self.assertEqual(bar(0, 100, 10), "")
        self.assertEqual(bar(-5, 100, 10), "")
        self.assertEqual(bar(5, 0, 10), "")

    def test_never_longer_than_its_width(self):
        self.assertEqual(len(bar(300, 100, 10)), 10)


class SparklineTests(unittest.TestCase):
    def test_lowest_and_highest(self):
        self.assertEqual(sparkline([0, 7]), "▁█")
        self.assertEqual(sparkline([0, 1, 2, 3, 4, 5, 6, 7]), "▁▂▃▄▅▆▇█")

    def test_all_alike(self):
        self.assertEqual(sparkline([3, 3, 3]), "▁▁▁")

    def test_nothing(self):
        self.assertEqual(sparkline([]), "")
