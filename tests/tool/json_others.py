# SPDX-License-Identifier: Apache-2.0
"""json_others.py PROGRAMS DATABASE BASE: what npumem-check, diff, stack and whatif say as JSON, held to what the same programs print and
write as CSV. Prints what differs."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

PROGRAMS, DATABASE, BASE = sys.argv[1:]


def run(program, *arguments):
    done = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    return done.stdout, done.returncode


def in_chinese(program, *arguments):
    done = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True, env=dict(os.environ, LC_ALL="zh_CN.UTF-8"))
    return done.stdout


def is_same(value, cell):
    if value is None or isinstance(value, bool):
        return cell == ("" if value is None else str(int(value)))
    if isinstance(value, (int, float)):
        return cell != "" and abs(float(cell) - value) <= 1e-6 * max(1, abs(value))
    return value == cell


def csv_faults(what, rows, path):
    """Every column of the file is a member of the row, with its value."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if len(lines) != len(rows):
        yield "%s: %d rows, and the CSV has %d" % (what, len(rows), len(lines))
    for row, line in zip(rows, lines):
        for name, cell in line.items():
            if name in row and not is_same(row[name], cell):
                yield "%s: %s is %r, and %r in the CSV" % (what, name, row[name], cell)
    if rows and not set(rows[0]) & set(lines[0] if lines else {}):
        yield "%s: no column of the CSV" % what


def diff_faults(folder, *operands):
    text, status = run("npumem-diff", *operands)
    told, json_status = run("npumem-diff", "--json", "--force", "--csv", folder, *operands)
    if status not in (0, 1):
        if told != "" or json_status != status:
            yield "diff ends with %d, and %d with --json" % (status, json_status)
        return
    answer = json.loads(told)["diff"]
    if json_status != status or (answer["difference_count"] > 0) != (status == 1):
        yield "diff ends with %d, of %d differences" % (json_status, answer["difference_count"])
    for name in ("figures", "environment", "sites", "leaks"):
        if name in answer:
            path = os.path.join(folder, answer[name]["query"].replace(".sql", ".csv"))
            yield from csv_faults("diff " + name, answer[name]["rows"], path)
            # What is in bytes stands in the text in the words of JSON.
            for row in answer[name]["rows"][:3]:
                if (row.get("change_text") or "") not in text:
                    yield "diff %s: %s is not printed" % (name, row["change_text"])


def whatif_faults(folder):
    path = os.path.join(folder, "whatif.csv")
    told, status = run("npumem-whatif", "--json", "--suggest", "--compare", "--force", "--csv", path, DATABASE)
    text, text_status = run("npumem-whatif", "--suggest", "--compare", DATABASE)
    if status != text_status:
        yield "whatif ends with %d, and %d with --json" % (text_status, status)
    if text == "":
        return
    answer = json.loads(told)["whatif"]
    rows = [dict(row, **{"failure_" + name: value for name, value in (row["failure"] or {}).items()}) for row in answer["rows"]]
    yield from csv_faults("whatif", [dict(row, failure_cause=row.get("failure_cause", "")) for row in rows], path)
    suggested = answer["suggestion"]
    if (suggested is None) != ("no setting is better" in text):
        yield "whatif suggests %s" % suggested
    if suggested and "%s=%s" % (suggested["variable"], suggested["value"]) not in text:
        yield "whatif does not print %s" % suggested


def asked_again(db, figure):
    where = " AND ".join("%s IS ?" % name for name in figure["key"])
    return db.execute("SELECT %s FROM %s WHERE %s" % (figure["name"], figure["view"], where), list(figure["key"].values())).fetchall()


def sum_faults(what, stack_id, sum_of):
    """Each amount of a sum is a figure, and the view has it once, in a row of that stack and place."""
    db = sqlite3.connect("file:%s?mode=ro" % DATABASE, uri=True)
    amounts = [value for value in (sum_of["bytes"], sum_of["allocation_count"]) if value is not None]
    if [figure["value"] for figure in sum_of["figures"]] != amounts or any(asked_again(db, figure) != [(figure["value"],)] for figure in sum_of["figures"]):
        yield "stack %s: %s, and views have %s" % (what, sum_of, [asked_again(db, figure) for figure in sum_of["figures"]])
    for key in (figure["key"] for figure in sum_of["figures"] if figure["view"] == "stack_sum"):
        words = key["what"] + (" (%s)" % key["verdict"] if key["verdict"] else "")
        if (key["stack_id"], words) != (stack_id, sum_of["what"]) or any(key[name] != sum_of[name] for name in ("rank", "pid", "device")):
            yield "stack %s: %s is of another stack: %s" % (what, stack_id, sum_of)
    db.close()


