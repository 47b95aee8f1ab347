# claim: months are counted over the turn of the year
# learning: {"context": "inkwell: days and months", "discovery": "a month added as 30 days falls into the wrong month at the turn of a year", "rule": "Count months with inkwell.dates, never by adding days", "check": "! grep -rnE 'timedelta[(]days=(28|29|30|31)[)]' inkwell"}
# file: inkwell/dates.py
import calendar


def last_day(month):
    """The last day of a month, given as the pair (year, month)."""
    return datetime.date(*month, calendar.monthrange(*month)[1])


def months_between(first, last):
    """All months from that of the day `first` to that of `last`, as pairs; none when last is before first."""
    start = first.year * 12 + first.month - 1
    end = last.year * 12 + last.month - 1
    return [(count // 12, count % 12 + 1) for count in range(start, end + 1)]
