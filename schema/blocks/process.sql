-- Name of the machine. NULL: not known.
host,
-- Rank of the process. NULL: none.
rank,
-- Process number. NULL: not known.
pid,
