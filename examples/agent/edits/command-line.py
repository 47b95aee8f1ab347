# claim: every command prints its report
# file: inkwell/cli.py
from inkwell import money, report, rules, table


def run(arguments):
    """The text that a command prints, or None when there is no such command.

    `guess` is a table of all payees with the account that the rules give them, or `?`. `share` says
    in a sentence, wrapped at 60 characters, what each of some persons pays of an account's balance.
    """
    command, values = arguments[:1], arguments[1:]
    if command == ["balance"] and len(values) == 1:
        return report.balance_report(load(values[0]))
    if command == ["monthly"] and len(values) in (1, 2):
        return report.monthly_report(load(values[0]), *values[1:])
    if command == ["guess"] and len(values) == 2:
        return guess(load(values[0]), values[1])
    if command == ["share"] and len(values) == 3 and values[2].isdigit() and int(values[2]) > 0:
        return share(load(values[0]), values[1], int(values[2]))
    return None


def guess(ledger, path):
    """A table of all payees with the accounts that the rules of a file give them."""
    with open(path, encoding="utf-8") as file:
        known = rules.parse_rules(file.read())
    return table.render([[payee, rules.match(known, payee) or "?"] for payee in ledger.payees()])


def share(ledger, account, persons):
    """What each of some persons pays of an account's balance."""
    balance = ledger.balances().get(account, money.Amount(0, ledger.currency))
    parts = ", ".join(money.format_amount(part) for part in money.split(balance, persons))
    whole = money.format_amount(balance)
    return "\n".join(table.wrap_cell(f"{account} of {whole} for {persons} persons: {parts}", 60)) + "\n"
