"""Reports in plain text."""

from inkwell.dates import month_name, months_between
from inkwell.money import format_amount, total
from inkwell.table import align_decimal, render


def title(text):
    """A heading with a line under it."""
    return f"{text}\n{'=' * len(text)}\n\n"


def balance_report(ledger):
    """What each account holds, with the number of its entries: a table under the heading `Balance`.

    An empty ledger gives the heading and the line `no transactions`.
    """
    raise NotImplementedError("balance_report")


def footer(ledger):
    """The last line of every report: how many transactions it rests on, and of which days."""
    if ledger.is_empty():
        return "no transactions\n"
    first, last = ledger.span()
    return f"{len(ledger.transactions)} transactions, {first} to {last}\n"


def monthly_report(ledger, account="expenses"):
    """What was put on an account in each month from the first to the last, with a bar for each.

    A table under the heading `expenses by month`; months without a posting are there with 0.00.
    """
    raise NotImplementedError("monthly_report")
