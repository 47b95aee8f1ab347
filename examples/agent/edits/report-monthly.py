# claim: months without a posting are in the report
# file: inkwell/report.py
from inkwell.chart import bar


def monthly_report(ledger, account="expenses"):
    """What was put on an account in each month from the first to the last, with a bar for each.

    A table under the heading `expenses by month`; months without a posting are there with 0.00.
    """
    heading = title(f"{account} by month")
    if ledger.is_empty():
        return heading + footer(ledger)
    months = months_between(*ledger.span())
    sums = []
    for month in months:
        entries = ledger.month(month).register(account)
        sums.append(total((entry.amount for entry in entries), ledger.currency))
    largest = max(amount.cents for amount in sums)
    bars = [bar(amount.cents, largest, 20) for amount in sums]
    amounts = align_decimal([format_amount(amount) for amount in sums])
    return heading + render(list(zip(map(month_name, months), amounts, bars))) + footer(ledger)
