# SPDX-License-Identifier: Apache-2.0
"""mouths.py BIN_FOLDER TEXT2TRACE SCRATCH [SAMPLES]: every finding of table finding is the same in npumem-ingest's JSON and CSV, on its
screen as far as that has room, in the page and in what npumem-mcp answers: code, kind, severity, subject and figures. Of all
text traces of tests/sql and tests/screens, fixtures, and samples. Pages are slow: those that say something that no page before them did."""
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "mcp")]
import client  # noqa: E402
import page_tables  # noqa: E402

BIN, TEXT2TRACE, SCRATCH = (os.path.abspath(path) for path in sys.argv[1:4])
SAMPLES = sys.argv[4] if len(sys.argv) > 4 else ""
ROOT = os.path.join(HERE, "..", "..")
PLACE = ["host", "rank", "pid", "device", "heap", "level"]
SAME = ["severity", "kind", "verdict", "site"]
AMOUNTS = ["bytes", "count", "value"]
SITE_COLUMNS, HEAP_COLUMNS = (36, 40, 44, 48), 24
compared = dict.fromkeys(["json", "csv", "screen", "page", "mcp"], 0)


def run(program, *arguments):
    done = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode in (0, 3) else None


# ---- The databases ----

def inputs():
    """NAME, and the file."""
    found = [(folder + "_" + os.path.basename(os.path.dirname(path)), path)
             for folder in ("sql", "screens") for path in sorted(glob.glob("%s/tests/%s/*/trace.txt" % (ROOT, folder)))]
    found += [(os.path.basename(path)[:-4], path) for path in sorted(glob.glob(ROOT + "/fixtures/traces/*.zst"))]
    found += [(os.path.basename(path)[:-7], path) for path in sorted(glob.glob(ROOT + "/fixtures/databases/*.db.zst"))]
    for folder in ("scenes", "torch", "torch_npu", "msmemscope") if os.path.isdir(SAMPLES) else ():
        found += [(folder + "_" + os.path.basename(path).replace(".", "_"), path) for path in sorted(glob.glob("%s/%s/*.*" % (SAMPLES, folder)))]
    return found


def made(name, path):
    """The database of it; None: it is refused, which others test."""
    database = os.path.join(SCRATCH, name + ".db")
    if path.endswith(".db.zst"):
        subprocess.run(["zstd", "-q", "-d", path, "-o", database], check=True)
    elif path.endswith(".txt"):
        subprocess.run([TEXT2TRACE, path, database[:-3] + ".zst"], check=True)
        run("npumem-ingest", "--quiet", database[:-3] + ".zst")
    else:
        run("npumem-ingest", "--quiet", "-o", database, path)
    return database if run("npumem-ingest", "--quiet", database) is not None and has_findings(database) else None


def has_findings(database):
    """The first versions have none."""
    db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
    found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'finding'").fetchone()
    db.close()
    return found


def first_code(sentence):
    return sentence and json.loads(sentence)[0]


def table(database, name):
    db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
    db.row_factory = sqlite3.Row
    rows = [dict(row, code=first_code(row["sentence"])) for row in db.execute("SELECT * FROM %s ORDER BY 1" % name)]
    db.close()
    return rows


# ---- JSON and CSV ----

def same(wanted, told, names):
    return ["%s is %r, and the table has %r" % (name, told.get(name), wanted[name]) for name in names if told.get(name) != wanted[name]]


def json_faults(rows, groups, answer):
    told = sorted(answer["findings"] + answer["not_judged"], key=lambda one: one["finding_id"])
    if [one["finding_id"] for one in told] != [row["finding_id"] for row in rows] or len(answer["groups"]) != len(groups):
        yield "%d findings and %d groups" % (len(told), len(answer["groups"]))
    for row, one in zip(rows, told):
        compared["json"] += 1
        yield from same(row, dict(one, **one["subject"]), ["code", *SAME, *PLACE, "reason"])
        if [figure["value"] for figure in one["figures"]] != [row[name] for name in AMOUNTS if row[name] is not None]:
            yield "the figures of %d" % row["finding_id"]


def is_cell(value, cell):
    if isinstance(value, float):
        return cell != "" and abs(float(cell) - value) <= 1e-9 * abs(value)
    return cell.lstrip("'") == ("" if value is None else str(value))  # what could be a formula is quoted


