#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Secrets stay at home. What is planted as the value of an argument or variable that is named like a secret is in no ring and
# no trace; and what is planted as a host, user, path or argument anywhere is in nothing that --redact leaves.
#
#     secrets.sh FOLDER_OF_THE_PROGRAMS SECRET_TELLER PLANTED_HOST SOURCE_FOLDER FOLDER
set -u
bin=$1 teller=$2 host_library=$3 source=$4 folder=$5
host=plantedhost user=planteduser argument=plantedrun-77 home=
export LC_ALL=C

fail() { echo "FAIL: $*" >&2; exit 1; }

rm -rf "$folder"
home=$folder/home/$user
mkdir -p "$home/plantedproject/data"
cd "$home/plantedproject" || exit 1
cp "$teller" plantedprogram

# absent FILE-OR-FOLDER WORD...: the words stand in none of the bytes.
absent() {
    local place=$1 word
    shift
    for word; do
        ! grep -r -a -i -l -e "$word" "$place" >&2 || fail "'$word' is in $place"
    done
}

# ---- Never recorded ----

secrets='plantedkey1 plantedkey2 plantedkey3 plantedkey4 plantedkey5 plantedkey6 plantedkey7 plantedkey8 plantedkey9 plantedkeya plantedkeyb
    plantedkeyc plantedkeyd PlantedKeyE'
ASCEND_API_KEY=plantedkey5 HCCL_PROXY=http://me:plantedkey6@proxy/ WANDB_API_KEY=plantedkey7 PLANTED=plantedkey8 \
ASCEND_HOME_PATH=$home/ascend LD_PRELOAD=$host_library OMP_NUM_THREADS=3 HCCL_IF_IP=10.11.12.13 \
    "$bin/npumem-record" -q -o run.zst -- "$home/plantedproject/plantedprogram" "$host" $user "$home" $argument "$folder/rings" \
    --api-key plantedkey1 --token=plantedkey2 HF_TOKEN=plantedkey3 http://me:plantedkey4@server/ \
    --max-tokens 100 --num-key-value-heads 8 'password: plantedkey9' --pat plantedkeya --proxy-user me:plantedkeyb --kubeconfig-data plantedkeyc \
    --pattern x me:plantedkeyd@db sk-0123456789PlantedKeyE || fail "the recording ended with $?"
