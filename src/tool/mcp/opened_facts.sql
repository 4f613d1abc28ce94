-- opened_facts.sql: how much there is, and how many findings of each severity.
SELECT
    (SELECT count(*) FROM process) AS process_count,
    (SELECT count(DISTINCT rank) FROM process) AS rank_count,
    (SELECT count(*) FROM device) AS device_count,
    (SELECT max(generation) FROM step) AS step_count,
    (SELECT count(*) FROM input WHERE state = 'running') AS running_count,
    (SELECT count(*) FROM finding WHERE severity = 'fault') AS fault_count,
    (SELECT count(*) FROM finding WHERE severity = 'warning') AS warning_count,
    (SELECT count(*) FROM finding WHERE severity = 'not judged') AS not_judged_count;
