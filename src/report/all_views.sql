-- all_views.sql: the names of views, but those of each single allocation, and stack_text, which says each frame once
-- for all stacks that go through it: these would be many times as large as all others.
SELECT name
FROM sqlite_master
WHERE type = 'view'
    AND (:has_internal OR substr(name, 1, 1) <> '_')
    AND name NOT IN ('allocation_detail', 'stack_text')
ORDER BY name;
