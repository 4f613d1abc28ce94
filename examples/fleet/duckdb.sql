-- duckdb.sql: the tables of npumem export parquet in DuckDB, as views of its files: in the folder of -o,
--     duckdb -init duckdb.sql, then .read views.sql and SELECT * FROM fleet_leak
-- Nothing is loaded: a file that is written, replaced or removed is seen by the next question.
-- tables
CREATE OR REPLACE VIEW rank AS SELECT * FROM read_parquet('rank/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW leak AS SELECT * FROM read_parquet('leak/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW suspect AS SELECT * FROM read_parquet('suspect/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW peak AS SELECT * FROM read_parquet('peak/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW peak_site AS SELECT * FROM read_parquet('peak_site/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW hit_rate AS SELECT * FROM read_parquet('hit_rate/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW fragmentation AS SELECT * FROM read_parquet('fragmentation/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW health AS SELECT * FROM read_parquet('health/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW oom AS SELECT * FROM read_parquet('oom/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW oom_site AS SELECT * FROM read_parquet('oom_site/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW step AS SELECT * FROM read_parquet('step/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW completeness AS SELECT * FROM read_parquet('completeness/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW environment AS SELECT * FROM read_parquet('environment/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW curve AS SELECT * FROM read_parquet('curve/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW outstanding AS SELECT * FROM read_parquet('outstanding/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW pool AS SELECT * FROM read_parquet('pool/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW finding AS SELECT * FROM read_parquet('finding/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE OR REPLACE VIEW usage_sample AS SELECT * FROM read_parquet('usage_sample/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
-- Of files that --allocations wrote:
-- CREATE OR REPLACE VIEW allocation AS SELECT * FROM read_parquet('allocation/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
-- Of files that --allocations wrote:
-- CREATE OR REPLACE VIEW stack AS SELECT * FROM read_parquet('stack/*/*/*.parquet', hive_partitioning = false, union_by_name = true);
