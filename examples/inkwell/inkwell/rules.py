"""Rules that say which account a payee belongs to."""

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A pattern for payees (`*shop*`) and the account it stands for."""

    pattern: str
    account: str


def parse_rules(text):
    """Reads lines like `*shop* = expenses:books`; empty lines and comments (#) are left out."""
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        pattern, sign, account = (part.strip() for part in line.partition("="))
        if not (pattern and sign and account):
            raise ValueError(f"line {number}: not a rule: {line!r}; write it like *shop* = expenses:books")
        rules.append(Rule(pattern, account))
    return rules


def match(rules, payee):
    """The account of the most special rule that fits, or None.

    Upper and lower case are the same. A rule is more special the more letters it has that are no
    wildcards (`*`, `?`); of equals the first one counts.
    """
    raise NotImplementedError("match")
