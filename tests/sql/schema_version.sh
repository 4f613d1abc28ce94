#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# schema_version.sh TEXT2TRACE INGEST SOURCE_DIR WORK_DIR: do the tables (names, columns, their order and types; not their comments)
# have the version that they say? They are those of the database of that version in fixtures/databases/.
set -eu
text2trace=$1 ingest=$2 source=$3 work=$4

command -v sqlite3 >/dev/null && command -v zstd >/dev/null || { echo "skipped: no sqlite3 or zstd here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
"$text2trace" "$source/tests/sql/heap_place/trace.txt" run.zst && "$ingest" --quiet run.zst
version=$(sqlite3 run.db 'PRAGMA user_version')
kept=$source/fixtures/databases/schema-$version.db.zst
[ -f "$kept" ] || { echo "$kept is not there: a new version of the tables needs its database" >&2 && exit 1; }
zstd -qdc "$kept" >kept.db

tables() {
    sqlite3 "$1" 'SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
        WHERE m.type = '\''table'\'' ORDER BY m.name, c.cid'
}
tables run.db >now.txt
tables kept.db >then.txt
[ -s now.txt ] || { echo "there are no tables" >&2 && exit 1; }
diff then.txt now.txt || {
    echo "the tables are not those of version $version: raise NM_SCHEMA_VERSION, once a release, with a database of the new one" >&2
    exit 1
}
