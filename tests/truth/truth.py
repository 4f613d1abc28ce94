#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""truth.py INGEST WORK_DIR [--seeds N] [--first N] [--only NAME] [--keep] [--floors] [--summary] [--samples DIR]: how true
the verdicts are.

Writes snapshots of programs whose leaks and iterations are known, ingests each, and compares. Prints a table; with
--floors the exit status says whether the figures are good enough. With --summary the words on the screen have to agree
with the verdicts: a leak is in the headline where there is one, and else it says none. With --samples real files whose
truth is known are looked at too, where they are there.
"""
import argparse
import bisect
import collections
import os
import random
import sqlite3
import subprocess
import sys

from program import Program
from scenarios import ALL

STYLES = ("python", "all")
FLOORS = {"python": {"precision": 0.97, "recall": 0.97, "right": 0.98, "found": 0.90},
          "all": {"precision": 0.95, "recall": 0.95, "right": 0.98, "found": 0.90}}


class Figures(collections.Counter):
    def ratio(self, part, whole):
        return self[part] / self[whole] if self[whole] else 1.0

    def values(self):
        return {"precision": self.ratio("leak right", "leak called"), "recall": self.ratio("leak found", "leak true"),
                "right": self.ratio("steps right", "steps claimed"), "found": self.ratio("steps found", "steps true")}


def make(name, style, seed, path):
    """The program of a style has the same lines as that of the other: only what is told of them differs."""
    program = Program(random.Random(f"{name} {seed}"), style)
    ALL[name](program)
    program.write(path)
    return program


def ingest(tool, path, database, options=("--quiet",)):
    """What is wrong, or None; and what it printed."""
    done = subprocess.run([tool, *options, "--force", "-o", database, path], capture_output=True, text=True)
    return None if done.returncode in (0, 3) else f"exit {done.returncode}: {done.stderr.strip()}", done.stdout


def judge_headline(text, called):
    """Firm verdicts alone are in the headline."""
    lines = [line.split(None, 1)[1] for line in text.splitlines() if line.strip().startswith("leaks ")]
    says_leak = any(not line.startswith(("none", "not judged")) for line in lines)
    return [] if says_leak == bool(called) else [f"the headline says {lines}, not {sorted(called)}"]


# Real files: who leaks, and how many steps may be claimed at most.
SAMPLES = {"torch/one_forward.pickle": (0, 1), "torch/one_training_step.pickle": (0, 1),
           "torch/one_forward_12_layers.pickle": (0, 1), "torch/inference_user_metadata.pickle": (0, 1),
           "torch_npu/snapshot_no_leak.pkl": (0, 3), "torch_npu/snapshot_expandable.pkl": (3, 3),
           "torch_npu/snapshot_with_empty_cache.pkl": (3, 3)}


def judge_samples(options):
    wrong = []
    for name, (blocks, steps) in SAMPLES.items():
        path, database = f"{options.samples}/{name}", f"{options.work}/sample.db"
        if not options.samples or not os.path.exists(path):
            continue
        error, _ = ingest(options.ingest, path, database)
        if error is not None:
            print(f"  {name}: {error}")
            continue
        found = (rows(database, "SELECT count(*) FROM leak")[0][0], rows(database, "SELECT count(*) FROM step")[0][0])
        print(f"  {name}: {found[0]} leaked blocks, {found[1]} steps")
        wrong += [name] if found[0] != blocks or found[1] > steps else []
        os.remove(database)
    return wrong


def rows(database, sql):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()


def judge_leaks(program, called, figures):
    """What is wrong, in words."""
    found = [wanted for wanted in program.leaks if wanted & called]
    right = {label for label in called if any(label in wanted for wanted in program.leaks)}
    figures["leak true"] += len(program.leaks)
    figures["leak found"] += len(found)
    figures["leak called"] += len(called)
    figures["leak right"] += len(right)
    out = [f"called a leak: {label}" for label in sorted(called - right)]
    return out + [f"missed: {'|'.join(sorted(wanted))}" for wanted in program.leaks if wanted not in found]


def are_right(program, begins):
    """Between two claimed begins lies one true one, or one core of an iteration, but for the ends of the run."""
    if not begins:
        return False
    for true in (program.steps[:-1], program.cores):
        counts = [bisect.bisect_right(true, begin) for begin in begins]
        gaps = [after - before for before, after in zip(counts, counts[1:])]
        if true and all(gap == 1 for gap in gaps[1:]) and sum(counts[:1] + gaps[:1]) <= 2 and \
                len(true) - counts[-1] <= 2:
            return True
    return False


def judge_steps(program, begins, figures):
    count = len(begins)
    is_open = program.is_steps_open
    if program.steps is not None and len(program.steps) > 3 and not is_open:
        figures["steps true"] += 1
        figures["steps found"] += count >= 3 and are_right(program, begins)
    if count == 0 or (count == 1 and program.steps is None):
        return []
    figures["steps claimed"] += 1
    if program.steps is None:
        is_right = count <= program.allows_steps
    else:
        is_right = are_right(program, begins)
    figures["steps right"] += is_right
    true = "none" if program.steps is None else len(program.steps) - 1
    return [] if is_right else [f"{count} steps, not {true}"]


def run(options, name, style, seed, figures, reasons):
    path, database = f"{options.work}/{name}-{style}-{seed}.pickle", f"{options.work}/{name}-{style}-{seed}.db"
    program = make(name, style, seed, path)
    error, text = ingest(options.ingest, path, database, () if options.summary else ("--quiet",))
    if error is not None:
        return [error]
    called = {row[0] for row in rows(database, "SELECT site FROM leak_by_site")}
    begins = [row[0] for row in rows(database, "SELECT begin_seq FROM step ORDER BY begin_seq")]
    for verdict, reason in rows(database, "SELECT verdict, reason FROM suspect_by_site"):
        reasons[f"{verdict}: {reason}"] += 1
    wrong = judge_leaks(program, called, figures) + judge_steps(program, begins, figures)
    if program.steps is not None and len(program.steps) > 3 and not program.is_steps_open and not begins:
        wrong.append("no steps: " + rows(database, "SELECT reason FROM step_origin")[0][0])
    headline = judge_headline(text, called) if options.summary else []
    figures["headline wrong"] += len(headline)
    wrong += headline
    if not options.keep:
        os.remove(path)
        os.remove(database)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingest")
    parser.add_argument("work")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--samples")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    all_figures, reasons = {style: Figures() for style in STYLES}, collections.Counter()
    for name in ALL if options.only is None else options.only.split(","):
        for style in STYLES:
            for seed in range(options.first, options.first + options.seeds):
                for text in run(options, name, style, seed, all_figures[style], reasons):
                    print(f"  {name}, {style}, seed {seed}: {text}")
    is_good = True
    print(f"{'stacks':8} {'leak precision':>15} {'recall':>7} {'steps right':>12} {'found':>6}")
    for style, figures in all_figures.items():
        values = figures.values()
        print(f"{style:8} {values['precision']:15.3f} {values['recall']:7.3f} {values['right']:12.3f}"
              f" {values['found']:6.3f}   {dict(figures)}")
        is_good &= all(values[key] >= floor for key, floor in FLOORS[style].items()) and figures["headline wrong"] == 0
    for reason, count in reasons.most_common():
        print(f"  {count:6} {reason}")
    is_good &= not judge_samples(options)
    return 0 if is_good or not options.floors else 1


if __name__ == "__main__":
    sys.exit(main())
