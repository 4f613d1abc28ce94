-- clickhouse.sql: the tables of npumem export parquet in ClickHouse, for every shard. load.sh --tables sends it to all of them; each
-- statement may run again, and adds the columns of a newer npumem.
--
-- npumem_local.leak holds the rows of one shard; npumem.leak, and so on, those of all, and that is what is asked. The shards are those
-- of the cluster `npumem` in the server's remote_servers; write another name in its place where yours has one. All rows of a job's run
-- and rank lie on one shard. Never ask with skip_unavailable_shards=1: it leaves out ranks without a word.
--
-- What the columns mean stands in docs/database.md, under the view that src/export/fleet.def names; before them are job, run and
-- run_start_ns (nanoseconds since 1970, when the first recording of the file began). `file` and `file_hash` are load.sh's: which file
-- a row came of, and what was in it. Where there is more than one replica: ENGINE = ReplicatedMergeTree, and drop
-- non_replicated_deduplication_window.

CREATE DATABASE IF NOT EXISTS npumem_local ENGINE = Atomic;
CREATE DATABASE IF NOT EXISTS npumem ENGINE = Atomic;

-- Which files were begun to be loaded, and which are in: load.sh's own.
CREATE TABLE IF NOT EXISTS npumem_local.loaded (
    name LowCardinality(String),
    job LowCardinality(String),
    run LowCardinality(String),
    file LowCardinality(String),
    file_hash String,
    is_done UInt8,
    loaded_at DateTime64(6) DEFAULT now64(6)
)
ENGINE = MergeTree
ORDER BY (job, run, name, file)
TTL toDateTime(loaded_at) + INTERVAL 400 DAY;
CREATE OR REPLACE TABLE npumem.loaded AS npumem_local.loaded
ENGINE = Distributed('npumem', 'npumem_local', 'loaded', cityHash64(job, run, file));

-- tables

