#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# walk.sh BIN TEXT2TRACE SOURCE WORK: who sets a Chinese locale meets Chinese: help, errors, and what programs print. No line is of
# English words alone, but names; and help has the options in the places where the English has them.
set -u
bin=$1 text2trace=$2 source=$3 work=$4
command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0
fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# chinese PROGRAM ARG...: what it prints, both streams, into "said"; each line that has two English words behind each other, and
# no Chinese, is a failure. Words of code stand in no sentence: those with . / _ - = : in them, and in capitals.
chinese() {
    local what="$*"
    LC_ALL=zh_CN.UTF-8 NO_COLOR=1 "$bin/$@" >said 2>&1
    python3 - "$what" <<'END' || fail "$what"
import re, sys
bad = []
for line in open("said", encoding="utf-8"):
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

[ "$failures" -eq 0 ] || exit 1
echo "Chinese throughout"