[ -e "$folder/rings" ] || fail 'no copy of the rings'
zstd -q -dc run.zst >"$folder/run.content" || fail 'the trace cannot be unpacked'
# shellcheck disable=SC2086
absent "$folder/rings" $secrets
# shellcheck disable=SC2086
absent "$folder/run.content" $secrets
printf 'file %s/plantedrule.c\n' "$home" >"$folder/rules"
"$bin/npumem-ingest" --quiet --site-rules "$folder/rules" -o "$folder/plain.db" run.zst || fail "ingest ended with $?"
command=$(sqlite3 "$folder/plain.db" "SELECT command FROM process WHERE command LIKE '%plantedprogram%'")
case $command in
*"--api-key *** --token=*** HF_TOKEN=*** http://***@server/ --max-tokens 100 --num-key-value-heads 8 password: *** --pat *** --proxy-user *** --kubeconfig-data *** --pattern x ***@db ***") ;;
*) fail "the command is $command" ;;
esac
got=$(sqlite3 "$folder/plain.db" "SELECT name, value FROM z_process_environment WHERE process_id = 1 AND name IN
    ('ASCEND_API_KEY', 'HCCL_PROXY', 'OMP_NUM_THREADS', 'WANDB_API_KEY', 'PLANTED') ORDER BY name")
[ "$got" = $'ASCEND_API_KEY|\nHCCL_PROXY|\nOMP_NUM_THREADS|3' ] || fail "the environment is $got"

# ---- Redacted ----

# redacted NAME INPUT...: NAME.db, NAME.csv and what is printed hold nothing that was planted.
redacted() {
    local name=$1
    shift
    mkdir "$folder/$name"
    "$bin/npumem-ingest" --redact --site-rules "$folder/rules" -o "$folder/$name/out.db" --csv "$folder/$name/csv" --csv-all "$@" \
        >"$folder/$name/summary" 2>/dev/null || fail "$name: ingest ended with $?"
    absent "$folder/$name" planted 10.11.12.13 "${folder#/}"
    [ "$(sqlite3 "$folder/$name/out.db" "SELECT value FROM meta WHERE key = 'redacted'")" = 1 ] || fail "$name: meta"
}

grep -a -q "$host" "$folder/plain.db" || fail 'the host is not in the plain database'
grep -a -q "$user" "$folder/plain.db" || fail 'the user is not in the plain database'
redacted trace run.zst

# The same thing has the same name everywhere, and sites are still apart.
query() { sqlite3 "$folder/$1/out.db" "$2"; }
[ "$(query trace 'SELECT group_concat(DISTINCT host) FROM process')" = host-1 ] || fail 'the host'
[ "$(query trace "SELECT count(*) FROM heap WHERE name = 'pool of user-1' OR name GLOB 'spare of user-[0-9]*'")" = 2 ] ||
    fail 'the heaps'
[ "$(query trace "SELECT count(*) FROM thread WHERE name = 'at host-1'")" = 1 ] || fail 'the thread'
[ "$(query trace "SELECT count(*) FROM moment WHERE name GLOB 'read /path-[0-9]*/file-[0-9]*'")" = 1 ] || fail 'a mark'
[ "$(query trace "SELECT count(*) FROM moment WHERE name GLOB 'run arg-[0-9]* begins'")" = 1 ] || fail 'an argument in a mark'
[ "$(query trace "SELECT count(*) FROM moment WHERE name GLOB 'host-[0-9]* and host-1'")" = 1 ] || fail 'an address'
[ "$(query trace "SELECT count(*) FROM moment WHERE name GLOB 'folder-[0-9]* of host-1, --api-key [*][*][*]'")" = 1 ] ||
    fail "a folder, a host in capitals, a secret: $(query trace 'SELECT name FROM moment')"
[ "$(query trace "SELECT count(DISTINCT label) FROM frame WHERE function IN ('leak_here', 'leak_there')")" = 2 ] ||
    fail 'sites are not apart'
label=$(query trace "SELECT label FROM frame WHERE function = 'leak_here'")
[[ $label =~ ^file-[0-9]+(\.c:[0-9]+|\+0x[0-9a-f]+)\ leak_here$ ]] || fail "the label is $label"
sites() { sqlite3 "$1" "SELECT allocation_count, size_bytes FROM outstanding_by_site ORDER BY 1, 2"; }
[ -n "$(sites "$folder/plain.db")" ] && [ "$(sites "$folder/plain.db")" = "$(sites "$folder/trace/out.db")" ] || fail 'sites'
module=$(query trace "SELECT path FROM z_module WHERE path GLOB '*libc.so*' OR path GLOB '*/libc-*' LIMIT 1")
[ -n "$module" ] || fail "the system's library has lost its name"

# Every column of text is replaced, or holds words of npumem's own.
own='device.kind plumbing.origin plumbing.target input.detail input.kind input.order_kind input.recording_id input.state
z_leak_sum.verdict meta.key meta.value z_module.build_id process.run_mode
z_process_environment.source z_leaked_sum.verdict z_site_verdict.verdict z_site_verdict.reason z_step_trend.measure z_histogram.measure
z_step_trend.verdict frame.label input.leak_basis input.peak_basis input.fragmentation_basis input.hit_basis input.device_basis input.failure_basis
input.misuse_basis'
# Tables whose rows stand in schema/ (a user adds to plumbing), and columns that are declared as words of ours.
own="$own $(cat "$source"/schema/*.sql | sed -n 's/^INSERT INTO \([a-z_]*\).*/\1/p' | sort -u | grep -v -x plumbing | while read -r table; do
    query trace "SELECT '$table.' || group_concat(name, ' $table.') FROM pragma_table_info('$table')"
done) $(cat "$source"/src/*/*.def | awk -F'[(), ]+' '$1 == "ROW" { table = $4 } /^FIELD\(WORD\(/ { print table "." $4 }')"
# Findings are made of what has been replaced.
own="$own $(query trace "SELECT group_concat(m.name || '.' || c.name, ' ') FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
                         WHERE m.name IN ('finding', 'finding_group', 'evidence')")"
replaced=$(sed -n 's/^    {"\([a-z_]*\)", "\([a-z_]*\)", NM_REDACT.*/\1.\2/p' "$source/src/store/redact.c")
for column in $(query trace "SELECT m.name || '.' || c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
                             WHERE m.type = 'table' AND c.type NOT IN ('INTEGER', 'REAL')"); do
    grep -q -w -F -e "$column" <<<"$own $replaced" || fail "what is in $column is not replaced"
done

# The documents list the variables that are recorded.
for name in $(sed -n 's/^    "\([A-Z_]*\)",$/\1/p' "$source/src/record/attributes.c"); do
    grep -q -w -e "$name" "$source/docs/security.md" || fail "docs/security.md does not list $name"
done

# A snapshot, several inputs, databases among them.
if command -v python3 >/dev/null; then
    python3 - >snapshot.pickle <<'END' || fail 'no snapshot'
import pickle, sys
frames = [{"filename": "/home/planteduser/plantedproject/plantedmodel.py", "name": "forward", "line": 88},
          {"filename": "/home/planteduser/env/lib/python3.11/site-packages/torch/nn/modules/linear.py",
           "name": "forward", "line": 114}]
trace = [{"action": "alloc", "addr": 1 << 30, "size": 512, "stream": 0, "time_us": 1, "frames": frames[::-1]}]
pickle.dump({"segments": [], "device_traces": [trace]}, sys.stdout.buffer, 4)
END
    redacted snapshot snapshot.pickle
    [ "$(query snapshot "SELECT count(*) FROM frame WHERE file GLOB '/path-[0-9]*/torch/nn/modules/linear.py'")" = 1 ] ||
        fail 'a file of torch has lost its name'
    [ "$(query snapshot "SELECT count(*) FROM frame WHERE label GLOB 'file-[0-9]*.py:88 forward'")" = 1 ] || fail 'a label'

    # Tables of Parquet, which are compressed.
    "$bin/npumem-export" parquet --redact --allocations --job-name job -o "$folder/tables" "$folder/plain.db" || fail "parquet ended with $?"
    find "$folder/tables" -type f -printf '%P\n' >"$folder/tables.texts"
    find "$folder/tables" -type f -exec python3 "$source/tests/support/parquet_file.py" {} + >>"$folder/tables.texts" || fail 'tables'
    absent "$folder/tables.texts" planted 10.11.12.13 "${folder#/}"
    grep -q -x host-1 "$folder/tables.texts" || fail 'the host in tables'
else
    echo "skipped: no python3 here: there is no snapshot"
fi
# The bundle of a database, with the report of a self-check; and of one that is redacted already.
printf 'npumem self-check: AGREES\n%s, 2026-11-25 04:14 +0000\nnot used: %s/bin/python3\n  glibc 2.36\nlibrary %s/lib.so\n' \
    plantedmachine "$home" "$home/plantedproject" >"$folder/report"
bundled() {
    mkdir "$folder/$1"
    "$bin/npumem-bundle" -q --redact --selfcheck "$folder/report" -o "$folder/$1/run.tar" "$2" || fail "$1: bundle ended with $?"
    absent "$folder/$1" planted 10.11.12.13 "${folder#/}"
    tar -xf "$folder/$1/run.tar" -C "$folder/$1" || fail "$1: no tar"
    [ "$(sqlite3 "$folder/$1/npumem-bundle/run.db" "SELECT value FROM meta WHERE key = 'redacted'")" = 1 ] || fail "$1: meta"
    grep -q '^host-[0-9]*, 2026-11-25' "$folder/$1/npumem-bundle/selfcheck.txt" && grep -q 'glibc 2.36' "$folder/$1/npumem-bundle/selfcheck.txt" ||
        fail "$1: the report is $(cat "$folder/$1/npumem-bundle/selfcheck.txt")"
}
bundled bundle "$folder/plain.db"
grep -q "^  /path-.*arg-" "$folder/bundle/npumem-bundle/settings.txt" || fail 'the bundle does not say what ran'
bundled bundle_again "$folder/trace/out.db"
"$bin/npumem-bundle" -q -o "$folder/all.tar" "$folder/plain.db" && grep -a -q planted "$folder/all.tar" || fail 'nothing was to be redacted'

"$bin/npumem-ingest" --quiet --site-rules "$folder/rules" -o "$folder/ruled.db" run.zst || fail "ingest ended with $?"
redacted both run.zst run.zst "$folder/ruled.db"
"$bin/npumem-record" -q -o other.zst -- "$home/plantedproject/plantedprogram" "$host" $user "$home" $argument "$folder/rings3" || fail "the other recording ended with $?"
"$bin/npumem-ingest" --quiet -o "$folder/again.db" other.zst "$folder/trace/out.db" 2>"$folder/refused"
[ $? = 1 ] && [ ! -e "$folder/again.db" ] && [ "$(wc -l <"$folder/refused")" = 1 ] && grep -q 'is redacted' "$folder/refused" ||
    fail "a redacted database was merged: $(cat "$folder/refused")"

# ---- On a terminal: names that the program, or the trace of somebody else, has ----

unsafe=$'ev\e[31m\xe2\x80\xaeil'
"$bin/npumem-record" -o alarm.zst --alert 'live_count > 1' -- "$home/plantedproject/plantedprogram" "$host" "$unsafe" "$home" \
    $argument "$folder/rings2" 2>"$folder/said" || fail "the recording with an alarm ended with $?"
mv alarm.zst "$unsafe.zst"
"$bin/npumem-record" --finish "$unsafe.zst" 2>>"$folder/said" || fail "--finish ended with $?"
grep -q 'pool of ev?\[31m?il: live_count > 1' "$folder/said" && grep -q '^npumem-record: ev?\[31m?il.zst: is whole already' "$folder/said" ||
    fail "it said $(cat -v "$folder/said")"
echo "secrets: ok"
