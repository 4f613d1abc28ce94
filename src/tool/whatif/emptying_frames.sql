-- emptying_frames.sql: frames of the calls that may empty the cache; whether they do, the gather says.
SELECT
    frame_id,
    function
FROM frame
WHERE instr(function, 'empty_cache') OR instr(function, 'emptyCache');
