-- when_full.sql: when will the device be full if the run goes on as it did, or why is that not said?
-- Parameters: :all    1: what has no trend, too (default 0)
-- Columns:    pid process; device number; heap name, NULL for all driver memory on the device; measure 'allocated',
--             'reserved', 'device' (what the process holds) or 'all processes' (what all recorded ones hold); answer a
--             sentence; bytes_per_step growth, bytes, NULL where there is too little to say; steps_left until the device
--             is full, full_step the number of that step and full_ns when it would be, nanoseconds, NULL where it is not
--             known
SELECT
    f.pid AS pid,
    f.device AS device,
    f.heap AS heap,
    f.measure AS measure,
    CASE
        WHEN f.verdict <> 'growing' THEN 'No trend: ' || coalesce(f.reason, 'not known why') || '.'
        ELSE 'Grows by ' || CASE
                WHEN f.bytes_per_step >= 1048576 THEN printf('%.1f MiB', f.bytes_per_step / 1048576.0)
                ELSE printf('%.1f KiB', f.bytes_per_step / 1024.0)
            END || ' a step' || CASE
                WHEN f.steps_left = 0 THEN ' and has reached what there is room for.'
                WHEN f.steps_left IS NOT NULL
                    THEN printf(
                        ' from %.1f MiB; the %.1f MiB that there is room for are full after %d more steps, in step %d',
                        f.line_bytes / 1048576.0, f.limit_bytes / 1048576.0, f.steps_left, f.full_step)
                        || CASE
                            WHEN f.full_ns IS NOT NULL THEN printf(', %.1f s after the begin.', f.full_ns / 1e9)
                            ELSE '.'
                        END
                ELSE '; when the device is full is not known: ' || coalesce(f.reason, 'no reason is given') || '.'
            END
    END AS answer,
    f.bytes_per_step AS bytes_per_step,
    f.steps_left AS steps_left,
    f.full_step AS full_step,
    f.full_ns AS full_ns
FROM forecast AS f
WHERE f.verdict = 'growing' OR :all = 1
ORDER BY f.verdict, f.steps_left IS NULL, f.steps_left, f.pid, f.device, f.heap IS NULL, f.heap, f.measure
-- begin guard :all; -1
LIMIT CASE
    WHEN :all IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
