-- Findings over ranks.

-- catalog: in csv all
CREATE TABLE finding_group (
    -- Findings that say the same, over all processes: of leaks those of one site, of misuse those of one kind, of a measure those
    -- with one verdict, of memory that ran out those with one cause. Only faults and warnings.
    --
    -- Number of the group, in the order of its kind.
    finding_group_id INTEGER PRIMARY KEY,
    -- As in table finding.
    severity TEXT NOT NULL,
    -- As in table finding.
    kind TEXT NOT NULL,
    -- The same as a sentence, in English. NULL: there is none for the kind.
    text TEXT,
    -- Where: of leaks the site that they have in common; of misuse that of the first. NULL: not of one site.
    site TEXT,
    -- What is called so, as in table finding.
    verdict TEXT,
    -- Ranks that have it, and processes without a rank. Unit: ranks or processes.
    holder_count INTEGER NOT NULL,
    -- Of so many: of all ranks, or where there are none of all processes that used memory; and whoever else has a finding. Unit: ranks or
    -- processes.
    all_count INTEGER NOT NULL,
    -- Of all together. Unit: bytes. NULL: not in bytes.
    total_bytes INTEGER,
    -- Blocks, calls, failures or requests of all together. Unit: as said. NULL: not counted.
    total_count INTEGER,
    -- What each process has of it: leaks in bytes, misuse and failures in calls, measures by their value (of several heaps the
    -- worst): the least of them.
    least_amount REAL,
    -- The median: of an even number the lower one.
    median_amount REAL,
    -- The most.
    most_amount REAL,
    -- The process that has it worst: its rank. NULL: none.
    worst_rank INTEGER,
    -- Its process number. NULL: not known.
    worst_pid INTEGER,
    -- Its machine. NULL: not known.
    worst_host TEXT,
    -- What is said of it, in any language, as in table finding. NULL: nothing. JSON.
    sentence TEXT
);
