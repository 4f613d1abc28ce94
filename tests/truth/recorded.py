#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorded.py RECORD INGEST CHECK PROGRAMS WORK_DIR [--floors] [--only CASE,...] [--keep]: how true the verdicts on recorded
programs are.

Records small programs on the stand-in whose leaks are known (small_job, the torch_npu-like and the vLLM-like program), each
ending by itself, by reset and finalize, and by a signal, ingests each trace, and compares. Prints a table, a line for each
kind of end; with --floors the exit status says whether the figures are good enough.
"""
import argparse
import collections
import concurrent.futures
import os
import sqlite3
import subprocess
import sys

ENDS = ("exit", "reset", "kill", "term")
FLOOR = 0.97
CATEGORY_FLOOR = 0.95
WORKERS = 2

# Of small_job: what it allocates (d: driver memory, p: of a pool; of two it is the one or the other at each end), and how
# many steps it takes.
CASES = {"healthy": ("dp", 40), "growing": ("dp", 40), "each-tenth": ("dp", 80), "unreleased": ("d", 40),
         "callback": ("dp", 40), "helper": ("dp", 40), "helper-healthy": ("dp", 40), "append": ("p", 40),
         "cache": ("dp", 60), "queue": ("dp", 40), "graphs": ("dp", 40), "one-rank": ("p", 20)}

Job = collections.namedtuple("Job", "name end command ingest_options")


def small_jobs():
    """Every second one does not say where its steps begin."""
    for at, (name, (kinds, steps)) in enumerate(CASES.items()):
        for place, end in enumerate(ENDS):
            kind = kinds[(at + place // 2) % len(kinds)]
            command = ["small_job", name, "--steps", str(steps), "--end", end]
            command += ["--pool"] if kind == "p" else []
            command += ["--silent"] if (at + place) % 2 == 1 else []
            command += ["--ranks", "8"] if name == "one-rank" else []
            yield Job(f"{name}-{kind}", end, command, [])


def frameworks():
    """torch_npu ends by a reset at exit. A server's requests are its steps."""
    for end in ("exit", "reset"):
        plain = ["--no-reset"] if end == "exit" else []
        yield Job("torch", end, ["torch_like", "--steps", "10", *plain], [])
        yield Job("torch-leak", end, ["torch_like", "--steps", "10", "--leak", *plain], [])
    for end in ENDS:
        for name, options in {"vllm": [], "vllm-pool": ["--mem-pool"], "vllm-leak": ["--leak", "pool"],
                              "vllm-leak-driver": ["--leak", "driver", "--mem-pool"]}.items():
            yield Job(name, end, ["vllm_like", "--requests", "15", "--end", end, *options], ["--step-at", "answer"])


def rows(database, sql):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def truth_of(job, text):
    """What leaks: functions, any of which may be named, with the rank and the number of allocations."""
    lines = [line.split() for line in text.splitlines()]
    if job.command[0] == "small_job":
        rank = 5 if job.name.startswith("one-rank") else None
        return [(set(line[1].split("|")), rank, int(line[2])) for line in lines if line[:1] == ["leak"]]
    figures = {line[0]: line[1] for line in lines if len(line) == 2}
    count = int(figures["leak.count"])
    # All of torch_like but its main is in a library of torch by its name.
    return [({"main" if job.command[0] == "torch_like" else "forget_one"}, None, count)] if count else []


