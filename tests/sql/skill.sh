#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# skill.sh BIN_FOLDER TEXT2TRACE PROGRAM SOURCE_DIR WORK_DIR: who goes by docs/skill/SKILL.md finds the answer to each question of
# docs/questions.md, by skill.txt beside this script; and each command of the skill is one that runs.
set -u
bin=$1 text2trace=$2 program=$3 source=$4 work=$5 status=0
skill=$source/docs/skill/SKILL.md questions=$source/docs/questions.md
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
export PATH=$bin:$PATH
rm -rf "$work" && mkdir -p "$work/recorded" && cd "$work" || exit 1

wrong() {
    echo "$*"
    status=1
}

# ---- What is asked: a recording of which the program keeps books, one without its faults, and traces by hand ----

cd recorded && ln -s "$source/queries" queries
npumem record -q -o run.zst -- "$program" --steps 60 --leak --fragment >books && npumem ingest --quiet run.zst || exit 1
npumem record -q -o before.zst -- "$program" --steps 60 >/dev/null && npumem ingest --quiet before.zst && ln -s run.db after.db || exit 1
cd ..

# folder_of CASE: where its run.db is.
folder_of() {
    local folder=$source/tests/sql/$1 text
    text=$folder/trace.txt
    [ -f "$text" ] || text=$source/tests/sql/$(cat "$folder/trace")/trace.txt
    [ -d "$1" ] || { mkdir "$1" && ln -s "$source/queries" "$1/queries" && "$text2trace" "$text" "$1/run.zst" && npumem ingest --quiet "$1/run.zst"; } >&2
    echo "$1"
}

# ---- Each question ----

question='' folder='' run='' is_fresh=
ask() {
    [ -n "$question" ] && [ -n "$is_fresh" ] || return 0
    is_fresh=
    if [ -z "$run" ]; then
        run=$(awk -F ' *[|] ' -v asked="$question" '$2 == asked { sub(/^[|] [^|]* [|] `/, ""); sub(/` [|]$/, ""); print }' "$questions")
        [ -n "$run" ] || wrong "$question: is not in docs/questions.md"
    else
        grep -qF -- "$run" "$skill" || wrong "$question: $run is not in the skill"
    fi
    (cd "$folder" && bash -c "$run") >answer 2>&1 || wrong "$question: $run: fails: $(head -n 1 answer)"
}
expect() {
    local text=$1 name
    while [[ $text =~ \{([a-z0-9_.]+)\} ]]; do
        name=${BASH_REMATCH[1]}
        text=${text/"{$name}"/$(awk -v name="$name" '$1 == name { print $2 }' recorded/books)}
    done
    grep -qF -- "$text" answer || wrong "$question: $run: no $text in: $(head -n 5 answer)"
}

: >asked
while IFS= read -r line; do
    case $line in
    '? '*) question=${line:2} folder=recorded run='' is_fresh=yes && echo "$question" >>asked ;;
    'of '*) folder=$(folder_of "${line:3}") ;;
    '$ '*) run=${line:2} ;;
    '> '*) ask && expect "${line:2}" ;;
    esac
done <"$source/tests/sql/skill.txt"
sed -nE 's/^\| ([^|]*) \| `(sqlite3 .*)` \|$/\1/p' "$questions" | diff - asked || wrong "docs/questions.md (<) and skill.txt (>) ask other things"

# ---- Each command of the skill ----

commands=$(sed -nE 's/^    ((npumem|sqlite3) .*)/\1/p' "$skill" && grep -oE '`(npumem|sqlite3) [^`]*`' "$skill" | tr -d '`' | grep 'run\.' | grep -v '^npumem record')
[ "$(wc -l <<<"$commands")" -ge 10 ] || wrong "the skill has less than 10 commands"
while IFS= read -r line; do
    case $line in 'npumem ingest run.zst') line+=' --force' ;; esac
    (cd recorded && bash -c "$line") >answer 2>&1
    case $?/$line in
    0/* | 1/*\ oom | 1/npumem\ check* | 1/npumem\ diff*) ;;
    *) wrong "$line: ends otherwise: $(head -n 1 answer)" ;;
    esac
done <<<"$commands"
(cd recorded && npumem diff before.db after.db) | grep -q 'train_faults.c:22 leak_one_buffer' || wrong "the comparison has no new leak"
(cd recorded && npumem check run.db --no-leak --no-oom) | grep -qE '^FAIL +no-leak' || wrong "no rule is broken"

# What the skill says of JSON.
for line in 'ingest run.db' 'check run.db --no-oom' 'diff before.db after.db'; do
    "$bin/npumem-${line%% *}" --help | grep -q -- '--json' || { echo "skipped: npumem ${line%% *} has no --json" && continue; }
    (cd recorded && bash -c "npumem $line --json") >answer 2>&1
    sqlite3 :memory: "SELECT json_valid(CAST(readfile('answer') AS TEXT))" | grep -qx 1 || wrong "npumem $line --json: $(head -n 1 answer)"
done
exit $status
