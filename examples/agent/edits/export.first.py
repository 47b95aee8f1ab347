# until: file=inkwell/export_csv.py
# until: file=inkwell/export_json.py
# finding: both formats at once are more than one careful change
# proposal: {"propose": "diagnosis", "reason": "two formats with rules of their own, in one item", "decision": "SPLIT", "split_into": [{"id": "export-csv", "goal": "A register is written as CSV", "deliverables": ["inkwell/export_csv.py with to_csv"], "criteria": ["AC-01"], "paths": ["inkwell/export_csv.py"]}, {"id": "export-json", "goal": "A register is written as JSON", "deliverables": ["inkwell/export_json.py with to_json"], "criteria": ["AC-02"], "paths": ["inkwell/export_json.py"]}]}
# new file: inkwell/export.py
"""Entries of a register in the formats of other programs."""


def to_csv(entries):
    """Not finished: quotes are missing."""
    return "".join(f"{entry.day},{entry.payee},{entry.amount.cents}\n" for entry in entries)


FORMATS = {"csv": to_csv}
