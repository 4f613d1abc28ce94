-- unseen.sql: what could the recorder not see, or did it see in another way than usual?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process, NULL of several or unknown; kind what it is about: missing function, other tool, unseen library,
--             unseen operator, no pool events, Python unreadable, Python unchecked, no ring, unseen process or other; text the
--             function, library, operator or reason, NULL where unknown; note_count how often it was noted; unseen_count such
--             things of one process at most, of which text is the first; process_count processes; first_seq place of the first
--             note
SELECT
    v.pid AS pid,
    v.kind AS kind,
    v.text AS text,
    v.note_count AS note_count,
    v.unseen_count AS unseen_count,
    v.process_count AS process_count,
    v.first_seq AS first_seq
FROM z_unseen AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.first_seq, v.kind, v.text
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
