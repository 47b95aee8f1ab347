# claim: letters of any language are written as they are
# new file: inkwell/export_json.py
"""Entries of a register as JSON."""

import json


def to_json(entries):
    """A list of objects; amounts in cents."""
    return json.dumps(
        [
            {
                "day": entry.day.isoformat(),
                "payee": entry.payee,
                "cents": entry.amount.cents,
                "currency": entry.amount.currency,
            }
            for entry in entries
        ],
        ensure_ascii=False,
    )
