#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tables of examples/fleet/ are those of src/export/fleet.def, which npumem export parquet writes. What stands in a file behind its
# line `-- tables` is made of it.
#
#     fleet.sh [--update]     --update: writes them (the target sql)
set -u
. "${0%/*}/common.sh"

# ENGINE: the statements for it.
make() {
    awk -v engine="$1" '
        function column(line,    part) {
            sub(/^[A-Z_]+\(/, "", line)
            sub(/\).*/, "", line)
            split(line, part, ", ")
            name = part[1]; type = part[2]; third = part[3]
        }
        function of_clickhouse(type) {
            return type == "TEXT" ? "LowCardinality(Nullable(String))" : type == "REAL" ? "Nullable(Float64)" : "Nullable(Int64)"
        }
        function finish(    i, first, key, shard) {
            if (table == "") return
            if (engine == "duckdb") {
                if (rows == "DETAIL") printf "-- Of files that --allocations wrote:\n-- "
                printf "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet(\047%s/*/*/*.parquet\047, hive_partitioning = false, union_by_name = true);\n", table, table
                return
            }
            key = ("rank" in has) ? "rank" : "stack_hash"
            shard = key == "rank" ? "cityHash64(job, run, coalesce(rank, -1))" : "cityHash64(job, run, coalesce(stack_hash, 0))"
            printf "\nCREATE TABLE IF NOT EXISTS npumem_local.%s (\n    job LowCardinality(String),\n    run LowCardinality(String),\n", table
            printf "    run_start_ns Nullable(Int64),\n    %s Nullable(Int64),\n", key
            print "    file LowCardinality(String),\n    file_hash String,\n    loaded_at DateTime DEFAULT now()\n)"
            print "ENGINE = MergeTree\nPARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), \047UTC\047))"
            printf "ORDER BY (job, run, %s)\nTTL loaded_at + INTERVAL %d DAY\n", key, rows == "DETAIL" ? 3 : 400
            print "SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;"
            printf "ALTER TABLE npumem_local.%s\n", table
            for (i = 1; i <= count; i++) if (names[i] != key)
                first = first (first == "" ? "" : ",\n") "    ADD COLUMN IF NOT EXISTS " names[i] " " of_clickhouse(types[i])
            print first ";"
            printf "CREATE OR REPLACE TABLE npumem.%s AS npumem_local.%s\nENGINE = Distributed(\047npumem\047, \047npumem_local\047, \047%s\047, %s);\n", table, table, table, shard
        }
        /^FLEET_TABLE\(/ { finish(); column($0); table = name; rows = third; count = 0; delete has }
        /^FLEET_COLUMN(_OF)?\(/ { column($0); names[++count] = type; types[count] = third; has[type] }
        END { finish() }' src/export/fleet.def
}

for engine in clickhouse duckdb; do
    file=examples/fleet/$engine.sql
    made=$(sed '/^-- tables/q' "$file" && make "$engine")
    if [ "${1:-}" = --update ]; then
        [ "$made" = "$(cat "$file")" ] || printf '%s\n' "$made" >"$file"
    else
        diff "$file" - <<<"$made" >&2 || fail "$file is not what the target sql makes of src/export/fleet.def"
    fi
done
finish
