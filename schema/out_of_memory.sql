-- Why memory ran out: one row per chain of failed allocations, how things stood before, what the device held then, and who.

CREATE TABLE z_out_of_memory_chain (
    -- Failed allocations of one thread on one device that belong together: try, flush, retry. Shown by the view
    -- out_of_memory. Heaps and device are described as they were before the first failure.
    --
    -- Number of the chain.
    out_of_memory_chain_id INTEGER PRIMARY KEY,
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: host memory, or not known.
    device_id INTEGER REFERENCES device (device_id),
    -- The thread. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that the first failure was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where it was. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The heap that could not serve first. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The pool that said that it could not serve. NULL: none did, only the driver refused.
    pool_heap_id INTEGER REFERENCES heap (heap_id),
    -- The moment of the first failure, which has rows in z_device_sample, z_heap_sample and fragmentation_sample.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- 'recovered', 'fatal', 'open' (the recording ended first) or 'unknown' (events were lost first).
    outcome TEXT NOT NULL,
    -- The call about streams or events that failed, a code of z_stream_call_kind. NULL: it was an allocation.
    stream_call INTEGER REFERENCES z_stream_call_kind (kind),
    -- Failures. Unit: failures.
    failure_count INTEGER NOT NULL,
    -- Those of the driver. Unit: failures.
    driver_failure_count INTEGER NOT NULL,
    -- Place of the first failure in the order of events.
    first_seq INTEGER,
    -- Place of the last.
    last_seq INTEGER,
    -- When the first was. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- When the last was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns INTEGER,
    -- What the first returned: 207001 is out of memory, 207005 out of other resources. NULL: not known.
    error_code INTEGER,
    -- What the pool was asked for, by its own word. Unit: bytes. NULL: not known.
    tried_bytes INTEGER,
    -- Largest request that the driver refused. Unit: bytes. NULL: it refused none.
    at_least_tried_bytes INTEGER,
    -- Driver memory that the thread gave back between the failures and their end. Unit: bytes.
    released_bytes INTEGER NOT NULL,
    -- Blocks of all pools of the device that the program had not given up; without a pool its driver memory. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- The same with blocks that other streams still used. Unit: bytes.
    active_bytes INTEGER NOT NULL,
    -- What these pools held of the driver's memory. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- What the process took of the device, without modules of CANN. Unit: bytes.
    own_bytes INTEGER NOT NULL,
    -- What modules of CANN took for the process, as far as recorded. Unit: bytes.
    module_bytes INTEGER NOT NULL,
    -- Largest block of these pools that the program had given up and that other streams still used. Unit: bytes.
    max_pending_bytes INTEGER NOT NULL,
    -- Live blocks of pool_heap_id. Unit: allocations.
    pool_live_count INTEGER NOT NULL,
    -- 1: segments of that pool were seen, so that the driver's refusals are as well; 0: not.
    has_segments INTEGER NOT NULL,
    -- Streams of the device that the process had created before and not destroyed. Unit: streams.
    stream_count INTEGER NOT NULL,
    -- Events likewise. Unit: events.
    event_count INTEGER NOT NULL,
    -- 1: events were lost before, or not all that was live is known; 0: not.
    is_partial INTEGER NOT NULL,
    -- What emptying the caches of the pools that did not ask would have given back to the device. Unit: bytes. NULL:
    -- nothing, or it is not known which asked.
    other_cache_bytes INTEGER,
    -- The pool that had most of it. NULL: none.
    other_cache_heap_id INTEGER REFERENCES heap (heap_id)
);

