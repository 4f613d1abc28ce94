# SPDX-License-Identifier: Apache-2.0
"""json_others.py PROGRAMS DATABASE BASE: what npumem-check, diff, stack and whatif say as JSON, held to what the same programs print and
write as CSV. Prints what differs."""
import csv
import json
import os
import subprocess
import sys
import tempfile

PROGRAMS, DATABASE, BASE = sys.argv[1:]


def run(program, *arguments):
    done = subprocess.run([os.path.join(PROGRAMS, program), *arguments], capture_output=True, text=True)
    return done.stdout, done.returncode


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        faults = list(diff_faults(os.path.join(folder, "two"), BASE, DATABASE))
        faults += diff_faults(os.path.join(folder, "moments"), DATABASE + "@peak", DATABASE + "@end")
        faults += whatif_faults(folder)
        for what in ("leak", "peak", "oom", "reserve"):
            faults += stack_faults(what)
        faults += check_faults()
    for fault in faults[:10]:
        print("%s: %s" % (DATABASE, fault))
    return 1 if faults else 0


sys.exit(main())
