-- Each finding's text in English; of what is not judged with the reason, of what is good with what that rests on.
UPDATE finding
SET text = (
    SELECT
        said_text(0, sentence, rank, pid, device, r.device_kind, r.is_shared, heap, site)
        || CASE
            WHEN severity IN ('good', 'not judged') AND evidence IS NOT NULL
                THEN ': ' || said_lines(0, evidence, rank, pid, device, r.device_kind, r.is_shared, heap, site)
            ELSE ''
        END
    FROM temp.said_run AS r
);

UPDATE finding_group
SET text = said_text(0, sentence, NULL, NULL, NULL, NULL, 0, NULL, site);

DROP TABLE temp.said_word;
DROP TABLE temp.said_run;
