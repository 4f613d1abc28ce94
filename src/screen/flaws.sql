-- flaws.sql: what else was not well: inputs that are not whole, and processes that did not end by themselves with 0.
SELECT
    (SELECT count(*) FROM completeness WHERE verdict <> 'complete') + (
        SELECT count(*)
        FROM process
        WHERE end_kind = 'signal' OR (end_kind = 'exit' AND end_status <> 0)
    ) AS flaw_count;