CREATE TABLE IF NOT EXISTS npumem_local.rank (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.rank
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS peak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_gib Nullable(Float64),
    ADD COLUMN IF NOT EXISTS capacity_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS share_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pool_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pool_live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS workspace_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS program_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS module_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS physical_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS rounding_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS components LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS process_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_estimate Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS input_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pool_peak_reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS leak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS process_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS world_size Nullable(Int64),
    ADD COLUMN IF NOT EXISTS end_kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS end_status Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failure LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS out_of_memory_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failed_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failed_realtime_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failed_step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS job_number Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failure_order LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS since_first_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS clock_uncertainty_ns Nullable(Int64);
CREATE OR REPLACE TABLE npumem.rank AS npumem_local.rank
ENGINE = Distributed('npumem', 'npumem_local', 'rank', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.leak (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.leak
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS leak_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS leak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS generation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS bytes_per_step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS first_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS growth_bytes_per_step Nullable(Float64),
    ADD COLUMN IF NOT EXISTS growth_count_per_step Nullable(Float64),
    ADD COLUMN IF NOT EXISTS growth_fit_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS oldest_age_steps Nullable(Int64),
    ADD COLUMN IF NOT EXISTS oldest_age_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS freed_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS freed_p99_at_most_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS freed_max_steps Nullable(Int64),
    ADD COLUMN IF NOT EXISTS outlier_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS late_bytes_per_step Nullable(Float64),
    ADD COLUMN IF NOT EXISTS bytes_per_hour Nullable(Float64),
    ADD COLUMN IF NOT EXISTS hours_left Nullable(Float64),
    ADD COLUMN IF NOT EXISTS evidence LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS top_stack_hash Nullable(Int64),
    ADD COLUMN IF NOT EXISTS older_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS older_bytes Nullable(Int64);
CREATE OR REPLACE TABLE npumem.leak AS npumem_local.leak
ENGINE = Distributed('npumem', 'npumem_local', 'leak', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.suspect (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.suspect
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS reason LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS allocation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS size_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS generation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS evidence LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS top_stack_hash Nullable(Int64);
CREATE OR REPLACE TABLE npumem.suspect AS npumem_local.suspect
ENGINE = Distributed('npumem', 'npumem_local', 'suspect', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.peak (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.peak
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS peak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS baseline_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reserved_at_peak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_fragmentation_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS capacity_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reserved_source LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS peak_stated_reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_whole_run Nullable(Int64),
    ADD COLUMN IF NOT EXISTS unused_at_peak_ratio Nullable(Float64);
CREATE OR REPLACE TABLE npumem.peak AS npumem_local.peak
ENGINE = Distributed('npumem', 'npumem_local', 'peak', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.peak_site (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.peak_site
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS live_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS share_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS top_stack_hash Nullable(Int64);
CREATE OR REPLACE TABLE npumem.peak_site AS npumem_local.peak_site
ENGINE = Distributed('npumem', 'npumem_local', 'peak_site', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.hit_rate (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.hit_rate
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS bucket LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS allocation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS hit_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS miss_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS hit_rate Nullable(Float64),
    ADD COLUMN IF NOT EXISTS last_miss_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_miss_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64);
CREATE OR REPLACE TABLE npumem.hit_rate AS npumem_local.hit_rate
ENGINE = Distributed('npumem', 'npumem_local', 'hit_rate', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.fragmentation (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.fragmentation
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS moment LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS occupied_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS free_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS largest_free_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS stuck_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS fragmentation_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS idle_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS is_estimate Nullable(Int64),
    ADD COLUMN IF NOT EXISTS gap_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS size_basis LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS moment_kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS stated_reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS waste_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_doubtful Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS moment_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS min_rounding_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_rounding_bytes Nullable(Int64);
CREATE OR REPLACE TABLE npumem.fragmentation AS npumem_local.fragmentation
ENGINE = Distributed('npumem', 'npumem_local', 'fragmentation', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.health (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.health
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS measure LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS value Nullable(Float64),
    ADD COLUMN IF NOT EXISTS unit LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS advice LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reason LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS moment LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS amount Nullable(Int64),
    ADD COLUMN IF NOT EXISTS floor Nullable(Int64);
CREATE OR REPLACE TABLE npumem.health AS npumem_local.health
ENGINE = Distributed('npumem', 'npumem_local', 'health', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.oom (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.oom
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS out_of_memory_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS outcome LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS explanation LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS message LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS tried_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS at_least_tried_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failure_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS first_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS first_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS total_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS allocated_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS active_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS free_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS own_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS other_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pool_free_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pool_largest_free_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS released_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS error_code Nullable(Int64),
    ADD COLUMN IF NOT EXISTS thread LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS operation LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS stack_hash Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS needed_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS leaked_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS leaked_site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS module_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS other_cache_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS other_cache_heap LowCardinality(Nullable(String));
CREATE OR REPLACE TABLE npumem.oom AS npumem_local.oom
ENGINE = Distributed('npumem', 'npumem_local', 'oom', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.oom_site (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.oom_site
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS out_of_memory_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS live_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS share_ratio Nullable(Float64);
CREATE OR REPLACE TABLE npumem.oom_site AS npumem_local.oom_site
ENGINE = Distributed('npumem', 'npumem_local', 'oom_site', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.step (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.step
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS step_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS source LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS begin_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS duration_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS allocation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS free_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS allocated_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS freed_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS miss_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS peak_reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS driver_call_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS size_basis LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS has_detail Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64);
CREATE OR REPLACE TABLE npumem.step AS npumem_local.step
ENGINE = Distributed('npumem', 'npumem_local', 'step', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.completeness (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.completeness
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS path LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS events_seen Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_ingested Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_dropped Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_damaged Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_unrecovered Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_late Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_without_stack Nullable(Int64),
    ADD COLUMN IF NOT EXISTS bytes_cut Nullable(Int64),
    ADD COLUMN IF NOT EXISTS outstanding_without_stack_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS note_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS events_unkept Nullable(Int64),
    ADD COLUMN IF NOT EXISTS detail_begin_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS detail_begin_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS baseline LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS unseen_origin_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS detail LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS is_loss_exact Nullable(Int64),
    ADD COLUMN IF NOT EXISTS processes_unjoined Nullable(Int64),
    ADD COLUMN IF NOT EXISTS blocks_outside_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS outstanding_stack_cut_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS window_begin_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS window_end_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS window_begin_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS window_end_ns Nullable(Int64);
CREATE OR REPLACE TABLE npumem.completeness AS npumem_local.completeness
ENGINE = Distributed('npumem', 'npumem_local', 'completeness', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.environment (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.environment
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS source LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS name LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS value LowCardinality(Nullable(String));
CREATE OR REPLACE TABLE npumem.environment AS npumem_local.environment
ENGINE = Distributed('npumem', 'npumem_local', 'environment', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.curve (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.curve
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_live_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS reserved_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS live_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_ns Nullable(Int64);
CREATE OR REPLACE TABLE npumem.curve AS npumem_local.curve
ENGINE = Distributed('npumem', 'npumem_local', 'curve', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.outstanding (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.outstanding
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS allocation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS size_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS first_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS generation_count Nullable(Int64);
CREATE OR REPLACE TABLE npumem.outstanding AS npumem_local.outstanding
ENGINE = Distributed('npumem', 'npumem_local', 'outstanding', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.pool (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.pool
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS allocation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS hit_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS miss_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS hit_rate Nullable(Float64),
    ADD COLUMN IF NOT EXISTS allocated_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS missed_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS byte_hit_rate Nullable(Float64),
    ADD COLUMN IF NOT EXISTS step_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS misses_per_step Nullable(Float64),
    ADD COLUMN IF NOT EXISTS last_missing_step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_miss_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS last_miss_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS cold_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS growth_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS after_flush_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pending_free_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS fragmentation_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS unknown_cause_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS flush_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS released_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS released_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS retry_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS failed_retry_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pending_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_pending_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_pending_bound_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS max_pending_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pending_mib_seconds Nullable(Float64),
    ADD COLUMN IF NOT EXISTS max_wait_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS pending_miss_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS churn_ratio Nullable(Float64),
    ADD COLUMN IF NOT EXISTS driver_count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS driver_cost_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS driver_ns_per_allocation Nullable(Float64),
    ADD COLUMN IF NOT EXISTS is_partial Nullable(Int64),
    ADD COLUMN IF NOT EXISTS is_estimate Nullable(Int64);
CREATE OR REPLACE TABLE npumem.pool AS npumem_local.pool
ENGINE = Distributed('npumem', 'npumem_local', 'pool', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.finding (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.finding
    ADD COLUMN IF NOT EXISTS finding_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS severity LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS text LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS reason LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS through LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS verdict LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS basis LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS value Nullable(Float64),
    ADD COLUMN IF NOT EXISTS unit LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS count Nullable(Int64),
    ADD COLUMN IF NOT EXISTS moment LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS stack_hash Nullable(Int64),
    ADD COLUMN IF NOT EXISTS sentence LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS evidence LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS remedy LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS next_command LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS source_view LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS source_id Nullable(Int64);
CREATE OR REPLACE TABLE npumem.finding AS npumem_local.finding
ENGINE = Distributed('npumem', 'npumem_local', 'finding', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.usage_sample (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 400 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.usage_sample
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS used_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS total_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS used_ratio Nullable(Float64);
CREATE OR REPLACE TABLE npumem.usage_sample AS npumem_local.usage_sample
ENGINE = Distributed('npumem', 'npumem_local', 'usage_sample', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.allocation (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    rank Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, rank)
TTL loaded_at + INTERVAL 3 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.allocation
    ADD COLUMN IF NOT EXISTS host LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS pid Nullable(Int64),
    ADD COLUMN IF NOT EXISTS device Nullable(Int64),
    ADD COLUMN IF NOT EXISTS heap LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS level LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS allocation_id Nullable(Int64),
    ADD COLUMN IF NOT EXISTS address LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS size_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS requested_bytes Nullable(Int64),
    ADD COLUMN IF NOT EXISTS alloc_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS alloc_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS step Nullable(Int64),
    ADD COLUMN IF NOT EXISTS free_seq Nullable(Int64),
    ADD COLUMN IF NOT EXISTS free_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS ended LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS thread LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS free_thread LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS operation LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS operation_kind LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS policy LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS stream Nullable(Int64),
    ADD COLUMN IF NOT EXISTS site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS free_site LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS category LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS is_miss Nullable(Int64),
    ADD COLUMN IF NOT EXISTS cost_ns Nullable(Int64),
    ADD COLUMN IF NOT EXISTS stack_hash Nullable(Int64),
    ADD COLUMN IF NOT EXISTS segment_id Nullable(Int64);
CREATE OR REPLACE TABLE npumem.allocation AS npumem_local.allocation
ENGINE = Distributed('npumem', 'npumem_local', 'allocation', cityHash64(job, run, coalesce(rank, -1)));

CREATE TABLE IF NOT EXISTS npumem_local.stack (
    job LowCardinality(String),
    run LowCardinality(String),
    run_start_ns Nullable(Int64),
    stack_hash Nullable(Int64),
    file LowCardinality(String),
    file_hash String,
    loaded_at DateTime DEFAULT now()
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Nano(coalesce(run_start_ns, 0), 'UTC'))
ORDER BY (job, run, stack_hash)
TTL loaded_at + INTERVAL 3 DAY
SETTINGS allow_nullable_key = 1, non_replicated_deduplication_window = 10000;
ALTER TABLE npumem_local.stack
    ADD COLUMN IF NOT EXISTS depth Nullable(Int64),
    ADD COLUMN IF NOT EXISTS text LowCardinality(Nullable(String));
CREATE OR REPLACE TABLE npumem.stack AS npumem_local.stack
ENGINE = Distributed('npumem', 'npumem_local', 'stack', cityHash64(job, run, coalesce(stack_hash, 0)));
