#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# views.sh BUILD [--quick] [DATABASE...]: how long each view, and each query of queries/, takes to be read from its first row to
# its last, of databases of ten million events (--quick: of one million): many steps of a small model on two threads, and few of
# a large one that leaks. Of each: how many events, how many views, and those above 100 ms with their rows. Time of the processor, the least of
# three, so that a busy machine changes little. A view that lists more than 10,000 rows may take longer. Ends with 1
# when another does.
set -eu
usage() { sed -n '4,9s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
bin=$(realpath "$1")/bin train=$(realpath "$1")/fixtures/programs/npu_train
shift
small_steps=44000 large_steps=3200
[ "${1:-}" != --quick ] || { small_steps=4400 large_steps=320 && shift; }
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-views.XXXXXX")
trap 'rm -rf "$work"' EXIT

# make NAME OPTION...: the database of a run of npu_train with these options.
make() {
    local name=$1
    shift
    "$bin/npumem-record" -o "$work/$name.zst" -- "$train" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
    "$bin/npumem-ingest" --quiet -o "$work/$name.db" "$work/$name.zst" || [ $? = 3 ]
    rm "$work/$name.zst"
}

if [ $# = 0 ]; then
    make small-model --steps $small_steps --threads 2
    make large-model --steps $large_steps --layers 256 --leak --fragment --no-cleanup
    set -- "$work/small-model.db" "$work/large-model.db"
fi

python3 - "$(dirname "$(realpath "$0")")/../queries" "$@" <<'END'
import glob, os, re, sqlite3, sys, time
LIMIT_MS, MANY_ROWS, ROUNDS = 100, 10000, 3
missed = False

def statements(text):
    part = ""
    for line in text.splitlines(True):
        part += line
        if sqlite3.complete_statement(part):
            yield part, dict.fromkeys(re.findall(r":(\w+)", part))
            part = ""

def measure(db, name, text):
    times, count = [], 0
    while len(times) < ROUNDS and sum(times) < 3000:
        begin, count = time.process_time(), 0
        for sql, parameters in statements(text):
            for _ in db.execute(sql, parameters):
                count += 1
        times.append((time.process_time() - begin) * 1000)
    return min(times), count, name

# What compares two databases needs a second one.
queries = {os.path.basename(path): text for path in sorted(glob.glob(sys.argv[1] + "/*.sql"))
           for text in [open(path).read()] if "ATTACH" not in text and "base." not in text}
for path in sys.argv[2:]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    events, = db.execute("SELECT sum(events_ingested) FROM input").fetchone()
    texts = {view: f"SELECT * FROM {view};" for view, in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall()}
    figures = sorted((measure(db, name, text) for name, text in {**texts, **queries}.items()), reverse=True)
    slow = [figure for figure in figures if figure[0] > LIMIT_MS]
    bad = [figure for figure in slow if figure[1] <= MANY_ROWS]
    few = max((figure for figure in figures if figure[1] <= MANY_ROWS), default=(0, 0, "none"))
    print(f"{os.path.basename(path)}: {events:,} events, {len(texts)} views and {len(queries)} queries, {len(slow)} above {LIMIT_MS} ms\n")
    print("| view or query | rows | ms |\n|---|---|---|")
    for ms, count, view in slow:
        print(f"| `{view}` | {count:,} | {'**' if (ms, count, view) in bad else ''}{ms:,.0f}"
              f"{': missed**' if (ms, count, view) in bad else ''} |")
    print(f"\nThe slowest with at most {MANY_ROWS:,} rows: `{few[2]}`, {few[1]:,} rows, {few[0]:.0f} ms.\n")
    missed = missed or bool(bad)
sys.exit(missed)
END
