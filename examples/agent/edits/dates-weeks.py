# wait: demand
# claim: the first days of a year may belong to the last week of the year before
# file: inkwell/dates.py
def week_of(day):
    """The week of a day as the pair (year, week), as ISO 8601 counts them."""
    year, week, _ = day.isocalendar()
    return (year, week)
