# claim: the most special rule counts
# file: inkwell/rules.py
def match(rules, payee):
    """The account of the most special rule that fits, or None.

    Upper and lower case are the same. A rule is more special the more letters it has that are no
    wildcards (`*`, `?`); of equals the first one counts.
    """
    fitting = [rule for rule in rules if fnmatch.fnmatchcase(payee.lower(), rule.pattern.lower())]
    if not fitting:
        return None
    return max(fitting, key=lambda rule: len(rule.pattern.replace("*", "").replace("?", ""))).account
