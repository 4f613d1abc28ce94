#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# walk.sh BIN TEXT2TRACE SOURCE WORK NPU_TRAIN: who sets a Chinese locale meets Chinese: help, errors, and what programs print. No line is of
# English words alone, but names; and help has the options in the places where the English has them.
set -u
bin=$1 text2trace=$2 source=$3 work=$4 npu_train=$5
command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0
fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# chinese PROGRAM ARG...: what it prints, both streams, into "said", which is looked through
chinese() {
    LC_ALL=zh_CN.UTF-8 NO_COLOR=1 "$bin/$@" >said 2>&1
    look_through said "$*"
}

# look_through FILE WHAT: each line that has two English words behind each other, and no Chinese, is a failure. Words of code
# stand in no sentence: those with . / _ - = : in them, and in capitals.
look_through() {
    python3 - "$1" <<'END' || fail "$2"
import re, sys
bad = []
for line in open(sys.argv[1], encoding="utf-8"):
    words = re.sub(r"\(.*?\)|\b(?:caching|pool|default|leak|peak|reserve|oom)\b", " ", line) if line.startswith(" ") else line
    if re.search(r"[\u3400-\u9fff]", line) or re.match(r"用法| +npumem |\s*#", line):
        continue
    if re.search(r"(?:^|\s)[a-z]{2,},? [a-z]{2,}(?=[\s,.;:]|$)", words):
        bad.append(line.rstrip())
for line in bad:
    print(line, file=sys.stderr)
sys.exit(1 if bad else 0)
END
}

# has_other FILE: it has more than ASCII
has_other() {
    LC_ALL=C grep -q '[^ -~[:space:]]' "$1"
}

# ---- Help ----

