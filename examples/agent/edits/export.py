# claim: each format is known by its name
# new file: inkwell/export.py
"""Entries of a register in the formats of other programs."""

from inkwell.export_csv import to_csv
from inkwell.export_json import to_json

FORMATS = {"csv": to_csv, "json": to_json}
