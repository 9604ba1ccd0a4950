"""The Python peers, on the jobs of `benches/run`: nanoseconds for each occurrence, without windows.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install croniter pandas polars
    /tmp/peers/bin/python benches/peers/peers.py

A peer that is not installed is passed over.
"""

import importlib
import statistics
import time
from datetime import datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
STARTS = [datetime(2026, 1 + at % 12, 1 + at % 28, at % 24, 17, tzinfo=AMSTERDAM) for at in range(200)]


def croniter_next(croniter):
    for start in STARTS:
        croniter.croniter("0 7 * * *", start).get_next(datetime)
    return len(STARTS)


def pandas_daily(pandas):
    return len(pandas.date_range("2026-01-01 07:00", "2026-12-31 07:00", freq="D", tz="Europe/Amsterdam"))


def pandas_five_minutes(pandas):
    return len(pandas.date_range("2026-01-01", "2027-01-01", freq="5min", inclusive="left"))


def polars_five_minutes(polars):
    made = polars.datetime_range(datetime(2026, 1, 1), datetime(2027, 1, 1), "5m", closed="left", eager=True)
    return len(made)


def polars_daily(polars):
    made = polars.datetime_range(
        datetime(2026, 1, 1, 7), datetime(2026, 12, 31, 7), "1d", time_zone="Europe/Amsterdam", eager=True
    )
    return len(made)


JOBS = [
    ("next occurrence, daily in a zone", "croniter", croniter_next, len(STARTS)),
    ("a year, daily in a zone", "pandas", pandas_daily, 365),
    ("a year, daily in a zone", "polars", polars_daily, 365),
    ("a year, every 5 min", "pandas", pandas_five_minutes, 365 * 288),
    ("a year, every 5 min", "polars", polars_five_minutes, 365 * 288),
]


def main():
    print("| job | peer | each |\n|---|---|---|")
    for job, name, work, expected in JOBS:
        try:
            peer = importlib.import_module(name)
        except ImportError:
            print(f"| {job} | {name} | not installed |")
            continue
        spent = []
        for _ in range(15):
            begun = time.perf_counter_ns()
            made = work(peer)
            spent.append((time.perf_counter_ns() - begun) / made)
            assert made == expected, f"{name} makes {made} and not {expected}"
        print(f"| {job} | {name} {version(name)} | {statistics.median(spent):,.1f} ns |")


if __name__ == "__main__":
    main()