CREATE TABLE z_out_of_memory_stack (
    -- What was live on the device before a chain began, by stack: the 64 largest and, for each heap, the sum of the rest.
    -- Shown by the view z_out_of_memory_site. A recording with very many failures has rows of the first ones alone.
    --
    -- The chain.
    out_of_memory_chain_id INTEGER NOT NULL REFERENCES z_out_of_memory_chain (out_of_memory_chain_id),
    -- The heap: a pool, or driver memory that is no pool's.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where it was allocated. NULL: no stack was recorded, or the rest.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- 1: what was there before the recording began, and has no stack; 0: all else.
    is_baseline INTEGER NOT NULL,
    -- 1: the sum of all smaller ones of the heap; 0: not.
    is_rest INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE TABLE z_out_of_memory_leak (
    -- What a leak (view leak_by_site: growing, rising) held on the device before a chain began, by site: of the blocks
    -- that are called a leak those that had been born by then, without what was born in the step of the failure. Shown by
    -- the view out_of_memory.
    --
    -- The chain.
    out_of_memory_chain_id INTEGER NOT NULL REFERENCES z_out_of_memory_chain (out_of_memory_chain_id),
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- Size of those blocks. Unit: bytes.
    leaked_bytes INTEGER NOT NULL
);

CREATE INDEX out_of_memory_chain_moment ON z_out_of_memory_chain (moment_id);
CREATE INDEX out_of_memory_stack_chain ON z_out_of_memory_stack (out_of_memory_chain_id);

-- catalog: first 8, counted by z_out_of_memory_chain
CREATE VIEW out_of_memory (
    -- Why a request for memory could not be served: one row per try, flush and retry of one thread on one device. Device
    -- and heaps are as they were before the first failure. What the verdicts mean stands at verdict.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory, or not known.
    device,
    -- Name of the heap that could not serve first. NULL: not known.
    heap,
    -- Level of the heap. NULL: not known.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- 'recovered': the same request was served then, or the thread was served at least as much in smaller requests later
    -- on; 'fatal': it was not. NULL: events were lost, or the recording was cut off, before that was known; always of a log.
    outcome,
    -- 'leak': what had leaked (view leak_by_site: growing, rising) is more than what was inactive split inside the pools,
    -- and without it the request would have fitted; 'capacity': the process itself needs more than the device has, even if
    -- its pools gave all back that is free in them, or, where the size of the device is not known, more than was free on it
    -- and in them; 'fragmentation': the pool had enough free in the segments that serve
    -- such a request, or half of it and the device the rest, but not in one piece (of a log: it had reserved and did not use as much); 'other-cache': who asked was another pool,
    -- or in another library than any pool, and with the segments without a block that a pool kept it would have fitted;
    -- 'other-stream': the memory was free, or given up, but for another stream;
    -- 'other-process-or-module': other processes, or modules of the runtime, hold a tenth of the device or more (half of it,
    -- where the pool had enough free as well), and without them it would have fitted; 'limit': the pool refused by itself,
    -- without a refusal of the driver or, in a snapshot, with room on the device for the segment that it would have asked
    -- for; 'driver': the driver refused at least twice though the device had enough free, which was not in pieces that it
    -- could use; 'resources': the runtime refused with 207005, which is about streams, events and the like and not about
    -- memory, though its text speaks of memory; 'host': it was memory of the host, of which is not recorded who held it;
    -- 'unknown': the data do not say.
    verdict,
    -- The verdict as a sentence, with its figures.
    explanation,
    -- The state before the first failure in the words of torch_npu's own message.
    message,
    -- What the pool was asked for, by its own word, the SDK's or a snapshot's. Unit: bytes. NULL: not known.
    tried_bytes,
    -- Largest request that the driver refused, where an expandable segment asks for its pieces with the free range that it was to
    -- lengthen. Unit: bytes. NULL: it refused none.
    at_least_tried_bytes,
    -- Failures in the chain. Unit: failures.
    failure_count,
    -- Place of the first failure in the order of events.
    first_seq,
    -- Place of the last.
    last_seq,
    -- When the first was. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns,
    -- When the last was. Unit: nanoseconds since the recording began. NULL: not known.
    last_ns,
    -- All memory of the device. Unit: bytes. NULL: not known.
    total_bytes,
    -- Blocks of all pools of the device that the program had not given up; without a pool its driver memory. Unit: bytes.
    -- NULL: host memory.
    allocated_bytes,
    -- The same with blocks that other streams still used. Unit: bytes. NULL: host memory.
    active_bytes,
    -- Free memory of the device. Unit: bytes. NULL: not known.
    free_bytes,
    -- What these pools held of the driver's memory. Unit: bytes. NULL: host memory.
    reserved_bytes,
    -- What the process took of the device, without modules of CANN. Unit: bytes. NULL: host memory.
    own_bytes,
    -- The rest of what was in use: other processes, modules of CANN and what nobody explains. Unit: bytes. NULL: not
    -- known.
    other_bytes,
    -- Free bytes inside the pool that could not serve. Unit: bytes. NULL: no pool said so, or not known.
    pool_free_bytes,
    -- The largest free range in it. Unit: bytes. NULL: no pool said so, or not known.
    pool_largest_free_bytes,
    -- Driver memory that the thread gave back between the first failure and the end of the chain. Unit: bytes.
    released_bytes,
    -- What the first failure returned: 207001 is out of memory, 207005 out of other resources. NULL: not known.
    error_code,
    -- The thread: its name, else its number. NULL: not known.
    thread,
    -- Name of the operation that the first failure was part of. NULL: none.
    operation,
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Number of the whole stack. NULL: none was recorded.
    stack_id,
    -- 1: events were lost before, or not all that was live is known, so that the verdict is 'unknown'; 0: not.
    is_partial,
    -- What the device had to give in one piece: what it was asked for or, where its refusals are not seen, the segment
    -- that a caching allocator of PyTorch takes for such a request (2 MiB up to 1 MiB, 20 MiB below 10 MiB, else whole
    -- 2 MiB; of expandable segments pages of 2 or 20 MiB). Unit: bytes. NULL: not known.
    needed_bytes,
    -- What had leaked on the device by then. Unit: bytes. NULL: nothing is known to.
    leaked_bytes,
    -- The site that had leaked most of it. NULL: none.
    leaked_site,
    -- Part of other_bytes that modules of CANN were seen to take for the process. Unit: bytes. NULL: host memory.
    module_bytes,
    -- What emptying the caches of the pools that did not ask would have given back to the device. Unit: bytes. NULL:
    -- nothing, or it is not known which asked.
    other_cache_bytes,
    -- Name of the pool that had most of it. NULL: none.
    other_cache_heap
) AS
SELECT
    process.host, process.rank, process.pid, t.device,
    h.name,
    hl.name,
    t.out_of_memory_id,
    CASE
        WHEN t.outcome IN ('recovered', 'fatal') THEN t.outcome
        WHEN t.outcome = 'open' AND t.is_finished = 1 THEN 'fatal'
    END,
    t.verdict,
    CASE
        WHEN t.reason = 'leak'
            THEN t.leaked_text || ' had leaked by then, most of it at ' || t.leaked_site || ': without it ' || t.least || t.asked_text
                || t.segment_note || ' would have fitted. '
        ELSE ''
    END
    || CASE t.reason
        WHEN 'resources'
            THEN 'Error 207005 is about resources of the device (streams, events and the like), not about its memory: '
                || 'this process had created ' || t.stream_count || ' stream' || CASE t.stream_count WHEN 1 THEN '' ELSE 's' END
                || ' and ' || t.event_count || ' event' || CASE t.event_count WHEN 1 THEN '' ELSE 's' END
                || ' on it that it had not destroyed.'
        WHEN 'partial'
            THEN 'Events are missing, or the recording began late: what held the memory is not known.'
        WHEN 'host' THEN 'Memory of the host, not of a device: who held it is not recorded.'
        WHEN 'call'
            THEN 'The runtime had no memory for what it needs itself, and how much that is it does not say: this process held '
                || t.own_text || coalesce(' of the device''s ' || t.total_text, '') || '.'
        WHEN 'leak'
            THEN 'This process held ' || t.own_text || coalesce(' of the device''s ' || t.total_text, '')
                || coalesce(', ' || t.free_text || ' was free.', '.')
        WHEN 'alone'
            THEN 'The request alone, ' || t.least || t.asked_text || t.segment_note || ', is more than '
                || coalesce('the device''s ' || t.total_text || '.', 'any device has.')
        WHEN 'fits'
            THEN 'The pool had a free range of ' || t.fit_largest_text || ', enough for ' || t.asked_text
                || ': it may belong to another stream or to another kind of blocks.'
        WHEN 'other stream'
            THEN 'The pool had a free range of ' || t.other_stream_text || ', enough for ' || t.asked_text
                || ', in segments of another stream.'
        WHEN 'pending'
            THEN 'The program had given up ' || t.pending_text || ' that other streams still used, enough for ' || t.least
                || t.asked_text || ' in one piece.'
        WHEN 'kept'
            THEN 'Pools that did not ask had ' || t.other_cache_text || ' reserved that nothing used'
                || coalesce(', most of it ' || oh.name, '') || ': with that back, ' || t.least || t.asked_text || t.segment_note
                || ' would have fitted.'
        WHEN 'fragmentation'
            THEN 'The pool had ' || t.fit_free_text || ' free, enough for ' || t.asked_text
                || CASE t.is_estimate WHEN 1 THEN ', but in no range that was.' ELSE ', but its largest free range was ' || t.fit_largest_text || '.' END
        WHEN 'pieces'
            THEN 'The pool had ' || t.fit_free_text || ' free in segments for such requests, but no range of it served: it '
                || 'asked the device for a segment of ' || t.asked_text || '.'
        WHEN 'between'
            THEN 'The pool had ' || t.fit_free_text || ' free and the device ' || t.free_text || ', together enough for '
                || t.least || t.asked_text || t.segment_note || ', but not in one piece.'
        WHEN 'limit'
            THEN 'The pool refused ' || t.asked_text || ' by itself, with ' || coalesce(t.reserved_text, 'an unknown amount')
                || ' reserved and no refusal of the driver'
                || coalesce(': the device had ' || t.free_text || ' free.', '.')
        WHEN 'snapshot limit'
            THEN 'The pool refused ' || t.asked_text || t.segment_note || ', with ' || t.reserved_text || ' reserved, though the device had '
                || t.free_text || ' free: it keeps to a limit of the process (memory fraction).'
        WHEN 'full'
            THEN 'This process itself held ' || t.own_text
                || coalesce(' of the device''s ' || t.total_text || t.cache, t.cache || ', and ' || t.free_text || ' was free') || ': '
                || t.least || t.asked_text || t.segment_note || CASE t.outcome WHEN 'recovered' THEN ' was asked for.' ELSE ' more does not fit.' END
        WHEN 'cached'
            THEN 'This process held ' || t.own_text || ' of the device''s ' || t.total_text || t.cache
                || ' when ' || t.least || t.asked_text || t.segment_note || ' was asked for: with what was free in the pools there was enough for it, but '
                || 'not in one piece that could serve it.'
        WHEN 'idle'
            THEN 'This process held ' || t.own_text || coalesce(' of the device''s ' || t.total_text, '') || t.cache || ' when ' || t.asked_text
                || ' was asked for: that was enough, but it was in pieces, or kept for other requests.'
        WHEN 'other'
            THEN t.other_text || ' of the device''s ' || t.total_text
                || ' was held by other processes or by modules of the runtime' || t.modules || ', and ' || t.own_text
                || ' by this process' || t.cache || ': without the others ' || t.least || t.asked_text || t.segment_note || ' would have fitted.'
        WHEN 'overhead'
            THEN 'This process held ' || t.own_text || ' of the device''s ' || t.total_text || t.cache
                || ' and all others ' || t.other_text || t.modules || ': ' || t.free_text || ' was left for ' || t.least || t.asked_text || t.segment_note || '.'
        WHEN 'unseen'
            THEN 'This process held at least ' || t.own_text || ' of the device''s ' || t.total_text
                || ', and what a pool had reserved beyond its blocks is not known: ' || t.free_text || ' was left for '
                || t.least || t.asked_text || '.'
        WHEN 'driver'
            THEN 'The driver refused ' || t.asked_text || ' ' || t.driver_failure_count || ' times though ' || t.free_text
                || ' was free right after: not in pieces that it could use, as huge pages are.'
        WHEN 'refused'
            THEN 'The driver refused ' || t.asked_text || ' though ' || t.free_text
                || ' was free right after: another process may have given it back, or it was not free in one piece.'
        WHEN 'untold'
            THEN 'The log does not say what held the memory' || coalesce(': ' || t.free_text || ' of the device''s ' || t.total_text || ' was free', '')
                || coalesce(' when ' || t.least || t.asked_text || ' was asked for', '') || '.'
        ELSE 'How much memory the device has, or had free then, is not known: this process held ' || t.own_text
            || coalesce(', ' || t.free_text || ' was free', '') || ' and ' || t.least || t.asked_text
            || ' was asked for.'
    END
    || CASE
        WHEN t.outcome <> 'recovered' OR t.stream_call IS NOT NULL THEN ''
        WHEN t.released_bytes > 0 THEN ' It was served after this process had given back ' || t.released_text || '.'
        ELSE ' The program went on, and was served as much later.'
    END
    || CASE
        WHEN t.leaked_bytes > 0 AND t.reason NOT IN ('leak', 'resources')
            THEN ' Besides, ' || t.leaked_text || ' had leaked by then, most of it at ' || t.leaked_site || '.'
        ELSE ''
    END,
    CASE
        WHEN t.stream_call IS NOT NULL
            THEN 'Tried to ' || t.stream_call || ' (device ' || coalesce(t.device, 'not known') || '; created and not destroyed: '
                || t.stream_count || ' stream' || CASE t.stream_count WHEN 1 THEN '' ELSE 's' END || ', ' || t.event_count
                || ' event' || CASE t.event_count WHEN 1 THEN '' ELSE 's' END || ')'
        WHEN t.device_id IS NOT NULL
            THEN 'Tried to allocate ' || t.least || t.asked_text || ' (device ' || coalesce(t.device, 'not known') || '; '
                || coalesce(t.total_text || ' total capacity; ', '') || coalesce(t.allocated_text || ' already allocated; '
                || t.active_text || ' current active', 'allocated not known') || coalesce('; ' || t.free_text || ' free', '')
                || coalesce('; ' || t.reserved_text || ' reserved', '') || ')'
        ELSE 'Tried to allocate ' || t.least || t.asked_text || ' of host memory'
    END,
    t.tried_bytes,
    t.at_least_tried_bytes,
    t.failure_count,
    t.first_seq,
    t.last_seq,
    t.first_ns,
    t.last_ns,
    t.total_bytes,
    t.allocated_bytes,
    t.active_bytes,
    t.free_bytes,
    t.reserved_bytes,
    t.own_bytes,
    t.other_bytes,
    t.pool_free_bytes,
    t.pool_largest_free_bytes,
    t.released_bytes,
    t.error_code,
    coalesce(thread.name, CAST(thread.tid AS TEXT)),
    o.name,
    coalesce(r.label, '(no stack)'),
    t.stack_id,
    t.is_partial,
    t.needed_bytes,
    t.leaked_bytes,
    t.leaked_site,
    t.module_bytes,
    t.other_cache_bytes,
    oh.name
FROM (
    SELECT
        v.out_of_memory_id AS out_of_memory_id,
        v.process_id AS process_id,
        v.device_id AS device_id,
        v.device AS device,
        v.thread_id AS thread_id,
        v.operation_id AS operation_id,
        v.stack_id AS stack_id,
        v.heap_id AS heap_id,
        v.outcome AS outcome,
        v.is_finished AS is_finished,
        v.failure_count AS failure_count,
        v.first_seq AS first_seq,
        v.last_seq AS last_seq,
        v.first_ns AS first_ns,
        v.last_ns AS last_ns,
        v.error_code AS error_code,
        v.tried_bytes AS tried_bytes,
        v.at_least_tried_bytes AS at_least_tried_bytes,
        v.released_bytes AS released_bytes,
        v.total_bytes AS total_bytes,
        v.allocated_bytes AS allocated_bytes,
        v.active_bytes AS active_bytes,
        v.free_bytes AS free_bytes,
        v.reserved_bytes AS reserved_bytes,
        v.own_bytes AS own_bytes,
        v.other_bytes AS other_bytes,
        v.pool_free_bytes AS pool_free_bytes,
        v.pool_largest_free_bytes AS pool_largest_free_bytes,
        v.is_partial AS is_partial,
        v.reason AS reason,
        v.stream_call AS stream_call,
        v.stream_count AS stream_count,
        v.event_count AS event_count,
        v.driver_failure_count AS driver_failure_count,
        nullif(v.needed_bytes, 0) AS needed_bytes,
        v.leaked_bytes AS leaked_bytes,
        v.leaked_site AS leaked_site,
        v.module_bytes AS module_bytes,
        v.other_cache_bytes AS other_cache_bytes,
        v.other_cache_heap_id AS other_cache_heap_id,
        v.is_estimate AS is_estimate,
        CASE v.reason
            WHEN 'resources' THEN 'resources'
            WHEN 'host' THEN 'host'
            WHEN 'leak' THEN 'leak'
            WHEN 'fragmentation' THEN 'fragmentation'
            WHEN 'pieces' THEN 'fragmentation'
            WHEN 'between' THEN 'fragmentation'
            WHEN 'idle' THEN 'fragmentation'
            WHEN 'kept' THEN 'other-cache'
            WHEN 'other stream' THEN 'other-stream'
            WHEN 'pending' THEN 'other-stream'
            WHEN 'limit' THEN 'limit'
            WHEN 'snapshot limit' THEN 'limit'
            WHEN 'alone' THEN 'capacity'
            WHEN 'full' THEN 'capacity'
            WHEN 'overhead' THEN 'capacity'
            WHEN 'other' THEN 'other-process-or-module'
            WHEN 'driver' THEN 'driver'
            ELSE 'unknown'
        END AS verdict,
        CASE WHEN v.tried_bytes IS NULL AND v.stream_call IS NULL THEN 'at least ' ELSE '' END AS least,
        CASE
            WHEN v.needed_bytes <= v.asked_bytes THEN ''
            WHEN v.needed_bytes >= 1073741824 THEN printf(' (a segment of %.2f GiB)', v.needed_bytes / 1073741824.0)
            WHEN v.needed_bytes >= 1048576 THEN printf(' (a segment of %.2f MiB)', v.needed_bytes / 1048576.0)
            ELSE printf(' (a segment of %.2f KiB)', v.needed_bytes / 1024.0)
        END AS segment_note,
        CASE
            WHEN v.module_bytes >= 1073741824 THEN printf(' (%.2f GiB of it by modules seen to take it)', v.module_bytes / 1073741824.0)
            WHEN v.module_bytes >= 1048576 THEN printf(' (%.2f MiB of it by modules seen to take it)', v.module_bytes / 1048576.0)
            ELSE ''
        END AS modules,
        CASE
            WHEN v.leaked_bytes >= 1073741824 THEN printf('%.2f GiB', v.leaked_bytes / 1073741824.0)
            WHEN v.leaked_bytes >= 1048576 THEN printf('%.2f MiB', v.leaked_bytes / 1048576.0)
            WHEN v.leaked_bytes IS NOT NULL THEN printf('%.2f KiB', v.leaked_bytes / 1024.0)
        END AS leaked_text,
        CASE
            WHEN v.pending_bytes >= 1073741824 THEN printf('%.2f GiB', v.pending_bytes / 1073741824.0)
            WHEN v.pending_bytes >= 1048576 THEN printf('%.2f MiB', v.pending_bytes / 1048576.0)
            WHEN v.pending_bytes IS NOT NULL THEN printf('%.2f KiB', v.pending_bytes / 1024.0)
        END AS pending_text,
        CASE
            WHEN v.other_stream_bytes >= 1073741824 THEN printf('%.2f GiB', v.other_stream_bytes / 1073741824.0)
            WHEN v.other_stream_bytes >= 1048576 THEN printf('%.2f MiB', v.other_stream_bytes / 1048576.0)
            WHEN v.other_stream_bytes IS NOT NULL THEN printf('%.2f KiB', v.other_stream_bytes / 1024.0)
        END AS other_stream_text,
        CASE
            WHEN v.cache_bytes >= 1073741824 THEN printf(' (up to %.2f GiB of it free inside its pools)', v.cache_bytes / 1073741824.0)
            WHEN v.cache_bytes >= 1048576 THEN printf(' (up to %.2f MiB of it free inside its pools)', v.cache_bytes / 1048576.0)
            ELSE ''
        END AS cache,
        CASE
            WHEN v.released_bytes >= 1073741824 THEN printf('%.2f GiB', v.released_bytes / 1073741824.0)
            WHEN v.released_bytes >= 1048576 THEN printf('%.2f MiB', v.released_bytes / 1048576.0)
            ELSE printf('%.2f KiB', v.released_bytes / 1024.0)
        END AS released_text,
        CASE
            WHEN v.asked_bytes >= 1073741824 THEN printf('%.2f GiB', v.asked_bytes / 1073741824.0)
            WHEN v.asked_bytes >= 1048576 THEN printf('%.2f MiB', v.asked_bytes / 1048576.0)
            WHEN v.asked_bytes IS NOT NULL THEN printf('%.2f KiB', v.asked_bytes / 1024.0)
        END AS asked_text,
        CASE
            WHEN v.total_bytes >= 1073741824 THEN printf('%.2f GiB', v.total_bytes / 1073741824.0)
            WHEN v.total_bytes >= 1048576 THEN printf('%.2f MiB', v.total_bytes / 1048576.0)
            WHEN v.total_bytes IS NOT NULL THEN printf('%.2f KiB', v.total_bytes / 1024.0)
        END AS total_text,
        CASE
            WHEN v.allocated_bytes >= 1073741824 THEN printf('%.2f GiB', v.allocated_bytes / 1073741824.0)
            WHEN v.allocated_bytes >= 1048576 THEN printf('%.2f MiB', v.allocated_bytes / 1048576.0)
            WHEN v.allocated_bytes IS NOT NULL THEN printf('%.2f KiB', v.allocated_bytes / 1024.0)
        END AS allocated_text,
        CASE
            WHEN v.active_bytes >= 1073741824 THEN printf('%.2f GiB', v.active_bytes / 1073741824.0)
            WHEN v.active_bytes >= 1048576 THEN printf('%.2f MiB', v.active_bytes / 1048576.0)
            WHEN v.active_bytes IS NOT NULL THEN printf('%.2f KiB', v.active_bytes / 1024.0)
        END AS active_text,
        CASE
            WHEN v.free_bytes = 0 THEN '0 B'
            WHEN v.free_bytes >= 1073741824 THEN printf('%.2f GiB', v.free_bytes / 1073741824.0)
            WHEN v.free_bytes >= 1048576 THEN printf('%.2f MiB', v.free_bytes / 1048576.0)
            WHEN v.free_bytes IS NOT NULL THEN printf('%.2f KiB', v.free_bytes / 1024.0)
        END AS free_text,
        CASE
            WHEN v.reserved_bytes >= 1073741824 THEN printf('%.2f GiB', v.reserved_bytes / 1073741824.0)
            WHEN v.reserved_bytes >= 1048576 THEN printf('%.2f MiB', v.reserved_bytes / 1048576.0)
            WHEN v.reserved_bytes IS NOT NULL THEN printf('%.2f KiB', v.reserved_bytes / 1024.0)
        END AS reserved_text,
        CASE
            WHEN v.own_bytes >= 1073741824 THEN printf('%.2f GiB', v.own_bytes / 1073741824.0)
            WHEN v.own_bytes >= 1048576 THEN printf('%.2f MiB', v.own_bytes / 1048576.0)
            WHEN v.own_bytes IS NOT NULL THEN printf('%.2f KiB', v.own_bytes / 1024.0)
        END AS own_text,
        CASE
            WHEN v.other_bytes >= 1073741824 THEN printf('%.2f GiB', v.other_bytes / 1073741824.0)
            WHEN v.other_bytes >= 1048576 THEN printf('%.2f MiB', v.other_bytes / 1048576.0)
            WHEN v.other_bytes IS NOT NULL THEN printf('%.2f KiB', v.other_bytes / 1024.0)
        END AS other_text,
        CASE
            WHEN v.other_cache_bytes >= 1073741824 THEN printf('%.2f GiB', v.other_cache_bytes / 1073741824.0)
            WHEN v.other_cache_bytes >= 1048576 THEN printf('%.2f MiB', v.other_cache_bytes / 1048576.0)
            WHEN v.other_cache_bytes IS NOT NULL THEN printf('%.2f KiB', v.other_cache_bytes / 1024.0)
        END AS other_cache_text,
        CASE
            WHEN v.fit_free_bytes >= 1073741824 THEN printf('%.2f GiB', v.fit_free_bytes / 1073741824.0)
            WHEN v.fit_free_bytes >= 1048576 THEN printf('%.2f MiB', v.fit_free_bytes / 1048576.0)
            WHEN v.fit_free_bytes IS NOT NULL THEN printf('%.2f KiB', v.fit_free_bytes / 1024.0)
        END AS fit_free_text,
        CASE
            WHEN v.fit_largest_bytes >= 1073741824 THEN printf('%.2f GiB', v.fit_largest_bytes / 1073741824.0)
            WHEN v.fit_largest_bytes >= 1048576 THEN printf('%.2f MiB', v.fit_largest_bytes / 1048576.0)
            WHEN v.fit_largest_bytes IS NOT NULL THEN printf('%.2f KiB', v.fit_largest_bytes / 1024.0)
        END AS fit_largest_text
    FROM (
        SELECT
            w.out_of_memory_id AS out_of_memory_id,
            w.process_id AS process_id,
            w.device_id AS device_id,
            w.device AS device,
            w.thread_id AS thread_id,
            w.operation_id AS operation_id,
            w.stack_id AS stack_id,
            w.heap_id AS heap_id,
            w.outcome AS outcome,
            w.is_finished AS is_finished,
            w.failure_count AS failure_count,
            w.stream_count AS stream_count,
            w.event_count AS event_count,
            w.first_seq AS first_seq,
            w.last_seq AS last_seq,
            w.first_ns AS first_ns,
            w.last_ns AS last_ns,
            w.error_code AS error_code,
            w.tried_bytes AS tried_bytes,
            w.at_least_tried_bytes AS at_least_tried_bytes,
            coalesce(w.tried_bytes, w.at_least_tried_bytes, 0) AS asked_bytes,
            w.released_bytes AS released_bytes,
            w.total_bytes AS total_bytes,
            w.allocated_bytes AS allocated_bytes,
            w.active_bytes AS active_bytes,
            w.free_bytes AS free_bytes,
            w.reserved_bytes AS reserved_bytes,
            w.own_bytes AS own_bytes,
            w.cache_bytes AS cache_bytes,
            max(0, w.total_bytes - w.free_bytes - w.own_bytes) AS other_bytes,
            w.pool_free_bytes AS pool_free_bytes,
            w.pool_largest_free_bytes AS pool_largest_free_bytes,
            w.is_partial AS is_partial,
            w.stream_call AS stream_call,
            w.driver_failure_count AS driver_failure_count,
            w.needed_bytes AS needed_bytes,
            w.leaked_bytes AS leaked_bytes,
            w.leaked_site AS leaked_site,
            w.module_bytes AS module_bytes,
            w.other_cache_bytes AS other_cache_bytes,
            w.other_cache_heap_id AS other_cache_heap_id,
            w.active_bytes - w.allocated_bytes AS pending_bytes,
            w.other_stream_bytes AS other_stream_bytes,
            w.fit_free_bytes AS fit_free_bytes,
            w.fit_largest_bytes AS fit_largest_bytes,
            w.is_estimate AS is_estimate,
            CASE
                WHEN w.error_code = 207005 THEN 'resources'
                WHEN w.device_id IS NULL AND w.heap_id IS NOT NULL THEN 'host'
                WHEN w.is_partial = 1 THEN 'partial'
                WHEN w.stream_call IS NOT NULL THEN 'call'
                WHEN w.needed_bytes > coalesce(w.total_bytes, 1099511627776) THEN 'alone' -- no device has a tebibyte
                WHEN w.leaked_bytes > coalesce(w.stuck_bytes, 0) AND w.leaked_bytes + coalesce(w.cache_bytes, 0)
                    + CASE WHEN w.free_bytes < w.needed_bytes THEN w.free_bytes ELSE 0 END >= w.needed_bytes THEN 'leak'
                WHEN w.is_log = 1 AND (w.own_bytes IS NULL OR w.needed_bytes = 0) THEN 'untold'
                -- A pool of a fixed size, of which a log says that size alone.
                WHEN w.is_log = 1 AND w.driver_failure_count = 0 AND w.total_bytes IS NULL AND w.reserved_bytes > 0 THEN 'limit'
                -- A pool finds its own free ranges: of a snapshot, whose sizes are at most, it did not have one.
                WHEN w.driver_failure_count = 0 AND w.tried_bytes <= CASE
                        WHEN w.is_estimate = 1 AND w.is_stream_known = 1 THEN w.fit_least_largest_bytes
                        ELSE w.fit_largest_bytes
                    END THEN 'fits'
                WHEN w.driver_failure_count = 0 AND w.is_driver_seen = 0 AND w.is_limit_possible = 1
                    AND w.free_bytes >= w.needed_bytes + w.slack_bytes THEN 'snapshot limit'
                WHEN w.has_unseen_pool = 0 AND w.free_bytes < w.needed_bytes + w.slack_bytes AND w.is_stale = 0
                    AND w.own_bytes + w.needed_bytes <= w.total_bytes
                    AND (w.total_bytes - w.free_bytes - w.own_bytes) * 2 >= w.total_bytes THEN 'other'
                WHEN w.free_bytes < w.needed_bytes AND w.free_bytes + w.other_cache_bytes >= w.needed_bytes THEN 'kept'
                WHEN w.other_stream_bytes >= w.tried_bytes AND w.fit_free_bytes < w.tried_bytes THEN 'other stream'
                WHEN w.max_pending_bytes >= coalesce(w.tried_bytes, w.needed_bytes)
                    AND w.active_bytes - w.allocated_bytes > coalesce(w.stuck_bytes, 0) THEN 'pending'
                WHEN w.tried_bytes IS NOT NULL AND w.private_count = 0 AND w.fit_free_bytes >= w.tried_bytes
                    AND (w.fit_largest_bytes < w.tried_bytes OR w.is_estimate = 1) THEN 'fragmentation'
                WHEN w.tried_bytes IS NULL AND w.private_count = 0 AND w.fit_part_count = 1 AND w.unknown_part_count = 0
                    AND w.driver_failure_count > 1 AND w.fit_free_bytes >= w.needed_bytes
                    -- No range of it would serve the least request that asks for such a segment, whatever its stream.
                    AND w.fit_largest_bytes <= CASE
                        WHEN w.needed_bytes = 20971520 THEN 1048576
                        WHEN w.needed_bytes >= 10485760 THEN w.needed_bytes - 2097152
                        ELSE 0
                    END THEN 'pieces'
                WHEN w.is_log = 1 AND w.driver_failure_count = 0 AND w.cache_bytes - w.cache_doubt_bytes >= w.tried_bytes THEN 'idle'
                WHEN w.is_log = 1 AND w.driver_failure_count = 0 AND w.cache_bytes + w.cache_doubt_bytes >= w.tried_bytes THEN 'cached'
                WHEN w.driver_failure_count = 0 AND w.is_driver_seen = 1 THEN 'limit'
                WHEN w.own_bytes - coalesce(w.cache_bytes, 0) + w.needed_bytes > w.total_bytes THEN 'full'
                WHEN w.is_log = 1 AND w.own_bytes + w.needed_bytes > w.total_bytes AND w.cache_bytes + w.cache_doubt_bytes < w.tried_bytes THEN 'full'
                WHEN w.total_bytes IS NULL AND w.cache_bytes + w.free_bytes < coalesce(w.tried_bytes, w.needed_bytes) THEN 'full'
                WHEN w.own_bytes + w.needed_bytes > w.total_bytes AND w.fit_largest_bytes >= w.tried_bytes THEN 'fits'
                WHEN coalesce(w.own_bytes + w.needed_bytes > w.total_bytes, w.free_bytes < w.needed_bytes) AND w.private_count = 0 AND w.unknown_part_count = 0
                    AND (w.tried_bytes IS NOT NULL OR (w.needed_bytes >= 10485760 AND w.needed_bytes <> 20971520
                        AND w.fit_largest_bytes <= w.needed_bytes - 2097152)) AND w.fit_free_bytes * 2 >= w.needed_bytes
                    AND w.fit_free_bytes + w.free_bytes >= w.needed_bytes THEN 'between'
                WHEN w.own_bytes + w.needed_bytes > w.total_bytes
                    AND coalesce(w.cache_bytes + w.free_bytes >= w.needed_bytes, 1) THEN 'cached'
                WHEN w.own_bytes + w.needed_bytes > w.total_bytes AND w.is_stale IS NOT 1 THEN 'overhead'
                WHEN w.total_bytes IS NULL OR w.free_bytes IS NULL OR w.is_stale = 1 THEN 'unknown'
                WHEN w.free_bytes >= w.needed_bytes + w.slack_bytes AND w.driver_failure_count > 1 THEN 'driver'
                WHEN w.free_bytes >= w.needed_bytes + w.slack_bytes THEN 'refused'
                WHEN w.has_unseen_pool = 1 THEN 'unseen' -- its unused memory looks like that of others
                WHEN w.cache_bytes >= w.needed_bytes AND (w.total_bytes - w.free_bytes - w.own_bytes) * 10 < w.total_bytes
                    THEN 'cached'
                WHEN (w.total_bytes - w.free_bytes - w.own_bytes) * 10 >= w.total_bytes THEN 'other'
                ELSE 'overhead'
            END AS reason
        FROM (
            SELECT
                b.*,
                max(coalesce(b.at_least_tried_bytes, 0), coalesce(b.segment_bytes, b.tried_bytes, 0)) AS needed_bytes,
                CASE WHEN b.reserved_bytes <= b.own_bytes THEN max(0, b.reserved_bytes - b.active_bytes) END AS cache_bytes,
                -- A limit holds all the time: where the pool once had more than this would have made it, there is none.
                coalesce(b.peak_reserved_bytes, 0) <= b.reserved_bytes + coalesce(b.segment_bytes, b.tried_bytes, 0)
                    AND NOT (b.is_expandable = 1 AND b.device_kind = 'npu') AND b.is_log = 0 AS is_limit_possible,
                -- More than whole pages could need; a log rounds to a hundredth of a GiB, of which each figure may be off by half.
                4194304 + b.is_log * 5368710 AS slack_bytes,
                b.is_log * CASE WHEN b.reserved_bytes >= 1073741824 THEN 10737420 ELSE 10486 END AS cache_doubt_bytes
            FROM (
                SELECT
                    c.out_of_memory_chain_id AS out_of_memory_id,
                    c.process_id AS process_id,
                    c.device_id AS device_id,
                    coalesce(d.physical_ordinal, d.ordinal) AS device,
                    d.kind AS device_kind,
                    c.thread_id AS thread_id,
                    c.operation_id AS operation_id,
                    c.stack_id AS stack_id,
                    c.heap_id AS heap_id,
                    CASE i.kind WHEN 'log' THEN 'unknown' ELSE c.outcome END AS outcome,
                    coalesce(i.kind = 'log', 0) AS is_log,
                    i.state IN ('ended', 'recovered') AS is_finished,
                    c.failure_count AS failure_count,
                    c.driver_failure_count AS driver_failure_count,
                    c.has_segments = 1 AND i.kind = 'trace' AS is_driver_seen,
                    sk.name AS stream_call,
                    c.stream_count AS stream_count,
                    c.event_count AS event_count,
                    c.first_seq AS first_seq,
                    c.last_seq AS last_seq,
                    c.first_ns AS first_ns,
                    c.last_ns AS last_ns,
                    c.error_code AS error_code,
                    c.tried_bytes AS tried_bytes,
                    c.at_least_tried_bytes AS at_least_tried_bytes,
                    CASE
                        WHEN c.at_least_tried_bytes IS NOT NULL OR (c.has_segments = 1 AND i.kind = 'trace') THEN NULL
                        WHEN c.tried_bytes <= 1048576 THEN 2097152
                        WHEN g.is_expandable = 1 THEN (c.tried_bytes + 20971519) / 20971520 * 20971520
                        WHEN c.tried_bytes < 10485760 THEN 20971520
                        ELSE (c.tried_bytes + 2097151) / 2097152 * 2097152
                    END AS segment_bytes,
                    c.released_bytes AS released_bytes,
                    CASE WHEN c.device_id IS NOT NULL AND (i.kind IS NOT 'log' OR c.own_bytes > 0 OR x.reserved_source IS NOT NULL) THEN c.allocated_bytes END AS allocated_bytes,
                    CASE WHEN c.device_id IS NOT NULL AND (i.kind IS NOT 'log' OR c.own_bytes > 0 OR x.reserved_source IS NOT NULL) THEN c.active_bytes END AS active_bytes,
                    CASE WHEN c.device_id IS NOT NULL AND u.process_id IS NULL AND (i.kind IS NOT 'log' OR c.own_bytes > 0 OR x.reserved_source IS NOT NULL) THEN c.reserved_bytes END AS reserved_bytes,
                    u.process_id IS NOT NULL AS has_unseen_pool,
                    CASE WHEN c.device_id IS NOT NULL AND (i.kind IS NOT 'log' OR c.own_bytes > 0 OR x.reserved_source IS NOT NULL) THEN c.own_bytes END AS own_bytes,
                    CASE WHEN c.device_id IS NOT NULL THEN c.module_bytes END AS module_bytes,
                    coalesce(s.total_bytes, f.device_total_bytes, d.capacity_bytes) AS total_bytes,
                    CASE
                        WHEN s.free_bytes IS NULL THEN f.device_free_bytes
                        WHEN s.is_stale = 0 THEN s.free_bytes
                        ELSE max(0, s.free_bytes + s.sample_recorded_bytes - (
                            SELECT a.recorded_bytes
                            FROM z_hardware_sample AS a
                            WHERE a.moment_id = s.moment_id AND a.hardware_id = s.hardware_id
                        ))
                    END AS free_bytes,
                    s.is_stale AS is_stale,
                    p.free_bytes AS pool_free_bytes,
                    p.largest_free_bytes AS pool_largest_free_bytes,
                    p.is_estimate AS is_estimate,
                    x.peak_reserved_bytes AS peak_reserved_bytes,
                    (
                        SELECT sum(y.stuck_bytes)
                        FROM fragmentation_sample AS y
                        JOIN heap AS h ON h.heap_id = y.heap_id
                        WHERE y.moment_id = c.moment_id AND h.device_id = c.device_id AND h.process_id = c.process_id
                    ) AS stuck_bytes,
                    g.fit_part_count AS fit_part_count,
                    g.fit_free_bytes AS fit_free_bytes,
                    g.fit_largest_bytes AS fit_largest_bytes,
                    g.fit_least_largest_bytes AS fit_least_largest_bytes,
                    g.other_stream_bytes AS other_stream_bytes,
                    g.is_stream_known AS is_stream_known,
                    g.is_expandable AS is_expandable,
                    g.private_count AS private_count,
                    g.unknown_part_count AS unknown_part_count,
                    k.leaked_bytes AS leaked_bytes,
                    (
                        SELECT coalesce(r.label, '(no stack)')
                        FROM z_out_of_memory_leak AS l
                        LEFT JOIN frame AS r ON r.frame_id = l.site_frame_id
                        WHERE l.out_of_memory_chain_id = c.out_of_memory_chain_id
                        ORDER BY l.leaked_bytes DESC, r.label
                        LIMIT 1
                    ) AS leaked_site,
                    c.max_pending_bytes AS max_pending_bytes,
                    c.other_cache_bytes AS other_cache_bytes,
                    c.other_cache_heap_id AS other_cache_heap_id,
                    c.is_partial AS is_partial
                FROM z_out_of_memory_chain AS c
                JOIN moment AS m ON m.moment_id = c.moment_id
                LEFT JOIN failure AS f ON f.failure_id = m.failure_id
                LEFT JOIN device AS d ON d.device_id = c.device_id
                LEFT JOIN z_device_sample AS s ON s.moment_id = c.moment_id AND s.device_id = c.device_id
                LEFT JOIN fragmentation_sample AS p
                    ON p.heap_id = c.pool_heap_id AND p.moment_id = c.moment_id AND p.largest_free_bytes IS NOT NULL
                LEFT JOIN (
                    SELECT DISTINCT z.process_id, z.device_id
                    FROM heap AS z
                    JOIN z_heap_sum AS y ON y.heap_id = z.heap_id
                    WHERE z.level = 2 AND y.reserved_source IS NULL AND y.allocation_count > 0
                ) AS u ON u.process_id = c.process_id AND u.device_id = c.device_id
                LEFT JOIN z_heap_sum AS x ON x.heap_id = c.pool_heap_id
                LEFT JOIN z_stream_call_kind AS sk ON sk.kind = c.stream_call
                LEFT JOIN process AS q ON q.process_id = c.process_id
                LEFT JOIN input AS i ON i.input_id = q.input_id
                LEFT JOIN (
                    SELECT
                        l.out_of_memory_chain_id,
                        sum(l.leaked_bytes) AS leaked_bytes
                    FROM z_out_of_memory_leak AS l
                    GROUP BY l.out_of_memory_chain_id
                ) AS k ON k.out_of_memory_chain_id = c.out_of_memory_chain_id
                -- The parts of the pool, or of all pools of the device where none said that it was asked.
                LEFT JOIN (
                    SELECT
                        e.out_of_memory_chain_id,
                        sum(e.is_kind * e.is_stream * (1 - e.is_private)) AS fit_part_count,
                        sum(e.is_kind * e.is_stream * (1 - e.is_private) * e.least_free_bytes) AS fit_free_bytes,
                        max(e.is_kind * e.is_stream * (1 - e.is_private) * e.largest_free_bytes) AS fit_largest_bytes,
                        max(e.is_kind * e.is_stream * (1 - e.is_private) * (e.largest_free_bytes - e.doubt_bytes))
                            AS fit_least_largest_bytes,
                        max(e.is_kind * (1 - e.is_stream) * (1 - e.is_private) * max(0, e.largest_free_bytes - e.doubt_bytes))
                            AS other_stream_bytes,
                        min(e.is_stream_known) AS is_stream_known,
                        max(e.segment_kind IS 3) AS is_expandable,
                        sum(e.is_private * e.is_kind) AS private_count,
                        sum(e.segment_kind IS NULL OR e.segment_kind > 2) AS unknown_part_count
                    FROM (
                        SELECT
                            v.*,
                            CASE
                                WHEN v.is_estimate = 0 THEN v.free_bytes
                                ELSE coalesce((
                                    SELECT sum(max(0, z.free_bytes - z.gap_count * v.doubt_bytes))
                                    FROM z_gap AS z
                                    WHERE z.moment_id = v.moment_id AND z.heap_id = v.heap_id AND z.part_id = v.part_id
                                ), 0)
                            END AS least_free_bytes
                        FROM (
                            SELECT
                                c.out_of_memory_chain_id,
                                c.moment_id,
                                t.heap_id,
                                t.part_id,
                                t.segment_kind,
                                u.free_bytes,
                                u.largest_free_bytes,
                                y.is_estimate,
                                t.private_pool IS NOT NULL AS is_private,
                                CASE t.segment_kind
                                    WHEN 1 THEN coalesce(c.tried_bytes <= 1048576, c.at_least_tried_bytes <= 2097152, 1)
                                    WHEN 2 THEN coalesce(c.tried_bytes > 1048576, c.at_least_tried_bytes > 2097152, 1)
                                    ELSE 1
                                END AS is_kind,
                                coalesce(t.stream = f.stream, 1) AS is_stream,
                                t.stream IS NOT NULL AND f.stream IS NOT NULL AS is_stream_known,
                                -- What may be the end of a block before a free range: rounding, or what is not worth a
                                -- block of its own.
                                CASE WHEN y.is_estimate = 0 THEN 0 WHEN t.segment_kind = 1 THEN 1024 ELSE 1049600 END
                                    AS doubt_bytes
                            FROM z_out_of_memory_chain AS c
                            JOIN moment AS m ON m.moment_id = c.moment_id
                            JOIN z_part_sample AS u ON u.moment_id = c.moment_id
                            JOIN z_pool_part AS t ON t.part_id = u.part_id
                            JOIN heap AS h
                                ON h.heap_id = t.heap_id
                                AND h.level = 2
                                AND h.device_id = c.device_id
                                AND h.process_id = c.process_id
                            JOIN fragmentation_sample AS y ON y.moment_id = c.moment_id AND y.heap_id = t.heap_id
                            LEFT JOIN failure AS f ON f.failure_id = m.failure_id
                            WHERE c.pool_heap_id IS NULL OR c.pool_heap_id = t.heap_id
                        ) AS v
                    ) AS e
                    GROUP BY e.out_of_memory_chain_id
                ) AS g ON g.out_of_memory_chain_id = c.out_of_memory_chain_id
            ) AS b
        ) AS w
    ) AS v
) AS t
LEFT JOIN process ON process.process_id = t.process_id
LEFT JOIN heap AS h ON h.heap_id = t.heap_id
LEFT JOIN heap_level AS hl ON hl.level = h.level
LEFT JOIN heap AS oh ON oh.heap_id = t.other_cache_heap_id
LEFT JOIN thread ON thread.thread_id = t.thread_id
LEFT JOIN operation AS o ON o.operation_id = t.operation_id
LEFT JOIN stack AS k ON k.stack_id = t.stack_id
LEFT JOIN frame AS r ON r.frame_id = k.site_frame_id
ORDER BY t.out_of_memory_id;

CREATE VIEW z_out_of_memory_component (
    -- What the device held before each chain of view out_of_memory, by component and part as in view device_part.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Name of the pool. NULL: the component is no single heap.
    heap,
    -- 'pool', 'workspace', 'driver' or 'physical'.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- As in view device_part, as are all that follow.
    component,
    -- Of a pool: what it is good for.
    part,
    -- Its size. Unit: bytes.
    bytes,
    -- 1: not certain; 0: exact.
    is_estimate
) AS
SELECT
    d.host, d.rank, d.pid, d.device, d.heap, d.level,
    (SELECT c.out_of_memory_chain_id FROM z_out_of_memory_chain AS c WHERE c.moment_id = d.moment_id),
    d.component,
    d.part,
    d.bytes,
    d.is_estimate
FROM device_part AS d
WHERE d.moment_kind = 'failure' -- so that other moments are left out before they are summed up
    AND d.moment_id IN (SELECT c.moment_id FROM z_out_of_memory_chain AS c)
    AND EXISTS (
        SELECT 1
        FROM z_out_of_memory_chain AS c
        JOIN process AS p ON p.process_id = c.process_id
        JOIN device AS v ON v.device_id = c.device_id
        WHERE c.moment_id = d.moment_id AND p.pid IS d.pid AND coalesce(v.physical_ordinal, v.ordinal) IS d.device
    );

CREATE VIEW z_out_of_memory_site (
    -- What was live on the device before each chain of view out_of_memory, by heap and site; largest first.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Name of the heap: a pool, or driver memory that is no pool's.
    heap,
    -- Level of the heap.
    level,
    -- Number of the chain.
    out_of_memory_id,
    -- Where: 'file:line function', 'module+0xoffset function', '(no stack)', '(baseline)' for what was there before the
    -- recording began, or '(rest)' for the stacks of the heap behind the 64 largest of the device.
    site,
    -- Allocations. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes,
    -- live_bytes over those of the whole chain: the shares of a chain sum to 1. Unit: 0 to 1. NULL: all have no size.
    share_ratio
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    g.out_of_memory_id,
    CASE
        WHEN g.is_rest = 1 THEN '(rest)'
        WHEN g.is_baseline = 1 THEN '(baseline)'
        ELSE coalesce(f.label, '(no stack)')
    END,
    g.live_count,
    g.live_bytes,
    CASE WHEN w.live_bytes > 0 THEN CAST(g.live_bytes AS REAL) / w.live_bytes END
FROM (
    SELECT
        k.out_of_memory_chain_id AS out_of_memory_id,
        k.heap_id,
        k.is_rest,
        k.is_baseline,
        s.site_frame_id,
        sum(k.live_count) AS live_count,
        sum(k.live_bytes) AS live_bytes
    FROM z_out_of_memory_stack AS k
    LEFT JOIN stack AS s ON s.stack_id = k.stack_id
    GROUP BY k.out_of_memory_chain_id, k.heap_id, k.is_rest, k.is_baseline, s.site_frame_id
) AS g
JOIN (
    SELECT
        z_out_of_memory_stack.out_of_memory_chain_id AS out_of_memory_id,
        sum(z_out_of_memory_stack.live_bytes) AS live_bytes
    FROM z_out_of_memory_stack
    GROUP BY z_out_of_memory_stack.out_of_memory_chain_id
) AS w ON w.out_of_memory_id = g.out_of_memory_id
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.out_of_memory_id, g.live_bytes DESC, g.heap_id, g.site_frame_id;
