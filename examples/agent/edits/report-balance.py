# claim: the balance report lists each account with its entries
# file: inkwell/report.py
def balance_report(ledger):
    """What each account holds, with the number of its entries: a table under the heading `Balance`.

    An empty ledger gives the heading and the line `no transactions`.
    """
    if ledger.is_empty():
        return title("Balance") + footer(ledger)
    balances = ledger.balances()
    amounts = align_decimal([format_amount(amount) for amount in balances.values()])
    counts = [str(len(ledger.register(account))) for account in balances]
    table = render(
        list(zip(balances, amounts, counts)),
        header=["account", "balance", "entries"],
        align=["left", "right", "right"],
    )
    return title("Balance") + table + footer(ledger)