for program in "$bin"/npumem "$bin"/npumem-*; do
    name=${program##*/}
    LC_ALL=C "$program" --help >en 2>/dev/null && LC_ALL=zh_CN.UTF-8 "$program" --help >zh || continue
    for language in en zh; do grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+( [^ ]+)?' "$language" | sed 's/^ *//' >"$language.terms"; done
    [ -s en.terms ] || fail "$name: help has no options"
    diff en.terms zh.terms >&2 || fail "$name: the Chinese help has other options, or in another order"
    [ "$(LC_ALL=zh_CN.UTF-8 "$program" --describe bash)" = "$(LC_ALL=C "$program" --describe bash)" ] || fail "$name: completion is translated"
    chinese "$name" --help
done

# ---- Errors ----

says() {
    local want=$1
    shift
    chinese "$@"
    grep -qF -- "$want" said || fail "$*: $(cat said): not: $want"
}
says '没有该选项；是否指 --detail？（详见 --help）' npumem-ingest --detial x
says '缺少输入' npumem-ingest
says '无法打开：没有该文件' npumem-check nowhere.db --no-leak
echo 'only text' >text
says '字节 0：这是文本文件' npumem-ingest text
says '不是 npumem-ingest 的数据库' npumem-stack text
says '需要两个数据库' npumem-diff text
says '须为数字' npumem-check x.db --rank many
says '没有该命令' npumem nothing

# ---- Answers ----

for run in leak out_of_memory_capacity fragmentation snapshot; do
    if [ -f "$source/tests/screens/$run/trace.txt" ]; then
        "$text2trace" "$source/tests/screens/$run/trace.txt" "$run.zst" || fail "$run: no trace"
    else
        continue
    fi
    chinese npumem-ingest --force "$run.zst"
    for what in leak peak reserve oom 1 nowhere; do chinese npumem-stack "$run.db" "$what"; done
    chinese npumem-check "$run.db" --max-peak 1GiB --max-reserved 1GiB --no-leak --no-oom --no-growth --no-rising --no-anomaly --max-fragmentation 1% \
        --min-hit-rate 99% --max-misses-per-step 0 --max-host-growth 1MiB/h --baseline leak.db --complete --heap pool
    chinese npumem-check "$run.db" --max-peak 1GiB --no-leak --rank 7
    for what in --list --compare --suggest --advise; do chinese npumem-whatif "$what" "$run.zst"; done
    chinese npumem-top --once "$run.zst"
    chinese npumem-report --force "$run.db"
    chinese npumem-bundle --force "$run.db"
    chinese npumem-export --force pprof "$run.db"
done
says '比记录' npumem-whatif leak.zst
says '不符  no-leak' npumem-check leak.db --no-leak
says '泄漏（增长）；调用栈' npumem-stack leak.db
says '已结束，' npumem-top --once leak.zst
LC_ALL=zh_CN.UTF-8 "$bin/npumem-check" --json leak.db --no-leak | grep -oP '"[^"]*[^\x00-\x7f"][^"]*":' >&2 && fail "a name in JSON is translated"

# ---- README's doors, on the stand-in ----

# record FILE OPTION...: a run of npu_train, whose own lines go elsewhere
record() {
    local file=$1 options=$2
    shift 2
    # shellcheck disable=SC2086 # several words, or none
    chinese npumem record --force $options -o "$file" -- sh -c 'exec "$0" "$@" >books 2>&1' "$npu_train" "$@"
}
record run.zst '' --steps 40 --oom
says '个事件' npumem top --once run.zst
says '最终失败' npumem ingest --force run.zst
says '失败时占用' npumem stack run.db oom
says '按记录' npumem whatif --suggest run.zst
record pool.zst '' --steps 10 --misuse
chinese npumem ingest --force --site-rules "$source/examples/pool.rules" pool.zst
says '同时' npumem whatif --advise pool.zst
record last-week.zst '' --steps 20
chinese npumem ingest --force last-week.zst
record tonight.zst '--report tonight.html' --steps 40 --leak --fragment
says '每步都产生' npumem ingest --force tonight.zst
says '不符  no-leak' npumem check tonight.db --max-peak 60GiB --max-fragmentation 15% --no-leak --no-oom
says '不符  baseline' npumem check tonight.db --baseline last-week.db:+5%
says '没有超过 100 MiB 的' npumem diff last-week.db tonight.db --threshold 100MiB
says '百分点' npumem diff last-week.db tonight.db --top 2
chinese npumem diff --by-rank --level pool last-week.db tonight.db
says '没有差异' npumem diff tonight.db tonight.db
says '从 step:3 到 peak' npumem diff tonight.db@step:3 tonight.db@peak
says '各堆峰值时存活' npumem diff leak.db fragmentation.db
LC_ALL=zh_CN.UTF-8 "$bin/npumem-diff" --json last-week.db tonight.db >said
grep -q '"language":"zh".*百分点' said || fail "the JSON of diff is English: $(cut -c1-300 said)"

# While it runs: an alert is on the screen in the reader's language, and in the trace, where programs look for it, in English.
LC_ALL=zh_CN.UTF-8 "$bin/npumem-record" --alert 'live_bytes>1MiB' --alert 'device_used>10MiB' -o live.zst -- \
    "$npu_train" --steps 20 --wait-at 10:here >books 2>live.said &
for _ in $(seq 300); do
    [ -e here ] && break
    sleep 0.1
done
says '正在记录' npumem top --once live.zst
rm -f here
wait
look_through live.said "npumem record --alert"
grep -q '^npumem-record: 告警：NPU 0：device_used>10MiB：.* 中的 .*（记录到的驱动内存）$' live.said || fail "no alert: $(cat live.said)"
chinese npumem ingest --force live.zst
python3 - <<'END' || fail "the mark of the alert is not in English"
import sqlite3, sys
names = [name for name, in sqlite3.connect("live.db").execute("SELECT name FROM moment WHERE name LIKE '%device_used%'")]
sys.exit(not (len(names) == 1 and names[0].startswith("alert: NPU 0: ") and names[0].endswith(" (recorded driver memory)")))
END
for mistake in '--best-effort -o nowhere/x.zst -- true' '-o nowhere/x.zst -- true' '--force -o x.zst -- ./nothing' '--finish run.zst' '--ctl run.zst status'; do
    # shellcheck disable=SC2086 # several words
    chinese npumem record $mistake
    has_other said || fail "record $mistake: $(cat said)"
    grep -qE '[a-z]{2,} [a-z]{2,}' said && fail "record $mistake: half in English: $(cat said)"
done
says '数字一致' npumem record --selfcheck --force -o selfcheck.txt
has_other selfcheck.txt && fail "the report to attach is translated"

[ "$failures" -eq 0 ] || exit 1
echo "Chinese throughout"
