# claim: payees with commas and quotes come back as they were
# new file: inkwell/export_csv.py
"""Entries of a register as CSV."""

import csv
import io


def to_csv(entries):
    """One line for each entry, under the names of the columns; amounts in cents."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["day", "payee", "cents", "currency"])
    writer.writerows([e.day.isoformat(), e.payee, e.amount.cents, e.amount.currency] for e in entries)
    return text.getvalue()
