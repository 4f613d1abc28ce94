#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""windows.py INGEST WORK_DIR [--seeds N] [--first N | --fresh] [--in-turn] [--only NAME] [--jobs N] [--floors]: is good news true where the
history is cut?

Of each program whose truth is known the last 2 to 12 steps alone, as a snapshot's ring of entries keeps them, one entry, and
none. Where the window holds a block that leaked, "no leak" is false. What is called a leak has to be one. Programs that
don't leak tell, whole, how often good news is kept from them, and whether anything is suspected of those without steps.
--in-turn: each program in one style, of one seed; --fresh: of seeds that nobody has tried. Prints a table; with --floors the exit
status says whether it is good enough.
"""
import collections
import concurrent.futures
import os
import random
import sys

import database as loaded
from program import Program
from scenarios import ALL, RANKS
from truth import STYLES, ingest, options_of

WINDOWS = (12, 8, 5, 4, 3, 2)  # steps; from the largest on, since each is cut from the one before
RECALL_WINDOWS = (12, 8, 5)
# Seeds of which something was called a leak that is none, or no leak with pages that leaked in the window.
AGAIN = (("kv_server_rising_load", 526149), ("kv_server_random_load", 526149), ("kv_server_random_load", 700000), ("kv_server_falling_load", 700000),
         ("replay_queue", 2), ("replay_queue", 319999), ("lru_cache", 319999), ("kv_server_for_hours", 0), ("kv_server_for_hours", 300029),
         ("kv_server_for_hours", 300038), ("kv_server_random_load", 300018), ("kv_server_falling_load", 300037),
         ("kv_server_for_hours", 526149), ("kv_server_for_hours", 940030),
         ("kv_server_that_leaks_for_hours", 960034), ("kv_server_that_leaks_for_hours", 961034))
FLOORS = {"false ok": 0, "false suspect": 0, "false again": 0, "leak precision": 0.98, "window recall": 0.8, "whole ok kept": 0.9}


def labels_of(block):
    return {f"{frame['filename'].split('/')[-1]}:{frame['line']} {frame['name']}" for frame in block["frames"]}


def leaked_blocks(program):
    """What is live at the end, was born in the window, and has a line that leaks."""
    born = {entry["addr"] for entry in program.pool.entries if entry["action"] == "alloc"}
    wanted = set().union(*program.leaks) if program.leaks else set()
    live = [block for segment in program.pool.state() for block in segment["blocks"] if block["state"] != "inactive"]
    return sum(block["address"] in born and bool(labels_of(block) & wanted) for block in live)


def verdict_of(options, program, path):
    """'ok', 'leak' or 'not judged: why' of what is said; lines that are falsely called a leak, all that are, and suspects."""
    database = path + ".db"
    program.write(path)
    error, _ = ingest(options.ingest, path, database)
    if error is not None:
        return error, set(), set(), set()
    said = loaded.rows(database, "SELECT severity, reason, site FROM finding WHERE kind = 'leak' ORDER BY finding_id")
    suspects = {row[0] for row in loaded.rows(database, "SELECT site FROM finding WHERE kind = 'suspect'")}
    severities = {row[0] for row in said}
    is_ok = "good" in severities and severities <= {"good"}
    sites = {row[2] for row in said if row[0] == "fault"}
    false = {site for site in sites if not any(site in wanted for wanted in program.leaks)}
    if not options.keep:
        os.remove(database)
        os.remove(path)
    if sites:
        return "leak", false, sites, suspects
    reasons = sorted({str(row[1]) for row in said if row[0] == "not judged"})
    return "ok" if is_ok else "not judged: " + ", ".join(reasons), false, sites, suspects


def note(figures, wrong, where, program, verdict, false, sites):
    count = leaked_blocks(program)
    figures[f"{where} {'leaking' if count else 'clean'}: {verdict}"] += 1
    figures["false leak"] += len(false)
    figures["called"] += len(sites)
    if count and verdict == "ok":
        figures["false ok"] += 1
        wrong.append(f"{where}: ok, with {count} leaked blocks")
    wrong.extend(f"{where}: called a leak: {site}" for site in sorted(false))
    if verdict.startswith("exit"):
        figures["false ok"] += 1
        wrong.append(f"{where}: {verdict}")
    return count, sites


def run(options, name, style, seed):
    figures, wrong = collections.Counter(), []
    path = f"{options.work}/{name}-{style}-{seed}.pickle"
    program = Program(random.Random(f"{name} {seed}"), style)
    ALL[name](program)
    verdict, false, sites, suspects = verdict_of(options, program, path)
    note(figures, wrong, "whole", program, verdict, false, sites)
    unjust = {site for site in suspects if not any(site in wanted for wanted in program.leaks)}
    figures["suspects"] += len(suspects)
    figures["false suspect"] += len(unjust)
    wrong += [f"whole: suspected: {site}" for site in sorted(unjust)]
    if not program.leaks and program.steps is not None and len(program.steps) > 3 and verdict != "not judged: no steps":
        figures["whole clean"] += 1
        figures["whole clean ok"] += verdict == "ok"
        wrong += [] if verdict == "ok" else [f"whole: {verdict}"]
    if program.steps is None:
        return wrong, figures
    step_count = len(program.steps) - 1
    for window in WINDOWS:
        if step_count < window + 2:  # a window is no window where it holds nearly all
            continue
        program.cut(program.steps[-(window + 1)])
        verdict, false, sites, suspects = verdict_of(options, program, path)
        count, _ = note(figures, wrong, f"window {window}", program, verdict, false, sites)
        if window in RECALL_WINDOWS and count >= 0.8 * window:
            figures["window true"] += 1
            figures["window found"] += bool(sites)
            figures[f"missed: {name}, {verdict}"] += not sites
    for left in (1, 0):
        del program.pool.entries[:len(program.pool.entries) - left]
        verdict, false, sites, suspects = verdict_of(options, program, path)
        figures[f"of {left} entries: {verdict}"] += 1
        if verdict == "ok":
            figures["false ok"] += 1
            wrong.append(f"of {left} entries: ok")
    return wrong, figures


def write_table(figures):
    ratio = lambda part, whole: figures[part] / figures[whole] if figures[whole] else 1.0  # noqa: E731
    values = {"false ok": figures["false ok"], "leak precision": 1 - ratio("false leak", "called") if figures["called"] else 1.0,
              "false suspect": figures["false suspect"], "false again": figures["false again"],
              "window recall": ratio("window found", "window true"), "whole ok kept": ratio("whole clean ok", "whole clean")}
    is_good = True
    for key, floor in FLOORS.items():
        is_good &= values[key] <= floor if key.startswith("false") else values[key] >= floor
        print(f"{key:20}{values[key]:9.3f}{floor:9.2f}")
    for key in sorted(key for key in figures if figures[key] or not key.startswith("missed")):
        print(f"  {key:70}{figures[key]:6}")
    return is_good


def main():
    options, seeds = options_of()
    names = [name for name in ALL if name not in RANKS] if options.only is None else options.only.split(",")
    figures = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        runs = [(name, style, seed, pool.submit(run, options, name, style, seed)) for at, name in enumerate(names)
                for style in ([STYLES[at % 2]] if options.in_turn else STYLES)
                for seed in ([seeds[at % len(seeds)]] if options.in_turn else seeds)]
        runs += [(name, STYLES[0], seed, pool.submit(run, options, name, STYLES[0], seed)) for name, seed in AGAIN if options.only is None]
        for name, style, seed, future in runs:
            wrong, found = future.result()
            figures.update(found)
            figures["false again"] += found["false leak"] if (name, seed) in AGAIN else 0
            for text in wrong:
                print(f"  {name}, {style}, seed {seed}: {text}")
    return 0 if write_table(figures) or not options.floors else 1


if __name__ == "__main__":
    sys.exit(main())
