#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Loads what npumem export parquet wrote into the shards of a ClickHouse cluster, with bash and curl.
set -euo pipefail

usage() {
    cat <<'END'
usage: load.sh [--tables] FOLDER URL...     FOLDER: that of npumem export parquet -o
       load.sh --tables URL...              no files: the tables alone

URL: the HTTP interface of each shard, as http://node1:8123; files go in by the first. --tables sends clickhouse.sql to each first, and
views.sql. Passwords are curl's to find (~/.netrc). A file is in once: it may be loaded again, and takes the place of what an earlier
file of its name held. Where it stops, it says why; start it again. Of one run only one may load at a time.
END
}

here=$(dirname "$(realpath "$0")")
tables=
[ "${1:-}" != --tables ] || { tables=yes && shift; }
case ${1:-} in
-h | --help) usage && exit 0 ;;
'' | -*) usage >&2 && exit 2 ;;
esac
folder=
[ ! -d "$1" ] || { folder=$1 && shift; }
if [ $# = 0 ] || [ -z "$tables$folder" ]; then usage >&2 && exit 2; fi
urls=("$@")
durable='distributed_foreground_insert=1&async_insert=0'

# URL PARAMETERS: the statement, and its rows, on standard input; what the server answers, or on standard error why it does not.
ask() {
    local said
    said=$(curl -sS --netrc-optional --fail-with-body --data-binary @- "${1%/}/?$2") || {
        printf 'load.sh: %s: %s\n' "$1" "$(tr '\n' ' ' <<<"${said:0:2000}")" >&2
        return 1
    }
    [ -z "$said" ] || printf '%s\n' "$said"
}

# FILE: its statements, one a line.
statements() {
    grep -v '^ *--' "$1" | tr '\n' ' ' | sed 's/; */;\n/g'
}

make_tables() {
    local url line
    for url in "${urls[@]}"; do
        while IFS= read -r line; do
            [ -z "${line// /}" ] || ask "$url" '' <<<"$line"
        done < <(statements "$here/clickhouse.sql")
        while IFS= read -r line; do
            [ -z "${line// /}" ] || ask "$url" database=npumem <<<"$line"
        done < <(statements "$here/views.sql")
    done
}

# TABLE: its columns that a file may have, as a list of names and as one with types; once a table.
declare -A names types
find_columns() {
    [ -z "${names[$1]:-}" ] || return 0
    local said
    said=$(ask "${urls[0]}" "param_name=$1" <<<"SELECT arrayStringConcat(groupArray('\`' || name || '\`'), ', '),
        arrayStringConcat(groupArray('\`' || name || '\` ' || type), ', ') FROM (SELECT name, type FROM system.columns
        WHERE database = 'npumem' AND table = {name:String} AND name NOT IN ('file', 'file_hash', 'loaded_at') ORDER BY position)
        FORMAT TSVRaw")
    names[$1]=${said%%$'\t'*} types[$1]=${said#*$'\t'}
    [ -n "${names[$1]}" ] || { echo "load.sh: no table $1 there: load.sh --tables" >&2 && exit 1; }
}

# JOB RUN, as in the path, which is as in a URL: loads what of them is not in.
load_run() {
    local of="param_job=$1&param_run=$2" table file hash hashes key url one count token insert todo=() known last
    local -A done_hash=() done_count=() seen=()
    known=$(ask "${urls[0]}" "$of" <<<"SELECT name || '/' || file, argMaxIf(file_hash, loaded_at, is_done = 1), countIf(is_done = 1),
        arrayStringConcat(groupUniqArray(file_hash), ' ') FROM npumem.loaded WHERE job = {job:String} AND run = {run:String}
        GROUP BY name, file FORMAT TSVRaw")
    while IFS=$'\t' read -r key last count hashes; do
        [ -z "$key" ] || { done_hash[$key]=$last done_count[$key]=$count seen[$key]=$hashes; }
    done <<<"$known"

    while read -r hash file; do
        file=${file%.parquet} key=${file%%/*}/${file##*/}
        [ "${done_hash[$key]:-}" = "$hash" ] || todo+=("$hash $file")
    done < <(cd "$folder" && find . -path "./*/job=$1/run=$2/*.parquet" -printf '%P\0' | sort -z | xargs -0r sha256sum)
    [ ${#todo[@]} -gt 0 ] || return 0

    note 0
    for one in "${todo[@]}"; do
        hash=${one%% *} file=${one#* }
        table=${file%%/*} key=${file%%/*}/${file##*/}
        find_columns "$table"
        one="$of&param_file=${key#*/}&param_hash=$hash"
        one=${one//+/%2B}
        [[ " ${seen[$key]:-} " =~ ^\ ($hash\ )?$ ]] || for url in "${urls[@]}"; do
            ask "$url" "$one" <<<"DELETE FROM npumem_local.$table WHERE job = {job:String} AND run = {run:String}
                AND file = {file:String} AND file_hash <> {hash:String}"
        done
        insert="INSERT INTO npumem.$table (${names[$table]}, file, file_hash) SELECT ${names[$table]}, {file:String}, {hash:String}
            FROM input('${types[$table]//\'/\\\'}') FORMAT Parquet"
        token=$1/$2/$key/$hash/${done_count[$key]:-0}
        { echo "$insert" && cat "$folder/$file.parquet"; } |
            ask "${urls[0]}" "$one&$durable&insert_deduplicate=1&insert_deduplication_token=${token//+/%2B}"
    done
    note 1
    echo "load.sh: job $1, run $2: ${#todo[@]} files"
}

# IS_DONE: says of all of $todo that they are begun, or in.
note() {
    local one
    {
        echo "INSERT INTO npumem.loaded (name, file, file_hash, is_done, job, run) SELECT name, file, file_hash, is_done, {job:String},
            {run:String} FROM input('name String, file String, file_hash String, is_done UInt8') FORMAT TSV"
        for one in "${todo[@]}"; do
            file=${one#* }
            printf '%s\t%s\t%s\t%s\n' "${file%%/*}" "${file##*/}" "${one%% *}" "$1"
        done
    } | ask "${urls[0]}" "$of&$durable"
}

[ -z "$tables" ] || make_tables
[ -n "$folder" ] || exit 0
while read -r path; do
    job=${path%%/*} run=${path#*/}
    load_run "${job#job=}" "${run#run=}"
done < <(cd "$folder" && find . -mindepth 3 -maxdepth 3 -path './*/job=*/run=*' -type d -printf '%P\n' | cut -d/ -f2- | sort -u)
