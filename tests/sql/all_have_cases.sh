#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# all_have_cases.sh SOURCE_DIR CASES: every view of the schema and every query is among the cases, and every query has its
# header.
set -u
cd "$1"
cases=" $2 "
status=0
fail() {
    echo "$*" >&2
    status=1
}

for view in $(sed -n 's/^CREATE VIEW \(z_\)*\([a-z_]*\).*/\2/p' schema/*.sql); do
    case "$cases" in *" $view "*) ;; *) fail "view $view has no case" ;; esac
done
for query in queries/*.sql; do
    name=${query##*/} name=${name%.sql} first=
    case "$cases" in *" $name "*) ;; *) fail "query $name has no case" ;; esac
    read -r first <"$query"
    [[ $first = "-- $name.sql: "* ]] || fail "$query does not begin with its name and question"
done
while read -r query; do fail "$query says nothing of parameters"; done < <(grep -L '^-- Parameters: ' queries/*.sql)
while read -r query; do fail "$query says nothing of columns"; done < <(grep -L '^-- Columns: ' queries/*.sql)
while read -r query; do fail "$query has no order"; done < <(grep -L '^ORDER BY\|^        ORDER BY' queries/*.sql)
while read -r query; do fail "$query selects *"; done < <(grep -l 'SELECT \*' queries/*.sql)
for folder in tests/sql/*/; do
    name=${folder%/} name=${name##*/}
    case "$cases" in *" $name "*) ;; *) fail "$folder is no case of the list" ;; esac
done
exit $status