def run(job, options):
    """The job's output, and its database; or what went wrong."""
    path = f"{options.work}/{job.name}-{job.end}"
    with open(f"{path}.out", "w", encoding="utf-8") as out:
        subprocess.run([options.record, "-q", "--force", "--buffer", "8M", "-o", f"{path}.zst", "--",
                        f"{options.programs}/{job.command[0]}", *job.command[1:]], stdout=out, stderr=subprocess.DEVNULL, timeout=120, check=False)
    done = subprocess.run([options.ingest, "--quiet", "--force", *job.ingest_options, "-o", f"{path}.db", f"{path}.zst"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, f"ingest: exit {done.returncode}: {done.stderr.strip()}"
    with open(f"{path}.out", encoding="utf-8") as out:
        return f"{path}.db", out.read()


def judge(job, database, text, figures, options):
    wanted = truth_of(job, text)
    found = rows(database, "SELECT site, rank, leak_count, level FROM leak_by_site")
    wrong = []
    for functions, rank, count in wanted:
        own = [row for row in found if row[0].split()[-1] in functions and (rank is None or row[1] == rank)]
        figures["true"] += 1
        figures["found"] += len(own) == 1
        figures["exact"] += [row[2] for row in own] == [count]
        if [row[2] for row in own] != [count]:
            wrong.append(f"{'|'.join(sorted(functions))} {count}: found {own}")
    for row in found:
        is_right = any(row[0].split()[-1] in functions and (rank is None or row[1] == rank)
                       for functions, rank, count in wanted)
        figures["called"] += 1
        figures["right"] += is_right
        if not is_right:
            wrong.append(f"called a leak: {row}")
    return wrong + ([] if wanted else judge_healthy(database, figures, options))


# What small_job's functions make; nothing else of it may be called anything.
MADE_BY = {"build": ("weight",), "forward": ("activation",), "backward": ("gradient", "temporary"),
           "grow_workspace": ("workspace",), "capture_one": ("graph",)}


def judge_categories(job, database, figures):
    """By allocations, segments left out. Its functions have no ranges around them, and no Python."""
    if job.command[0] != "small_job":
        return []
    wrong = []
    for site, name, count in rows(database, "SELECT f.label, c.name, count(*) FROM allocation AS a JOIN z_category AS c USING "
                                  "(category_id) LEFT JOIN stack AS s USING (stack_id) LEFT JOIN frame AS f ON f.frame_id = "
                                  "s.site_frame_id WHERE a.is_segment = 0 GROUP BY 1, 2"):
        is_right = name in MADE_BY.get((site or "").split(" ")[-1], ())
        figures["category called"] += count
        figures["category right"] += count * is_right
        wrong += [] if is_right else [f"{count} of {site} are called {name}"]
    return wrong


def judge_healthy(database, figures, options):
    """Where nothing leaks, nobody else says so either."""
    wrong = []
    gates = subprocess.run([options.check, database, "--no-leak", "--no-growth", "--no-rising"], capture_output=True,
                           text=True, check=False)
    if gates.returncode != 0:
        wrong.append(f"a gate: {gates.stdout.strip()}")
    for name, sql in {"forecast": "SELECT measure, level FROM forecast WHERE verdict = 'growing'",
                      "misuse": "SELECT kind, site FROM misuse",
                      "health": "SELECT measure, level FROM health WHERE measure LIKE '%leak%' AND verdict <> 'good'"}.items():
        said = rows(database, sql)
        if said:
            wrong.append(f"{name}: {said}")
    figures["false alarm"] += len(wrong) > 0
    return wrong


def print_table(all_figures, reasons):
    is_good = True
    print(f"{'ends by':8} {'precision':>10} {'recall':>7}   figures")
    for end in ENDS:
        figures = all_figures[end]
        precision = figures["right"] / figures["called"] if figures["called"] else 1.0
        recall = figures["found"] / figures["true"] if figures["true"] else 1.0
        print(f"{end:8} {precision:10.3f} {recall:7.3f}   {dict(figures)}")
        is_good &= precision >= FLOOR and recall >= FLOOR and figures["broken"] + figures["false alarm"] == 0
        is_good &= figures["exact"] >= FLOOR * figures["true"]
        is_good &= figures["category right"] >= CATEGORY_FLOOR * figures["category called"]
    for reason, count in reasons.most_common():
        print(f"  {count:6} {reason}")
    return is_good


def judge_run(job, database, text, options):
    figures = collections.Counter({"runs": 1, "broken": int(database is None)})
    wrong = [text] if database is None else judge(job, database, text, figures, options)
    return figures, wrong + ([] if database is None else judge_categories(job, database, figures))


def main():
    parser = argparse.ArgumentParser()
    for name in ("record", "ingest", "check", "programs", "work"):
        parser.add_argument(name)
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    jobs = [job for job in (*small_jobs(), *frameworks())
            if options.only is None or job.name in options.only.split(",")]
    all_figures, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        for job, (database, text) in zip(jobs, workers.map(lambda job: run(job, options), jobs)):
            figures, wrong = judge_run(job, database, text, options)
            if wrong and job.name.startswith("unreleased"):  # goes by how long blocks live: a busy machine may have held one
                database, text = run(job, options)
                figures, wrong = judge_run(job, database, text, options)
            all_figures[job.end].update(figures)
            for line in wrong:
                print(f"  {job.name}, {job.end}: {line}")
            if database is None:
                continue
            reasons.update(f"{verdict}: {reason}"
                           for verdict, reason in rows(database, "SELECT verdict, reason FROM suspect_by_site"))
            if not options.keep:
                for name in (database, database[:-3] + ".zst", database[:-3] + ".out"):
                    os.remove(name)
    is_good = print_table(all_figures, reasons)
    return 0 if is_good or not options.floors else 1


if __name__ == "__main__":
    sys.exit(main())
