"""Days and months of a journal."""

import datetime
import re

_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})$")


class DateError(ValueError):
    """A text that is no day of the calendar."""


def parse_date(text):
    """Reads `2025-03-01`."""
    match = _DATE.match(text)
    if match is None:
        raise DateError(f"not a date: {text!r}; write it like 2025-03-01")
    try:
        return datetime.date(*map(int, match.groups()))
    except ValueError as error:
        raise DateError(f"not a date: {text!r}: {error}") from error


def month_name(month):
    """`2025-03` for the pair (2025, 3)."""
    return "%04d-%02d" % month


def week_of(day):
    """The week of a day as the pair (year, week), as ISO 8601 counts them."""
    raise NotImplementedError("week_of")


def last_day(month):
    """The last day of a month, given as the pair (year, month)."""
    raise NotImplementedError("last_day")


def month_of(day):
    """The month of a day as the pair (year, month)."""
    return (day.year, day.month)


def months_between(first, last):
    """All months from that of the day `first` to that of `last`, as pairs; none when last is before first."""
    raise NotImplementedError("months_between")