def csv_faults(rows, folder):
    with open(os.path.join(folder, "finding.csv"), encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if len(lines) != len(rows):
        yield "%d findings" % len(lines)
    for row, line in zip(rows, lines):
        compared["csv"] += 1
        yield from ("%s is %r, and the table has %r" % (name, line[name], row[name])
                    for name in [*SAME, *PLACE, *AMOUNTS, "sentence", "reason"] if not is_cell(row[name], line[name]))


# ---- The screen ----

def entries(screen):
    """Lines with the rows that follow them, as one."""
    found = []
    for line in screen.splitlines():
        if line.startswith(" " * 9) and found:
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return [" ".join(entry.split()) for entry in found]


def spellings(text, site, heap):
    """As a screen may write it: the site and the heap cut."""
    for columns in (None, *SITE_COLUMNS):
        cut = text if not columns or not site or len(site) <= columns else text.replace(site, site[:columns - 3] + "...")
        if heap and len(heap) > HEAP_COLUMNS:
            cut = cut.replace(heap, heap[:HEAP_COLUMNS - 3] + "...")
        yield " ".join(cut.split())


def is_in(entry, one):
    for text in spellings(one["text"], one["site"] if "site" in one else one["subject"]["site"], one.get("subject", {}).get("heap")):
        if text in entry:
            return True
        for word in re.finditer(" ", text):
            if word.start() > 60 and text[:word.start()].rstrip(",") + " ..." in entry:
                return True
    return False


def lists_of(answer, ranked):
    """What the screen has lines for: of each kind the findings or groups, how many of them, and what it says of the others."""
    bad = [one for one in answer["findings"] if one["severity"] in ("fault", "warning")]
    groups = {"leak": [], "misuse": [], "out of memory": [], "": []}
    for group in answer["groups"]:
        groups[group["kind"] if group["kind"] in groups else ""].append(group)
    own = [one for one in bad if one["kind"] not in ("leak", "suspect", "misuse", "out of memory")]
    yield groups["misuse"], 4, " and %d more"
    if ranked:
        yield groups["leak"], 3, "%d more"
        yield groups[""], 16, None
        for kind in ("shared device", "uneven rank"):
            yield [one for one in bad if one["kind"] == kind], 3, None
    else:
        leaks = [one for one in bad if one["kind"] == "leak"]
        yield leaks, 4, "%d sites in all" % len(leaks)
        yield own, 6, "%d more"
        yield [one for one in answer["findings"] if one["severity"] == "minor"], 3, " and %d more"


def bad_faults(lines, answer, ranked):
    """What did not fit is counted; notes and what is minor give room before a fault does."""
    missing = []
    for all_of, most, rest in lists_of(answer, ranked):
        missing += [(one["severity"], one["text"]) for one in all_of[:most] if not any(is_in(line, one) for line in lines)]
        left = len(all_of) - most
        if rest and left > 0 and not any((rest % left if "%" in rest else rest) in line for line in lines):
            missing.append(("fault", rest))
    failures = [one for one in answer["findings"] if one["kind"] == "out of memory" and one["severity"] != "good"]
    said = [line for line in lines if any(is_in(line, one) for one in failures)]
    if failures and (len(said) != 1 or (len(failures) > 1 and "; %d more" % (len(failures) - 1) not in said[0])):
        missing.append(("fault", "%d failures" % len(failures)))
    dropped = sum(int(found.group(1)) for line in lines for found in [re.match(r"more (\d+) lines? did not fit", line)] if found)
    has_room = any(re.match("note |minor |HOLDERS ", line) for line in lines)
    if len(missing) > dropped or (has_room and any(severity != "minor" for severity, _ in missing)):
        yield "has not %r" % missing
    numbered = [line for line in lines if re.match(r"\d+ ", line)]
    known = [one for one in answer["findings"] + answer["groups"] if one["text"]]
    yield from ("%r is no finding" % line for line in numbered if not any(is_in(line, one) for one in known))


def worst_good(answer):
    """Of each kind that is good everywhere, those with the worst value."""
    for kind in sorted({one["kind"] for one in answer["findings"]}):
        of_kind = [one for one in answer["findings"] + answer["not_judged"] if one["kind"] == kind]
        if all(one["severity"] == "good" for one in of_kind):
            values = [[f["value"] for f in one["figures"] if f["name"] == "value"] for one in of_kind]
            worst = (min if kind in ("pool hit rate", "zero copy") else max)(values)
            yield kind, [one for one, value in zip(of_kind, values) if value == worst]


def listed_faults(lines, answer):
    """What is good, and what is not judged, each in a line of its own; a line that is full ends with dots."""
    if any("no memory was allocated" in line for line in lines):
        return
    fine = [line for line in lines if line.startswith("ok ")]
    unjudged = [line for line in lines if line.startswith("not judged ")]
    is_full = any(line.startswith("more ") for line in lines)
    has_failed = any(one["kind"] == "out of memory" and one["severity"] in ("fault", "warning") for one in answer["findings"])
    for lines_of, all_of in ((fine, [ones for kind, ones in worst_good(answer) if not (has_failed and kind == "out of memory")]),
                             (unjudged, [[one] for one in answer["not_judged"] if one["kind"] != "suspect"])):
        for ones in all_of:
            compared["screen"] += 1
            if not any(is_in(line, one) for one in ones for line in lines_of) and not any(line.endswith(" ...") for line in lines_of) and \
                    not (is_full and not lines_of):
                yield "has not %r in %s" % (ones[0]["text"], lines_of)


def screen_faults(answer, screen):
    lines = entries(screen)
    compared["screen"] += len(answer["findings"])
    yield from bad_faults(lines, answer, any(line.startswith("RANKS ") for line in lines))
    yield from listed_faults(lines, answer)


# ---- The page and MCP ----

def page_faults(rows, database):
    """Chinese is held to JSON in Chinese, which json_answers.py holds to its sentence."""
    page = database[:-3] + ".html"
    if run("npumem-report", "--force", "-o", page, database) is None:
        yield "is not written"
        return
    names, values = page_tables.rows(page, "finding")
    chinese = json.loads(run("npumem-ingest", "--json", "--lang", "zh", database))
    texts = {one["finding_id"]: one["text"] for one in chinese["findings"] + chinese["not_judged"]}
    if len(values) != len(rows):
        yield "%d findings" % len(values)
    for row, told in zip(rows, (dict(zip(names, line)) for line in values)):
        compared["page"] += 1
        yield from same(row, told, [*SAME, *PLACE, "count", "text"])
        if told["text_zh"] != texts[row["finding_id"]]:
            yield "in Chinese %r, and JSON has %r" % (told["text_zh"], texts[row["finding_id"]])
    os.remove(page)


def mcp_faults(server, database):
    rows, groups = table(database, "finding"), table(database, "finding_group")
    told = {"groups": [], "findings": [], "not_judged": [], "good": []}
    for page in server.pages("findings", handle=server.open(database)["handle"]):
        for name in told:
            told[name] += page.get(name, [])
    judged = sorted(told["findings"] + told["good"], key=lambda one: one["finding_id"])
    others = [row for row in rows if row["severity"] != "not judged"]
    if [one["finding_id"] for one in judged] != [row["finding_id"] for row in others] or len(told["groups"]) != len(groups):
        yield "%d findings and %d groups" % (len(judged), len(told["groups"]))
    for row, one in zip(others, judged):
        compared["mcp"] += 1
        yield from same(row, one, ["code", *SAME, *PLACE, *AMOUNTS, "unit", "text"])
        if (one["basis"], one.get("is_bound")) != ("estimate" if row["basis"] == "estimate" else "recorded", 1 if row["basis"] == "bound" else None):
            yield "basis of %d" % row["finding_id"]
    for row, one in zip(groups, told["groups"]):
        yield from same(row, one, ["code", *SAME, "text", "holder_count", "all_count", "total_bytes", "total_count", "worst_rank"])
    counts = {}
    for row in rows:
        if row["severity"] == "not judged":
            words = (row["kind"], row["text"], row["reason"])
            counts[words] = counts.get(words, 0) + 1
    if counts != {(one["kind"], one["text"], one.get("reason")): one["finding_count"] for one in told["not_judged"]}:
        yield "not judged is %s, and the table has %s" % (told["not_judged"], counts)


# ---- All ----

def faults_of(database, has_page):
    rows, groups = table(database, "finding"), table(database, "finding_group")
    folder = database[:-3] + ".csv"
    screen = run("npumem-ingest", "--color", "never", "--lang", "en", "--csv", folder, database)
    answer = json.loads(run("npumem-ingest", "--json", "--lang", "en", database))
    found = {"JSON": json_faults(rows, groups, answer), "CSV": csv_faults(rows, folder), "screen": screen_faults(answer, screen),
             "page": page_faults(rows, database) if has_page else ()}
    faults = [(mouth, fault) for mouth, of_mouth in found.items() for fault in of_mouth]
    shutil.rmtree(folder)
    return faults


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    os.environ["TMPDIR"] = SCRATCH
    with ThreadPoolExecutor(2) as pool:
        databases = [path for path in pool.map(lambda one: made(*one), inputs()) if path]
        seen, has_page = set(), []
        for path in databases:
            said = {(row["kind"], row["severity"], row["code"]) for row in table(path, "finding")}
            has_page.append(not said <= seen)
            seen |= said
        faults = list(zip(databases, pool.map(faults_of, databases, has_page)))
    server = client.Client(BIN + "/npumem-mcp", *databases, folder=SCRATCH)
    faults += [(path, [("MCP", fault) for fault in mcp_faults(server, path)]) for path in databases]
    server.end()
    count = 0
    for path, of_path in faults:
        count += len(of_path)
        for mouth, fault in of_path[:5]:
            print("FAIL: %s: %s %s" % (os.path.basename(path), mouth, fault[:600]))
    print("%d databases, %d pages; findings compared: %s" % (len(databases), sum(has_page), compared))
    if not os.path.isdir(SAMPLES):
        print("skipped: samples are not compared: NPUMEM_SAMPLES_DIR names no folder")
    return count > 0 or client.failures != [] or min(compared.values()) < 150 or len(databases) < 95 + (25 if os.path.isdir(SAMPLES) else 0)


sys.exit(main())
