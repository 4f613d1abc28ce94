#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""truth.py INGEST WORK_DIR [--seeds N] [--first N | --fresh] [--in-turn] [--only NAME] [--jobs N] [--keep] [--floors]
[--summary] [--samples DIR]: how true the verdicts are.

Writes snapshots of programs whose leaks and iterations are known, ingests each, and compares: of every seed, or, with
--in-turn, each program of one of them, the next program of the next; with --fresh of seeds that nobody has tried. Prints a table; with --floors the exit status says
whether the figures are good enough. With --summary the words on the screen have to agree with the verdicts: a leak is in
the headline where there is one, and else it says none. With --samples real files whose truth is known are looked at
too, where they are there.
"""
import argparse
import bisect
import collections
import concurrent.futures
import os
import random
import re
import sqlite3
import subprocess
import sys

import database as loaded
from program import Program
import frameworks  # noqa: F401  (its scenarios are in ALL, too,
import held  # noqa: F401  and so are these)
from scenarios import ALL, RANKS

STYLES = ("python", "all")
FLOORS = {"leak precision": 0.98, "leak recall": 0.97, "steps right": 0.98, "steps found": 0.90,
          "forecast precision": 1.0, "forecast recall": 0.83, "category precision": 0.95, "category coverage": 0.9}

# Seeds of which something is not told, in both styles, and why; or was not told once. What else is wrong of them fails, and so does
# what is told by now.
SCATTER = "what leaks is less than what the steps scatter by"
KNOWN_MISSES = {
    ("critic_more_often", 461510): {"no steps": "too few other places recur as often as the nearest one"},
    ("critic_more_often", 991075): {"no steps": "the nearest place recurs as often as no optimizer runs"},
    ("leak_late", 461508): {"forecast": SCATTER}, ("leak_late", 461509): {"forecast": SCATTER}, ("leak_late", 461510): {"forecast": SCATTER},
    ("leak_now_and_then", 461508): {"forecast": SCATTER},
    ("leak_now_and_then", 461509): {"forecast": SCATTER},
    ("leak_with_accumulation", 461509): {},
    ("loader_in_a_thread", 461509): {"no steps": "the distances of the nearest place are not alike enough"},
    ("loader_in_a_thread", 461510): {"no steps": "what is live at the nearest place comes and goes, as in accumulation"},
    ("loader_in_a_thread", 960081): {"no steps": "what is live at the nearest place comes and goes, as in accumulation"},
    ("loader_in_a_thread", 991081): {"no steps": "what is live at the nearest place comes and goes, as in accumulation"}}


class Figures(collections.Counter):
    def ratio(self, part, whole):
        return self[part] / self[whole] if self[whole] else 1.0

    def values(self):
        return {"leak precision": self.ratio("leak right", "leak called"),
                "leak recall": self.ratio("leak found", "leak true"),
                "steps right": self.ratio("steps right", "steps claimed"),
                "steps found": self.ratio("steps found", "steps true"),
                "forecast precision": self.ratio("forecast right", "forecast called"),
                "forecast recall": self.ratio("forecast found", "forecast true"),
                "category precision": self.ratio("category right MiB", "category called MiB"),
                "category coverage": self.ratio("category found MiB", "category true MiB")}


def make(name, style, seed, path, rank=0):
    """The program of a style has the same lines as that of the other: only what is told of them differs."""
    program = Program(random.Random(f"{name} {seed}"), style)
    program.rank = rank
    program.pool.time_us += 37 * rank  # no two processes run at the same time to the microsecond, and what is equal is one file
    ALL[name](program)
    program.write(path)
    return program


def ingest(tool, path, database, options=("--quiet",)):
    """What is wrong, or None; and what it printed. Of several files, one path a line."""
    loaded.forget()
    done = subprocess.run([tool, *options, "--force", "-o", database, *path.split("\n")], capture_output=True, text=True)
    return None if done.returncode in (0, 3) else f"exit {done.returncode}: {done.stderr.strip()}", done.stdout


def judge_headline(text, called):
    """Firm verdicts alone are in the headline."""
    lines = [line for line in text.splitlines() if re.match(r"\d+ LEAK ", line)]
    says_leak = bool(lines)
    return [] if says_leak == bool(called) else [f"the headline says {lines}, not {sorted(called)}"]


# Real files: who leaks, and how many steps may be claimed at most.
SAMPLES = {"torch/one_forward.pickle": (0, 1), "torch/one_training_step.pickle": (0, 1),
           "torch/one_forward_12_layers.pickle": (0, 1), "torch/inference_user_metadata.pickle": (0, 1),
           "torch/one_step_own_adamw.pickle": (0, 1), "scenes/own_adamw_one_step.pickle": (0, 1),
           "scenes/gradual_unfreezing.pickle": (0, 60), "scenes/lora_never_unloaded.pickle": (328, 100),
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
    try:
        return loaded.rows(database, sql)
    except sqlite3.OperationalError:
        return []


def judge_leaks(program, called, figures):
    """What is wrong, in words."""
    found = [wanted for wanted in program.leaks if wanted & called]
    right = {label for label in called if any(label in wanted for wanted in program.leaks)}
    figures["leak true"] += len(program.leaks)
    figures["leak found"] += len(found)
    figures["leak called"] += len(called)
    figures["leak right"] += len(right)
    figures["replacement called"] += len(called & program.replaced)
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


def run_ranks(options, name, style, seed):
    """Each file by itself: what leaks in it, and its steps. They are one run, so nothing else is judged."""
    figures, wrong = Figures(), []
    paths = [f"{options.work}/{name}-{style}-{seed}-rank{rank}.pickle" for rank in range(RANKS[name])]
    database = f"{options.work}/{name}-{style}-{seed}.db"
    programs = [make(name, style, seed, path, rank) for rank, path in enumerate(paths)]
    error, text = ingest(options.ingest, "\n".join(paths), database, () if options.summary else ("--quiet",))
    if error is not None:
        figures["headline wrong"] += 1
        return [error], figures, collections.Counter()
    for path, program in zip(paths, programs):
        where = f"JOIN process AS p USING (process_id) JOIN input AS i USING (input_id) WHERE i.path = '{path}'"
        called = {row[0] for row in rows(database, "SELECT f.label FROM z_site_verdict AS v JOIN heap USING (heap_id) JOIN"
                                         f" frame AS f ON f.frame_id = v.site_frame_id {where} AND v.verdict = 'growing'")}
        begins = [row[0] for row in rows(database, f"SELECT s.begin_seq FROM step AS s {where} ORDER BY s.begin_seq")]
        wrong += judge_leaks(program, called, figures) + judge_steps(program, begins, figures)
    if options.summary:
        wrong += judge_headline(text, {label for program in programs for wanted in program.leaks for label in wanted})
    for path in [] if options.keep else [*paths, database]:
        os.remove(path)
    return wrong, figures, collections.Counter()


def judge_forecast(program, step_count, verdicts, figures):
    """A trend is to be seen where something leaks in eight steps or more, and nowhere else."""
    is_true, is_called = bool(program.leaks) and step_count >= 8, any(row[0] == "growing" for row in verdicts)
    figures["forecast true"] += is_true
    figures["forecast found"] += is_true and is_called
    figures["forecast called"] += is_called
    figures["forecast right"] += is_called and bool(program.leaks)
    if is_called and not program.leaks:
        return ["forecast: it grows"]
    return [f"forecast: {sorted({row[1] for row in verdicts})}"] if is_true and not is_called else []


def judge_categories(program, database, figures):
    """By bytes, over all allocations. What fits no rule may stay unknown; what is called something has to be that."""
    wrong = collections.Counter()
    for entry, size, name in rows(database, "SELECT a.alloc_seq, a.size_bytes, c.name FROM allocation AS a JOIN heap AS h "
                                  "ON h.heap_id = a.heap_id AND h.level = 2 LEFT JOIN z_category AS c USING (category_id) "
                                  "WHERE a.alloc_seq IS NOT NULL"):
        true, size = program.categories.get(entry, ()), size / (1 << 20)
        figures["category called MiB"] += size * (name is not None)
        figures["category right MiB"] += size * (name in true)
        figures["category true MiB"] += size * (true != ())
        figures["category found MiB"] += size * (true != () and name is not None)
        figures[f"  {name or 'unknown'} MiB"] += size
        if name is not None and name not in true:
            wrong[f"a category: {'|'.join(true) or 'none'} is called {name}"] += size
    return [f"{text}, {size:.1f} MiB" for text, size in wrong.items() if size > 0.01 * figures["category called MiB"]]


def run(options, name, style, seed):
    """What is wrong in words, figures, and how often which reason was given for what is no leak."""
    figures, reasons = Figures(), collections.Counter()
    path, database = f"{options.work}/{name}-{style}-{seed}.pickle", f"{options.work}/{name}-{style}-{seed}.db"
    program = make(name, style, seed, path)
    error, text = ingest(options.ingest, path, database, () if options.summary else ("--quiet",))
    if error is not None:
        figures["headline wrong"] += 1
        return [error], figures, reasons
    called = {row[0] for row in rows(database, "SELECT site FROM leak_by_site")}
    begins = [row[0] for row in rows(database, "SELECT begin_seq FROM step ORDER BY begin_seq")]
    for verdict, reason in rows(database, "SELECT verdict, reason FROM suspect_by_site"):
        reasons[f"{verdict}: {reason}"] += 1
    wrong = judge_leaks(program, called, figures) + judge_steps(program, begins, figures)
    wrong += judge_categories(program, database, figures)
    wrong += judge_forecast(program, len(begins), rows(database, "SELECT verdict, reason FROM forecast"), figures)
    if program.steps is not None and len(program.steps) > 3 and not program.is_steps_open and not begins:
        wrong.append("no steps: " + rows(database, "SELECT reason FROM step_origin")[0][0])
    headline = judge_headline(text, called) if options.summary else []
    figures["headline wrong"] += len(headline)
    if not options.keep:
        os.remove(path)
        os.remove(database)
    return wrong + headline, figures, reasons


def judge_known(name, seed, wrong):
    """What is not as KNOWN_MISSES says."""
    said, known = {text.split(": ")[0] for text in wrong}, set(KNOWN_MISSES[name, seed])
    return [f"not in KNOWN_MISSES: {text}" for text in sorted(said - known)] + \
        [f"no longer missed, take it off the list: {text}" for text in sorted(known - said)]


def run_known(options, pool):
    """Prints what has changed of the known misses; whether nothing has."""
    names = None if options.only is None else options.only.split(",")
    runs = [(name, style, seed, pool.submit(run, options, name, style, seed))
            for name, seed in KNOWN_MISSES if names is None or name in names for style in STYLES]
    changed = [f"  {name}, {style}, seed {seed}: {text}" for name, style, seed, future in runs
               for text in judge_known(name, seed, future.result()[0])]
    print("\n".join([*changed, f"known misses: {len(runs)} runs, {len(changed)} changed"]))
    return not changed


def write_table(all_figures, reasons):
    """Whether it is good enough."""
    is_good = True
    print(f"{'':20}" + "".join(f"{style:>9}" for style in STYLES) + f"{'floor':>9}")
    for key, floor in FLOORS.items():
        values = [all_figures[style].values()[key] for style in STYLES]
        is_good &= min(values) >= floor
        print(f"{key:20}" + "".join(f"{value:9.3f}" for value in values) + f"{floor:9.2f}")
    for key in sorted({key for figures in all_figures.values() for key in figures}):
        print(f"  {key:40}" + "".join(f"{all_figures[style][key]:8.0f}" for style in STYLES))
    print("what is live at the end and in no count of leaks:")
    for key in sorted({key for counts in reasons.values() for key in counts}):
        print(f"  {key:40}" + "".join(f"{reasons[style][key]:8}" for style in STYLES))
    return is_good and not any(figures[key] for figures in all_figures.values()
                               for key in ("headline wrong", "replacement called"))


def options_of():
    """The command line, and the seeds that it means."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ingest")
    parser.add_argument("work")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--samples")
    options = parser.parse_args()
    if options.fresh:
        options.first = random.randrange(1000, 1000000)
        print(f"seeds from {options.first} on")
    os.makedirs(options.work, exist_ok=True)
    return options, range(options.first, options.first + options.seeds)


def main():
    options, seeds = options_of()
    figures, reasons = {style: Figures() for style in STYLES}, {style: collections.Counter() for style in STYLES}
    names = list(ALL) if options.only is None else options.only.split(",")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        runs = [(name, style, seed, pool.submit(run_ranks if name in RANKS else run, options, name, style, seed))
                for at, name in enumerate(names) for style in STYLES
                for seed in ([seeds[at % len(seeds)]] if options.in_turn else seeds)]
        for name, style, seed, future in runs:
            wrong, found, why = future.result()
            figures[style].update(found)
            reasons[style].update(why)
            for text in wrong:
                print(f"  {name}, {style}, seed {seed}: {text}")
        is_known = run_known(options, pool)
    is_good = is_known & write_table(figures, reasons)
    is_good &= not judge_samples(options)
    return 0 if is_good or not options.floors else 1


if __name__ == "__main__":
    sys.exit(main())
