# SPDX-License-Identifier: Apache-2.0
"""json_answers.py PROGRAMS NAME.db...: holds `npumem-ingest --json` of each database to table finding, to what each figure's view
says by its key, and to what was said when it was loaded (NAME.first.json). Prints what differs, and how many figures were asked again;
mouths.py holds the other mouths to the table."""
import json
import sqlite3
import subprocess
import sys

UNITS = {"bytes", "count", "ratio", "ns", "bytes a step", "bytes an hour"}
SUBJECT = ["host", "rank", "pid", "device", "heap", "level", "site"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout, done.returncode


def selected(db, figure):
    """What `SELECT name FROM view WHERE key` gives, each row's once."""
    where = " AND ".join('"%s" IS ?' % name for name in figure["key"])
    sql = 'SELECT DISTINCT "%s" FROM "%s" WHERE %s' % (figure["name"], figure["view"], where)
    return [row[0] for row in db.execute(sql, list(figure["key"].values()))]


def figure_faults(db, owner):
    for figure in owner["figures"]:
        rows = selected(db, figure)
        if rows != [figure["value"]] or figure["unit"] not in UNITS or not figure["key"] or not figure["text"]:
            yield "%s: %s, and the view has %s" % (owner.get("code"), json.dumps(figure), rows)


def first_code(said):
    return None if said is None else json.loads(said)[0]


def row_faults(row, told):
    """A row of table finding, and what JSON says of it."""
    wanted = {"code": first_code(row["sentence"]), "said": json.loads(row["sentence"]), "is_bound": row["basis"] == "bound",
              "basis": "estimate" if row["basis"] == "estimate" else "recorded",
              "subject": {name: row[name] for name in SUBJECT}}
    wanted.update({name: row[name] for name in ("severity", "kind", "verdict", "reason", "source_view")})
    for name, value in wanted.items():
        if told[name] != value:
            yield "finding %d: %s is %r, and the table has %r" % (row["finding_id"], name, told[name], value)
    amounts = [row[name] for name in ("bytes", "count", "value") if row[name] is not None]
    if [figure["value"] for figure in told["figures"]] != amounts:
        yield "finding %d: not its figures: %s" % (row["finding_id"], amounts)
    lines = json.loads(row["evidence"] or "[]")
    if [line["said"] for line in told["evidence"]] != [line["said"] for line in lines]:
        yield "finding %d: not its evidence" % row["finding_id"]
    if (told["fix"] and told["fix"]["said"]) != (row["remedy"] and json.loads(row["remedy"])):
        yield "finding %d: not its fix" % row["finding_id"]
    if bool(told["next"]) != bool(row["next_command"]):
        yield "finding %d: not its next command" % row["finding_id"]
    words = told["text"]
    if row["severity"] in ("good", "not judged") and told["evidence"]:
        words += ": " + "\n".join((line["label"] + "  " if line["label"] else "") + line["text"] for line in told["evidence"])
    if words != row["text"]:
        yield "finding %d: %r, and the table says %r" % (row["finding_id"], words, row["text"])


def table_faults(db, answer):
    db.row_factory = sqlite3.Row
    rows = db.execute("SELECT * FROM finding ORDER BY finding_id").fetchall()
    groups = db.execute("SELECT * FROM finding_group ORDER BY finding_group_id").fetchall()
    db.row_factory = None
    judged = [row for row in rows if row["severity"] != "not judged"]
    others = [row for row in rows if row["severity"] == "not judged"]
    for name, wanted in (("findings", judged), ("not_judged", others), ("groups", groups)):
        count = answer[{"findings": "finding", "groups": "group"}.get(name, name) + "_count"]
        if len(answer[name]) != len(wanted) or count != len(wanted):
            yield "%s: %d, of %d, and the table has %d" % (name, len(answer[name]), count, len(wanted))
    for row, told in list(zip(judged, answer["findings"])) + list(zip(others, answer["not_judged"])):
        yield from row_faults(row, told)
        yield from figure_faults(db, told)
    for row, told in zip(groups, answer["groups"]):
        if told["code"] != first_code(row["sentence"]) or told["text"] != row["text"] or told["site"] != row["site"]:
            yield "group %d: %s" % (row["finding_group_id"], told)
        yield from figure_faults(db, told)
    wanted = db.execute("SELECT path, events_seen, events_dropped, events_damaged, bytes_cut FROM completeness ORDER BY path").fetchall()
    told = [tuple(one[name] for name in ("path", "events_seen", "events_dropped", "events_damaged", "bytes_cut"))
            for one in answer["inputs"]]
    if told != wanted:
        yield "inputs are %s, and the view has %s" % (told, wanted)


def database_faults(programs, path):
    text, status = run(programs + "/npumem-ingest", "--json", path)
    if status not in (0, 3):
        return ["no JSON, status %d" % status], 0
    answer = json.loads(text)
    if text.count("\n") != 1 or answer["schema"] != "npumem.findings/1" or answer["database"] != path:
        return ["not one object of the schema"], 0
    with open(path[:-3] + ".first.json", encoding="utf-8") as first:
        faults = [] if text == first.read() else ["as it was loaded it said another thing"]
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    faults += list(table_faults(db, answer))
    chinese = json.loads(run(programs + "/npumem-ingest", "--json", "--lang", "zh", path)[0])
    for here, there in zip(answer["findings"], chinese["findings"]):
        if here["said"] != there["said"] or here["figures"] != there["figures"] or here["text"] == there["text"]:
            faults.append("in Chinese %s, in English %s" % (there["text"], here["text"]))
    figures = [f for name in ("findings", "not_judged", "groups") for one in answer[name] for f in one["figures"]]
    return faults, len([f for f in figures if not f["view"].startswith("finding")])


def main():
    programs, total, fault_count = sys.argv[1], 0, 0
    for path in sys.argv[2:]:
        faults, count = database_faults(programs, path)
        total, fault_count = total + count, fault_count + len(faults)
        for fault in faults[:5]:
            print("%s: %s" % (path, fault))
    print("%d figures of views" % total)
    return 1 if fault_count > 0 else 0


sys.exit(main())
