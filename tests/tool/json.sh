#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# json.sh BIN_FOLDER TEXT2TRACE NODE SCRATCH [short]: --json of every program, of all text traces of tests/sql and tests/screens; short: of
# those alone that more is asked of below, where programs are slow (sanitizers). Findings against table
# finding and the views by each figure's key (json_answers.py); all of it by the JSON Schema (json_schema.mjs); and that
# nothing else goes to standard output.
set -u
bin=$1 text2trace=$2 node=$3 scratch=$4 short=${5:-}
here=$(dirname "$(realpath "$0")")
root=$here/../..
modules=$root/build/node/node_modules
language=C failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

command -v python3 >/dev/null && python3 -c 'import sqlite3' 2>/dev/null || { echo "skipped: no python3 with sqlite3 here" && exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1

# say NAME PROGRAM [ARGUMENT...]: what it prints in NAME.json. That there is no answer, of a database without a pool or of two that cannot
# be compared, is one line on standard error, and nothing on standard output.
say() {
    local name=$1 program=$2
    shift 2
    env "LC_ALL=$language" "$bin/$program" "$@" >"$name.json" 2>"$name.err"
    [ -s "$name.json" ] || [ -s "$name.err" ] || fail "$program $*: neither an answer nor an error"
    [ "$(wc -l <"$name.json")" -le 1 ] || fail "$program $*: more than a line"
}

traces=("$here"/../sql/*/trace.txt "$here"/../screens/*/trace.txt)
[ -z "$short" ] || traces=("$here"/../sql/{between_moments,diff,leak,leak_by_site,out_of_memory,suspect_by_site}/trace.txt "$here"/../screens/leak/trace.txt)
for trace in "${traces[@]}"; do
    name=$(basename "$(dirname "$trace")")
    [ ! -e "$name.db" ] || name=screen_$name
    "$text2trace" "$trace" "$name.zst" || fail "$trace"
    "$bin/npumem-ingest" --json "$name.zst" >"$name.first.json" 2>/dev/null
    case $? in 0 | 3) ;; *) false ;; esac || fail "$name cannot be loaded"
    say "$name.check" npumem-check --json --no-leak --max-peak 1GiB --min-hit-rate 0.5 --allow-partial "$name.db"
    say "$name.stack" npumem-stack --json "$name.db"
    say "$name.peak" npumem-stack --json --top 3 "$name.db" peak
    say "$name.whatif" npumem-whatif --json --suggest --compare --advise "$name.db"
    say "$name.top" npumem-top --json --once "$name.zst"
    say "$name.diff" npumem-diff --json leak_by_site.db "$name.db"
    say "$name.moments" npumem-diff --json "$name.db@peak" "$name.db@end"
done
language=zh_CN.UTF-8
say zh.check npumem-check --json --no-leak --allow-partial leak.db
say zh.stack npumem-stack --json leak.db
say zh.whatif npumem-whatif --json --compare leak.db
say zh.top npumem-top --json --once leak.zst
say zh.diff npumem-diff --json leak_by_site.db leak.db
say zh.export npumem-export --list --json
say zh.selfcheck npumem-record --selfcheck --json -o zh.selfcheck.txt
language=C
while read -r name word; do
    [ -z "$short" ] || [ "$name" != selfcheck ] || continue # it records, which no sanitizer lets it
    grep -q "\"language\":\"zh\".*\"$word\"" "zh.$name.json" || fail "npumem-$name does not say $word in Chinese: $(cut -c1-600 "zh.$name.json")"
done <<'END'
top state_text":"已结束
diff figure":"peak","figure_text":"峰值
diff verdict":"unreleased","verdict_text":"未释放
export read_by":"火焰图
selfcheck verdict":"AGREES","verdict_text":"一致
selfcheck state":"same","state_text":"相同
selfcheck what":"most held by the pool","what_text":"内存池最大预留
END
say selfcheck npumem-record --selfcheck --json -o selfcheck.txt
say pools npumem-whatif --json --list leak_by_site.db
say export npumem-export --list --json
[ -z "$("$bin/npumem-ingest" --json --quiet leak.db)" ] || fail "--quiet prints"

"$bin/npumem-check" --json --no-leak leak.db | python3 -c "
import json, sys
told, first = json.load(sys.stdin), json.load(open('leak.first.json'))
sys.exit(any(told[name] != first[name] for name in ('findings', 'not_judged', 'groups', 'inputs')))" ||
    fail "npumem-check has other findings than npumem-ingest"
python3 "$here/json_answers.py" "$bin" *.db >answers.txt || fail "$(cat answers.txt)"
[ "$(sed -n 's/ figures of views$//p' answers.txt)" -ge "$([ -z "$short" ] && echo 100 || echo 10)" ] || fail "too few figures: $(cat answers.txt)"

"$text2trace" "$here/../sql/diff/base.txt" base.zst && "$bin/npumem-ingest" --quiet base.zst || fail "the base of diff"
for name in diff leak suspect_by_site out_of_memory screen_leak between_moments; do
    python3 "$here/json_others.py" "$bin" $name.db base.db >others.txt || fail "$(cat others.txt)"
done

[ -d "$modules/ajv" ] && [ -n "$node" ] || { echo "skipped: no ajv in build/node: JSON is not held against its schema (./test.sh installs it)" && exit $((failures > 0)); }
"$node" "$here/json_schema.mjs" "$modules" "$root/docs/npumem.findings.schema.json" ./*.json >schema.txt || fail "$(cat schema.txt)"
for program in check diff export ingest selfcheck stack top whatif; do
    grep -q "$program [1-9]" schema.txt || fail "no answer of $program: $(cat schema.txt)"
done
# A schema that takes anything would say the same.
for change in 's/"finding_count"/"finding_number"/' 's/"basis":"recorded"/"basis":"simulated"/' 's/"severity":"[a-z ]*"/"severity":"bad"/' \
    's/"key":{[^}]*}/"key":{}/' 's/"language":"en"/"language":"english"/' 's/"is_bound":/"is_more":1,"is_bound":/'; do
    sed "$change" leak.first.json >changed.txt
    cmp -s changed.txt leak.first.json && fail "$change changes nothing"
    "$node" "$here/json_schema.mjs" "$modules" "$root/docs/npumem.findings.schema.json" changed.txt >/dev/null && fail "$change is taken"
done
[ $failures = 0 ]
