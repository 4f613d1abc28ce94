#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# parameters.sh TEXT2TRACE INGEST SOURCE_DIR WORK_DIR: no query takes a parameter that it does not know, or a moment that
# is not there, for the end of the run: its only row begins with `error:`, or the shell says that there is an error.
set -u
text2trace=$1 ingest=$2 source=$3 work=$4
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
"$text2trace" "$source/tests/sql/allocation_detail/trace.txt" run.zst && "$ingest" --quiet run.zst || exit 1
status=0

# ask QUERY NAME VALUE: the whole answer, with what the shell says of it.
ask() {
    printf '.parameter init\n.parameter set %s %s\n' "$2" "$3" | cat - "$source/queries/$1.sql" | sqlite3 -csv run.db 2>&1
}

# An error, and nothing but that.
is_error() {
    [ "$(wc -l <<<"$1")" = 1 ] && grep -qE '^"?error: |datatype mismatch' <<<"$1"
}

# Those that npumem-diff runs get their parameters from its options.
for file in "$source"/queries/*.sql; do
    name=$(basename "$file" .sql)
    case $name in between_moments | diff | diff_* | difference) continue ;; esac
    ! grep -q '^-- Parameters: *none' "$file" || continue
    answer=$(ask "$name" :misspelt 1)
    is_error "$answer" || { echo "$name with :misspelt: $answer" && status=1; }
    if grep -qE '^-- .* :at  ' "$file"; then
        answer=$(ask "$name" :at nowhere)
        is_error "$answer" || { echo "$name at a moment that is not there: $answer" && status=1; }
    fi
done
for name in difference_of_moments allocated_between; do
    for parameter in :from :to; do
        answer=$(ask $name $parameter nowhere)
        is_error "$answer" || { echo "$name $parameter: $answer" && status=1; }
    done
done

# The three ways to say a moment say the same: mark 'late' is event 12, at 110 ns.
wanted=$(ask live_by_site :at late)
[ "$(wc -l <<<"$wanted")" = 3 ] || { echo "live_by_site at a mark: $wanted" && status=1; }
for at in seq:12 110; do
    seen=$(ask live_by_site :at $at)
    [ "$seen" = "$wanted" ] || { diff <(echo "$wanted") <(echo "$seen") && status=1; }
done
exit $status
