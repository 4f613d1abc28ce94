# SPDX-License-Identifier: Apache-2.0
"""suggestions.py WHATIF WORK [--seeds N] [--samples FOLDER]: what npumem whatif --suggest says of random pools (fragmentation.py) and
of snapshots of others holds by its own table:

- a setting is a row of the table; a smaller device is enough for it than as recorded, or less is reserved, in the replay and (where no request had failed) than was recorded;
- the gain is the difference that the two rows have, and no more than was reserved without what lived at once;
- what of it is worse than as recorded by more than 2 % is said with its price;
- where no row is better, it says so, and there is no line to paste; a line to paste is never empty."""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys

from fragmentation import SCENARIOS, Watched

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
WORSE = 1.0202  # 2 %, and what figures are rounded to


def bytes_of(text):
    number, unit = text.split(" ")
    return float(number) * UNITS[unit]


def is_near(said, exact):
    """As far as it has digits."""
    figure, unit = said.split(" ")
    decimals = len(figure.partition(".")[2])
    return abs(bytes_of(said) - exact) <= 0.51 * UNITS[unit] / 10 ** decimals


def hit_rate(row):
    return 1 - int(row["miss_count"]) / int(row["request_count"]) if int(row["request_count"]) else 1


def number(row, column):
    return int(row[column]) if row[column] else None


def check_price(text, now, best, problems):
    price = re.search(r"^price +(.*)$", text, re.M)
    if price is None:
        problems.append("no price")
        return
    said = price.group(1)
    if "driver call" not in said:
        problems.append(f"calls are not said: {said}")
    if now["is_fit"] != "1" or best["is_fit"] != "1":
        return
    for column, words in (("peak_reserved_bytes", "reserved instead of"), ("peak_stuck_bytes", "inactive split instead of"),
                          ("smallest_device_bytes", "a device of")):
        before, after = number(now, column), number(best, column)
        if before is not None and after is not None and after > before * WORSE and words not in said:
            problems.append(f"{column} goes from {before} to {after}, unsaid: {said}")
    if hit_rate(best) < hit_rate(now) / WORSE and "hit rate" not in said:
        problems.append(f"the hit rate goes from {hit_rate(now):.3f} to {hit_rate(best):.3f}, unsaid: {said}")


def check_gain(text, now, best, recorded, problems):
    gain = re.search(r"^gain +([\d.]+ \w+): (a device of )?([\d.]+ \w+) (is enough|are reserved) instead of ([\d.]+ \w+)", text, re.M)
    if gain is None:
        problems.append("no gain")
        return
    column = "smallest_device_bytes" if gain.group(2) else "peak_reserved_bytes"
    before, after = number(now, column), number(best, column)
    if after is None or before is None or after >= before:
        problems.append(f"{column}: {after} is no less than {before}")
    elif not is_near(gain.group(1), before - after) or not is_near(gain.group(3), after):
        problems.append(f"gain {gain.group(1)} to {gain.group(3)}, by the table {before - after} to {after}")
    if gain.group(2):
        return
    if recorded is not None and after >= recorded * 1.006:
        problems.append(f"{after} are reserved, and {recorded:.0f} were recorded")
    if bytes_of(gain.group(1)) > (before - number(now, "peak_live_bytes")) * 1.006 + 1:
        problems.append(f"gain {gain.group(1)} of {before} reserved with {now['peak_live_bytes']} live")


def judge(whatif, path, work):
    """(problems, was something suggested)"""
    table = f"{work}/settings.csv"
    if os.path.exists(table):
        os.remove(table)
    run = subprocess.run([whatif, "--suggest", "--compare", "--csv", table, path], capture_output=True, text=True)
    if "no suggestion:" in run.stderr or not os.path.exists(table):
        return ([] if run.returncode in (0, 1, 4) else [f"ended with {run.returncode}: {run.stderr}"]), None
    text, problems = run.stdout, []
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    name = list(rows[0])[0]
    now = rows[0]
    line = re.search(r"^recorded  +([\d.]+ \w+) ", text, re.M)
    recorded = bytes_of(line.group(1)) if line and "failures  " not in text else None  # what had failed is served in the replay
    setting = re.search(r"^PYTORCH_\w+_ALLOC_CONF=(.*)$", text, re.M)
    if setting is None:
        if "no setting is better than what was recorded" not in text:
            problems.append("neither a setting nor that there is none")
        return problems, False
    best = [row for row in rows if row[name] == setting.group(1)]
    if not setting.group(1) or len(best) != 1:
        return problems + [f"{setting.group(0)!r} is no row of the table"], True
    check_gain(text, now, best[0], recorded, problems)
    check_price(text, now, best[0], problems)
    return problems, True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("whatif")
    parser.add_argument("work")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    wrong, counts = [], {True: 0, False: 0, None: 0}
    for scenario in SCENARIOS:
        for seed in range(options.seeds):
            path = f"{options.work}/pool.pickle"
            p = Watched(f"suggest {scenario} {seed}")
            SCENARIOS[scenario](p)
            p.write(path)
            problems, is_suggested = judge(options.whatif, path, options.work)
            counts[is_suggested] += 1
            wrong += [f"{scenario} {seed}: {problem}" for problem in problems]
    for path in sorted(glob.glob(f"{options.samples}/scenes/*.pickle")) if options.samples else []:
        problems, is_suggested = judge(options.whatif, path, options.work)
        counts[is_suggested] += 1
        wrong += [f"{os.path.basename(path)}: {problem}" for problem in problems]
    for problem in wrong:
        print("  " + problem)
    print(f"{counts[True]} with a suggestion, {counts[False]} without, {counts[None]} not asked")
    return 0 if not wrong and min(counts[True], counts[False]) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
