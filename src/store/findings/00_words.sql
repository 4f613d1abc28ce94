-- What the other files share: a table that is empty, sentences for the words that views have for a thing.
DELETE FROM finding;
DELETE FROM finding_group;
CREATE TEMP TABLE said_word (
    topic TEXT,
    word TEXT,
    code TEXT,
    PRIMARY KEY (topic, word)
);
INSERT INTO said_word
VALUES
    ('measure', 'fragmentation', 'screen.measure.fragmentation'),
    ('measure', 'pool hit rate', 'screen.measure.hit_rate'),
    ('measure', 'allocation cost', 'screen.measure.cost'),
    ('measure', 'zero copy', 'screen.measure.zero_copy'),
    ('measure', 'pending memory', 'screen.measure.pending'),
    ('measure', 'idle streams', 'screen.measure.idle'),
    ('measure', 'object leak', 'screen.measure.objects'),
    ('measure', 'host growth', 'screen.measure.host'),
    ('measure', 'cache growth', 'screen.measure.grows'),
    ('measure', 'shared device', 'screen.measure.shared'),
    ('reason', 'not all was recorded', 'screen.reason.partial'),
    ('reason', 'sizes as requested alone', 'screen.reason.requested'),
    ('reason', 'other streams may use it', 'screen.reason.streams'),
    ('reason', 'reserved bytes not known', 'screen.reason.reserved'),
    ('misuse', 'free of unknown memory', 'screen.misuse.unknown'),
    ('misuse', 'double free', 'screen.misuse.double'),
    ('misuse', 'wrong free call', 'screen.misuse.wrong'),
    ('misuse', 'copy past the end', 'screen.misuse.copy'),
    ('misuse', 'use after free', 'screen.misuse.use'),
    ('misuse', 'overlapping allocation', 'screen.misuse.overlap'),
    ('misuse', 'unmap of unknown memory', 'screen.misuse.unmap'),
    ('misuse', 'zero size allocation', 'screen.misuse.zero'),
    ('misuse', 'unregister of unknown memory', 'screen.misuse.unregister'),
    ('misuse', 'stream never destroyed', 'screen.misuse.stream'),
    ('shrink', 'activation', 'screen.remedy.activations'),
    ('shrink', 'weight', 'screen.remedy.weights'),
    ('shrink', 'optimizer state', 'screen.remedy.optimizer'),
    ('shrink', 'gradient', 'screen.remedy.gradients'),
    ('shrink', 'KV cache', 'screen.remedy.kv'),
    ('shrink', 'graph', 'screen.remedy.graphs'),
    ('cause', 'leak', 'leak'),
    ('cause', 'capacity', 'capacity'),
    ('cause', 'fragmentation', 'fragmentation'),
    ('cause', 'other-stream', 'stream'),
    ('cause', 'other-cache', 'cache'),
    ('cause', 'other-process-or-module', 'others'),
    ('cause', 'limit', 'limit'),
    ('cause', 'driver', 'driver'),
    ('cause', 'resources', 'resources'),
    ('cause', 'host', 'host');

-- What is known of the whole run.
CREATE TEMP TABLE said_run AS
SELECT
    (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS partial_count,
    EXISTS (SELECT 1 FROM input WHERE state = 'running') AS is_running,
    (SELECT sum(events_ingested) FROM input) AS event_count,
    EXISTS (SELECT 1 FROM z_heap_sum WHERE peak_bytes > 0) AS has_memory,
    (SELECT upper(max(kind)) FROM device) AS device_kind,
    (
        SELECT count(DISTINCT h.process_id) > 1
        FROM z_heap_sum AS s
        JOIN heap AS h ON h.heap_id = s.heap_id
        WHERE s.peak_bytes > 0
    ) AS is_shared;
