-- frames.sql: all frames, in the order of their numbers.
SELECT
    frame_id,
    label,
    function,
    file,
    module,
    line,
    offset,
    module_id,
    is_plumbing
FROM frame
ORDER BY frame_id;
