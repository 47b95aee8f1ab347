"""Registers for other programs."""

import csv
import datetime
import io
import json
import unittest

from inkwell.model import Entry
from inkwell.money import Amount

ENTRIES = [
    Entry(datetime.date(2025, 3, 1), 'Shop "Corner", Kiel', Amount(-1250, "EUR"), Amount(8750, "EUR")),
    Entry(datetime.date(2025, 3, 2), "Bäckerei", Amount(-300, "EUR"), Amount(8450, "EUR")),
]


class CsvTests(unittest.TestCase):
    def test_comes_back_as_it_was(self):
        from inkwell.export_csv import to_csv

        rows = list(csv.DictReader(io.StringIO(to_csv(ENTRIES))))
        self.assertEqual([row["payee"] for row in rows], [entry.payee for entry in ENTRIES])
        self.assertEqual(rows[0]["cents"], "-1250")


class JsonTests(unittest.TestCase):
    def test_comes_back_as_it_was(self):
        from inkwell.export_json import to_json

        text = to_json(ENTRIES)
        self.assertIn("Bäckerei", text)
        self.assertEqual(json.loads(text)[1]["cents"], -300)


class FormatTests(unittest.TestCase):
    def test_each_format_by_its_name(self):
        from inkwell.export import FORMATS

        self.assertEqual(sorted(FORMATS), ["csv", "json"])
        self.assertEqual(len(FORMATS["csv"](ENTRIES).splitlines()), 3)
        self.assertEqual(len(json.loads(FORMATS["json"](ENTRIES))), 2)
