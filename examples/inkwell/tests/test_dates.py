"""Days and months."""

import datetime
import unittest

from inkwell.dates import DateError, last_day, month_name, month_of, months_between, parse_date, week_of


class DateTests(unittest.TestCase):
    def test_reads_a_day(self):
        self.assertEqual(parse_date("2025-03-01"), datetime.date(2025, 3, 1))

    def test_refuses_what_is_no_day(self):
        for text in ("2025-3-1", "01.03.2025", "2025-02-30", ""):
            with self.subTest(text), self.assertRaises(DateError):
                parse_date(text)

    def test_names_a_month(self):
        self.assertEqual(month_name(month_of(datetime.date(2025, 3, 1))), "2025-03")


class WeekTests(unittest.TestCase):
    def test_a_week_in_the_middle(self):
        self.assertEqual(week_of(datetime.date(2025, 3, 5)), (2025, 10))

    def test_the_turn_of_the_year(self):
        self.assertEqual(week_of(datetime.date(2024, 12, 30)), (2025, 1))
        self.assertEqual(week_of(datetime.date(2027, 1, 1)), (2026, 53))


class MonthTests(unittest.TestCase):
    def test_last_day(self):
        self.assertEqual(last_day((2025, 1)), datetime.date(2025, 1, 31))
        self.assertEqual(last_day((2025, 12)), datetime.date(2025, 12, 31))

    def test_leap_years(self):
        self.assertEqual(last_day((2024, 2)).day, 29)
        self.assertEqual(last_day((2025, 2)).day, 28)
        self.assertEqual(last_day((1900, 2)).day, 28)

    def test_months_over_the_turn_of_the_year(self):
        first, last = datetime.date(2024, 11, 30), datetime.date(2025, 2, 1)
        self.assertEqual(months_between(first, last), [(2024, 11), (2024, 12), (2025, 1), (2025, 2)])

    def test_one_month_and_none(self):
        day = datetime.date(2025, 3, 5)
        self.assertEqual(months_between(day, day), [(2025, 3)])
        self.assertEqual(months_between(day, datetime.date(2025, 2, 1)), [])