def stack_faults(what):
    text, status = run("npumem-stack", "--color", "never", "--top", "1000", DATABASE, what)
    told, json_status = run("npumem-stack", "--json", "--top", "1000", DATABASE, what)
    stacks = json.loads(told)["stacks"]
    if status != json_status or (status == 0) != (len(stacks) > 0):
        yield "stack %s ends with %d, and %d with --json" % (what, status, json_status)
    frames = [("  > " if frame["is_site"] else "    ") + (frame["label"] or "??") for one in stacks for frame in one["frames"]]
    printed = [line for line in text.split("\n") if line.startswith(" ") and not line.startswith("    (") and line != "    ..."]
    if frames != printed:
        yield "stack %s: frames are %s, and %s is printed" % (what, frames, printed)
    heads = [line for line in text.split("\n") if "; stack " in line or "; no stack was" in line]
    for one in stacks:
        for sum_of in one["sums"]:
            yield from sum_faults(what, one["stack_id"], sum_of)
    sums = [sum_of for one in stacks for sum_of in one["sums"]]
    if len(heads) != len(sums) or not all((one["text"] or "") in head and one["what"] in head for head, one in zip(heads, sums)):
        yield "stack %s: sums are %s, and %s is printed" % (what, sums, heads)


def check_faults():
    rules = ["--no-leak", "--max-peak", "1MiB", "--min-hit-rate", "0.5", "--no-oom", "--allow-partial"]
    text, status = run("npumem-check", *rules, DATABASE)
    told, json_status = run("npumem-check", "--json", *rules, DATABASE)
    answer = json.loads(told)
    words = {"ok": "holds", "FAIL": "broken", "?": "not judged"}
    printed = [(line.split()[1], words[line.split()[0]]) for line in text.splitlines()]
    if [(rule["rule"], rule["state"]) for rule in answer["rules"]] != printed or status != json_status or answer["is_ok"] != (status == 0):
        yield "check: %s, and %s is printed" % (answer["rules"], text)


def figure_faults():
    """What was recorded, in the view that each figure names."""
    told, _ = run("npumem-whatif", "--json", DATABASE)
    db = sqlite3.connect("file:%s?mode=ro" % DATABASE, uri=True)
    for figure in json.loads(told)["whatif"]["recorded"]["figures"] if told else ():
        rows = asked_again(db, figure)
        if rows != [(figure["value"],)] or len(figure["key"]) != 6:
            yield "whatif: %s, and the view has %s" % (figure, rows)
    count, = db.execute("SELECT count(*) FROM heap").fetchone()
    for heap, chosen in (("pool", "level = 2 OR name = 'pool'"), ("nothing", "0")):
        answer = json.loads(run("npumem-check", "--json", "--allow-partial", "--max-peak", "1GiB", "--heap", heap, DATABASE)[0] or "null")
        wanted, = db.execute("SELECT count(*) FROM heap WHERE " + chosen).fetchone()
        if answer and (answer["chosen_count"], answer["all_count"]) != (wanted, count):
            yield "check: %d of %d heaps, not %d of %d" % (answer["chosen_count"], answer["all_count"], wanted, count)


def without_words(value):
    if isinstance(value, list):
        return [without_words(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: without_words(one) for name, one in value.items() if name not in ("language", "note", "label", "text") and not name.endswith("_text")}


def words_of(value, name):
    for member, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if member == name and one:
            yield one
        else:
            yield from words_of(one, name)


def chinese_faults():
    """Words for people are those of the lines in Chinese, and all else is as in English."""
    for name, program, *arguments in (("note", "npumem-check", "--no-leak", "--min-hit-rate", "0.5", "--max-leak-rate", "1", "--allow-partial"),
                                      ("what_text", "npumem-stack", "--top", "1000"), ("figure_text", "npumem-diff", BASE), ("setting_text", "npumem-whatif", "--compare", "--device", "4MiB"),
                                      ("cause_text", "npumem-whatif", "--compare", "--device", "4MiB")):
        told, lines = in_chinese(program, "--json", *arguments, DATABASE), in_chinese(program, *arguments, DATABASE)
        english, _ = run(program, "--json", *arguments, DATABASE)
        if not english and not told:
            continue
        there, here = json.loads(told), json.loads(english)
        if there["language"] != "zh" or here["language"] != "en" or without_words(there) != without_words(here):
            yield "%s in Chinese is %s, in English %s" % (program, told[:400], english[:400])
        words = list(words_of(there, name))
        yield from ("%s: %s is not printed" % (program, word) for word in words if word not in lines)
        if name == "what_text" and words == list(words_of(here, name)) != []:
            yield "%s: %s is no Chinese" % (program, words)


def main():
    with tempfile.TemporaryDirectory() as folder:
        faults = list(diff_faults(os.path.join(folder, "two"), BASE, DATABASE))
        faults += diff_faults(os.path.join(folder, "moments"), DATABASE + "@peak", DATABASE + "@end")
        faults += whatif_faults(folder)
        for what in ("leak", "peak", "oom", "reserve", "1", "2"):
            faults += stack_faults(what)
        faults += check_faults()
        faults += figure_faults()
        faults += chinese_faults()
    for fault in faults[:10]:
        print("%s: %s" % (DATABASE, fault))
    return 1 if faults else 0


sys.exit(main())
