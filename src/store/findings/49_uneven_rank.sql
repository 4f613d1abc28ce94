-- Ranks that hold more than the others of their group, which is their stage of the pipeline where options or variables of all of them
-- tell the stages, or else their communicators: these differ by design. Where nothing tells, it is those that hold the same at every site but for the sites at which
-- some rank is nearly alone. What counts of a rank is what was live at the peaks of its pools, workspaces and modules of CANN, and of its
-- driver memory where no pool cuts that. Ranks of which something is missing are left out, and a group says nothing of which
-- fewer than three are left, or of which more than a quarter stands out: then it is no group.
-- Only if: SELECT count(DISTINCT rank) > 2 FROM process
CREATE TEMP TABLE uneven_process AS
WITH
    seat AS (SELECT DISTINCT input_id, rank FROM process WHERE rank IS NOT NULL AND end_kind <> 'exec'),
    partial AS (
        SELECT DISTINCT q.input_id, q.rank
        FROM process AS q
        JOIN input AS i ON i.input_id = q.input_id
        WHERE i.is_complete = 0 OR i.baseline = 'unknown'
            OR EXISTS (SELECT 1 FROM z_pause AS z WHERE z.process_id = q.process_id AND z.is_memory_told = 0)
    )
SELECT
    p.process_id AS process_id,
    CASE WHEN (SELECT count(*) > count(DISTINCT rank) FROM seat) THEN p.input_id ELSE 0 END AS job,
    p.rank AS rank,
    p.world_size AS world_size
FROM process AS p
LEFT JOIN partial AS m ON m.input_id = p.input_id AND m.rank = p.rank
WHERE p.rank IS NOT NULL AND m.rank IS NULL;

-- How many stages a process was told of, and how many ranks of each follow one another: its stage is rank / stride % stage_count.
-- A program that another started is told what that was. Megatron puts stages outermost, unless told to have them within the data
-- parallel ranks; vLLM has them within, SGLang outermost: which it was does not matter where there are no other ranks. What is
-- given twice, or stands in a command that may be cut, is not known.
-- Of a communicator whose description says pipeline and nothing else (Megatron describes one that is of tensors and experts too),
-- the stages are its ranks.
CREATE TEMP TABLE uneven_told AS
WITH
    line (process_id, teller_id, depth) AS (
        SELECT process_id, process_id, 0
        FROM temp.uneven_process
        UNION ALL
        SELECT l.process_id, p.parent_id, l.depth + 1
        FROM line AS l
        JOIN process AS p ON p.process_id = l.teller_id
        WHERE p.parent_id IS NOT NULL AND l.depth < 8
    ),
    command (process_id, words) AS (
        SELECT process_id, replace(replace(command, '=', ' '), '_', '-') || ' '
        FROM process
        WHERE process_id IN (SELECT teller_id FROM line) AND length(CAST(command AS BLOB)) < 2000
    ),
    option (what, name) AS (
        VALUES
            ('megatron', '--pipeline-model-parallel-size'), ('pipeline', '--pipeline-parallel-size'), ('pipeline', '--pp-size'), ('pipeline', '-pp'),
            ('tensor', '--tensor-model-parallel-size'), ('tensor', '--tensor-parallel-size'), ('tensor', '--tp-size'), ('tensor', '--tp'), ('tensor', '-tp'),
            ('context', '--context-parallel-size'), ('within', '--use-tp-pp-dp-mapping'), ('other', '--encoder-pipeline-model-parallel-size')
    ),
    given (process_id, what, name, rest) AS (
        SELECT c.process_id, o.what, o.name, substr(c.words, instr(c.words, ' ' || o.name || ' ') + length(o.name) + 1)
        FROM command AS c
        JOIN option AS o ON instr(c.words, ' ' || o.name || ' ') > 0
    ),
    setting (process_id, pipeline_name, is_megatron, is_within, pipeline, tensor, context) AS (
        SELECT
            process_id,
            max(CASE WHEN what IN ('megatron', 'pipeline') THEN name END),
            max(what = 'megatron'),
            max(what = 'within'),
            max(CASE WHEN what IN ('megatron', 'pipeline') THEN CAST(rest AS INTEGER) END),
            max(CASE what WHEN 'tensor' THEN CAST(rest AS INTEGER) ELSE 1 END),
            max(CASE what WHEN 'context' THEN CAST(rest AS INTEGER) ELSE 1 END)
        FROM given
        GROUP BY process_id
        HAVING max(what = 'other' OR (what <> 'within' AND (instr(rest, ' ' || name || ' ') > 0 OR CAST(rest AS INTEGER) <= 0))) = 0
            AND sum(what IN ('megatron', 'pipeline')) = 1 AND sum(what = 'tensor') < 2
    ),
    nearest (process_id, teller_id, place) AS (
        SELECT l.process_id, l.teller_id, row_number() OVER (PARTITION BY l.process_id ORDER BY l.depth)
        FROM line AS l
        WHERE l.teller_id IN (SELECT process_id FROM given WHERE what IN ('megatron', 'pipeline', 'other'))
    ),
    variable (process_id, stage_count) AS (
        SELECT process_id, max(CAST(value AS INTEGER))
        FROM z_process_environment
        WHERE source = 'environment' AND name = 'MEGATRON_LM_PP_DEGREE'
        GROUP BY process_id
    ),
    pipeline (process_id, name, stage, stage_count) AS (
        SELECT process_id, name, CAST(substr(value, 6) AS INTEGER), CAST(substr(value, instr(value, ' of ') + 4) AS INTEGER)
        FROM z_process_environment
        WHERE source = 'hccl' AND value LIKE 'rank % of %' AND (name LIKE '%pipeline%' OR name LIKE '%pp%')
            AND trim(
                replace(replace(replace(replace(replace(lower(name), 'pipeline', ''), 'model', ''), 'parallel', ''), 'group', ''), 'pp', ''),
                '_-:./ 0123456789'
            ) = ''
    ),
    member (process_id, name, stage, stage_count) AS (
        SELECT process_id, min(name), min(stage), min(stage_count)
        FROM pipeline
        GROUP BY process_id
        HAVING min(stage) = max(stage) AND min(stage_count) = max(stage_count)
    )
SELECT
    q.job AS job,
    q.rank AS rank,
    q.world_size AS world_size,
    0 AS is_group,
    NULL AS stage,
    CASE WHEN n.process_id IS NULL THEN v.stage_count ELSE s.pipeline END AS stage_count,
    CASE
        WHEN n.process_id IS NULL THEN q.world_size / v.stage_count
        WHEN s.is_within THEN s.tensor * s.context
        WHEN s.is_megatron THEN q.world_size / s.pipeline
        WHEN s.tensor * s.pipeline = q.world_size THEN s.tensor
    END AS stride,
    CASE WHEN n.process_id IS NULL THEN 'MEGATRON_LM_PP_DEGREE' ELSE s.pipeline_name END AS teller
FROM temp.uneven_process AS q
LEFT JOIN nearest AS n ON n.process_id = q.process_id AND n.place = 1
LEFT JOIN setting AS s ON s.process_id = n.teller_id
LEFT JOIN variable AS v ON v.process_id = q.process_id
WHERE n.process_id IS NOT NULL OR v.stage_count IS NOT NULL
UNION ALL
SELECT q.job, q.rank, q.world_size, 1, m.stage, m.stage_count, q.world_size / m.stage_count, m.name
FROM temp.uneven_process AS q
JOIN member AS m ON m.process_id = q.process_id;

CREATE TEMP TABLE uneven_part AS
WITH
    held AS (
        SELECT
            q.job AS job,
            q.rank AS rank,
            h.heap_id AS heap_id,
            h.device_id AS device_id,
            h.level AS level,
            h.name AS heap,
            coalesce(h.module_id, 33) <> 33 AS is_module
        FROM temp.uneven_process AS q
        JOIN heap AS h ON h.process_id = q.process_id
        JOIN z_heap_sum AS u ON u.heap_id = h.heap_id
        WHERE h.device_id IS NOT NULL AND u.peak_bytes > 0
    ),
    pooled AS (SELECT DISTINCT device_id FROM held WHERE level = 2),
    -- Each as often as it is: labels are joined to sums, not to rows.
    sum_of_frame AS (
        SELECT
            h.job AS job,
            h.rank AS rank,
            h.level AS level,
            h.heap AS heap,
            CASE k.is_baseline WHEN 1 THEN -1 ELSE s.site_frame_id END AS frame_id,
            sum(k.live_bytes) AS bytes
        FROM held AS h
        JOIN z_peak_stack AS k ON k.heap_id = h.heap_id
        LEFT JOIN stack AS s ON s.stack_id = k.stack_id
        WHERE h.level IN (2, 3)
            OR h.level = 1 AND (h.is_module OR NOT EXISTS (SELECT 1 FROM pooled AS p WHERE p.device_id = h.device_id))
        GROUP BY 1, 2, 3, 4, 5
    )
SELECT
    g.job AS job,
    g.rank AS rank,
    g.level AS level,
    g.heap AS heap,
    CASE WHEN g.frame_id = -1 THEN '(baseline)' WHEN f.is_cut = 1 THEN '(stack cut)' ELSE coalesce(f.label, '(no stack)') END AS site,
    sum(g.bytes) AS bytes
FROM sum_of_frame AS g
LEFT JOIN frame AS f ON f.frame_id = g.frame_id
GROUP BY 1, 2, 3, 4, 5;

CREATE INDEX temp.uneven_part_rank ON uneven_part (job, rank);
-- All of a rank, as a site of its own beside the others.
INSERT INTO uneven_part
SELECT
    job,
    rank,
    NULL,
    NULL,
    NULL,
    sum(bytes)
FROM temp.uneven_part
GROUP BY job, rank;

-- The group of each rank: a stage, or the word that stands for what it holds. NULL: it has none.
CREATE TEMP TABLE uneven_rank AS
WITH
    sure AS (
        SELECT
            t.job AS job,
            t.is_group AS is_group,
            max(t.stage_count) AS stage_count,
            min(t.teller) AS teller
        FROM temp.uneven_told AS t
        JOIN temp.uneven_part AS w ON w.job = t.job AND w.rank = t.rank AND w.site IS NULL
        GROUP BY t.job, t.is_group
        HAVING min(t.stage_count) = max(t.stage_count) AND min(t.stride) = max(t.stride)
            AND (t.is_group OR min(t.teller) = max(t.teller)) AND coalesce(max(t.stage), 0) < max(t.stage_count)
            AND count(t.stride) = count(*) AND min(t.stage_count) > 0 AND min(t.stride) > 0
            AND min(t.world_size) = max(t.world_size) AND max(t.world_size) % (max(t.stage_count) * max(t.stride)) = 0
            AND max(t.rank) < max(t.world_size) AND min(t.rank) >= 0
            AND count(DISTINCT t.rank) = (SELECT count(*) FROM temp.uneven_part AS w WHERE w.job = t.job AND w.site IS NULL)
    ),
    seated AS (
        SELECT
            t.job AS job,
            t.rank AS rank,
            t.is_group AS is_group,
            coalesce(min(t.stage), t.rank / max(t.stride) % max(t.stage_count)) AS stage,
            max(t.stage) AS last_stage
        FROM temp.uneven_told AS t
        JOIN temp.uneven_part AS w ON w.job = t.job AND w.rank = t.rank AND w.site IS NULL
        GROUP BY t.job, t.rank, t.is_group
    ),
    -- A rank whose processes disagree is of no stage, and then there are none.
    told AS (
        SELECT *
        FROM sure
        WHERE NOT (is_group AND job IN (SELECT job FROM sure WHERE NOT is_group))
            AND NOT EXISTS (
                SELECT 1
                FROM seated AS z
                WHERE z.job = sure.job AND z.is_group = sure.is_group AND z.stage < z.last_stage
            )
    ),
    whole AS (
        SELECT
            job,
            rank,
            bytes,
            row_number() OVER (PARTITION BY job ORDER BY bytes, rank) AS place,
            count(*) OVER (PARTITION BY job) AS rank_count,
            min(rank) OVER (PARTITION BY job) AS first_rank,
            max(rank) OVER (PARTITION BY job) AS last_rank
        FROM temp.uneven_part
        WHERE site IS NULL
    ),
    -- Less than that between two makes them alike.
    gap AS (
        SELECT
            job,
            rank_count,
            first_rank,
            last_rank,
            bytes / 20 AS gap_bytes
        FROM whole
        WHERE place = (rank_count + 1) / 2 AND job NOT IN (SELECT job FROM told)
    ),
    spot AS (
        SELECT
            p.job AS job,
            p.level AS level,
            p.heap AS heap,
            p.site AS site,
            row_number() OVER (ORDER BY p.job, p.level, p.heap, p.site) AS spot_id,
            g.rank_count - count(*) AS absent_count,
            g.gap_bytes AS gap_bytes
        FROM temp.uneven_part AS p
        JOIN gap AS g ON g.job = p.job
        GROUP BY p.job, p.level, p.heap, p.site
        HAVING max(p.bytes) > g.gap_bytes
    ),
    -- Ranks that hold nothing of a site are its level 0, with those that hold hardly more.
    stepped AS (
        SELECT
            p.job AS job,
            p.rank AS rank,
            s.spot_id AS spot_id,
            s.absent_count AS absent_count,
            p.bytes AS bytes,
            p.bytes - lag(p.bytes, 1, CASE WHEN s.absent_count > 0 THEN 0 ELSE p.bytes END) OVER (
                PARTITION BY s.spot_id
                ORDER BY p.bytes, p.rank
            ) > s.gap_bytes AS is_step
        FROM temp.uneven_part AS p
        JOIN spot AS s ON s.job = p.job AND s.level IS p.level AND s.heap IS p.heap AND s.site IS p.site
    ),
    leveled AS (
        SELECT
            job,
            rank,
            spot_id,
            absent_count,
            sum(is_step) OVER (PARTITION BY spot_id ORDER BY bytes, rank) AS step
        FROM stepped
    ),
    counted AS (
        SELECT
            job,
            rank,
            spot_id,
            step,
            count(*) OVER (PARTITION BY spot_id, step) + CASE step WHEN 0 THEN absent_count ELSE 0 END < 3 AS is_alone
        FROM leveled
    ),
    marked AS (
        SELECT
            job,
            rank,
            spot_id,
            step,
            is_alone,
            max(is_alone) OVER (PARTITION BY spot_id) AS is_odd
        FROM counted
        ORDER BY job, rank, spot_id
    ),
    word AS (
        SELECT
            w.job AS job,
            w.rank AS rank,
            coalesce(max(m.is_alone), 0) AS is_alone,
            coalesce(group_concat(CASE WHEN m.step > 0 THEN m.spot_id || ':' || m.step END), '') AS all_steps,
            coalesce(group_concat(CASE WHEN m.step > 0 AND NOT m.is_odd THEN m.spot_id || ':' || m.step END), '') AS even_steps
        FROM whole AS w
        JOIN gap AS g ON g.job = w.job
        LEFT JOIN marked AS m ON m.job = w.job AND m.rank = w.rank
        GROUP BY w.job, w.rank
    ),
    alike AS (
        SELECT
            job,
            all_steps,
            min(even_steps) AS even_steps
        FROM word
        WHERE NOT is_alone
        GROUP BY job, all_steps
        HAVING count(*) >= 3
    ),
    -- Of those that are alone somewhere the group is known only where no other is like it elsewhere.
    sole AS (
        SELECT
            job,
            even_steps,
            min(all_steps) AS all_steps
        FROM alike
        GROUP BY job, even_steps
        HAVING count(*) = 1
    ),
    -- The first and the last rank both alone somewhere: the ends of a pipeline whose stages are of one rank or two.
    ended AS (
        SELECT w.job AS job
        FROM word AS w
        JOIN gap AS g ON g.job = w.job
        WHERE w.is_alone AND w.rank IN (g.first_rank, g.last_rank)
        GROUP BY w.job
        HAVING count(*) = 2
    )
SELECT
    w.job AS job,
    w.rank AS rank,
    w.bytes AS bytes,
    t.stage_count AS stage_count,
    t.is_group AS is_group,
    t.teller AS teller,
    CASE
        WHEN t.job IS NOT NULL THEN CAST(z.stage AS TEXT)
        WHEN e.job IS NULL AND d.is_alone THEN s.all_steps
        WHEN e.job IS NULL THEN a.all_steps
    END AS team
FROM whole AS w
LEFT JOIN told AS t ON t.job = w.job
LEFT JOIN seated AS z ON z.job = w.job AND z.rank = w.rank AND z.is_group = t.is_group
LEFT JOIN ended AS e ON e.job = w.job
LEFT JOIN word AS d ON d.job = w.job AND d.rank = w.rank
LEFT JOIN alike AS a ON a.job = w.job AND a.all_steps = d.all_steps
LEFT JOIN sole AS s ON s.job = w.job AND s.even_steps = d.even_steps;

-- Those that stand out: by a twentieth of the median and 256 MiB, or of small runs by a quarter and 16 MiB; and by more than four times
-- what half of the group is off it.
CREATE TEMP TABLE uneven_one AS
WITH
    placed AS (
        SELECT
            *,
            row_number() OVER (PARTITION BY job, team ORDER BY bytes, rank) AS place,
            count(*) OVER (PARTITION BY job, team) AS team_count
        FROM temp.uneven_rank
        WHERE team IS NOT NULL
    ),
    middle AS (
        SELECT
            job,
            team,
            bytes AS median_bytes
        FROM placed
        WHERE place = (team_count + 1) / 2 AND team_count >= 3
    ),
    off AS (
        SELECT
            p.*,
            m.median_bytes AS median_bytes,
            row_number() OVER (PARTITION BY p.job, p.team ORDER BY abs(p.bytes - m.median_bytes), p.rank) AS off_place
        FROM placed AS p
        JOIN middle AS m ON m.job = p.job AND m.team = p.team
    ),
    usual AS (
        SELECT
            job,
            team,
            abs(bytes - median_bytes) AS off_bytes
        FROM off
        WHERE off_place = (team_count + 1) / 2
    ),
    one AS (
        SELECT
            o.job AS job,
            o.team AS team,
            o.rank AS rank,
            o.stage_count AS stage_count,
            o.is_group AS is_group,
            o.teller AS teller,
            o.bytes AS bytes,
            o.median_bytes AS median_bytes,
            o.team_count AS team_count,
            count(*) OVER (PARTITION BY o.job, o.team) AS one_count
        FROM off AS o
        JOIN usual AS u ON u.job = o.job AND u.team = o.team
        WHERE (o.bytes - o.median_bytes) * 20 > o.median_bytes
            AND (
                o.bytes - o.median_bytes >= (SELECT least FROM minimum WHERE judgement = 'uneven rank')
                OR (o.bytes - o.median_bytes >= (SELECT least FROM minimum WHERE judgement = 'uneven rank of a small run') AND (o.bytes - o.median_bytes) * 4 >= o.median_bytes)
            )
            AND o.bytes - o.median_bytes > u.off_bytes * 4
    )
SELECT *
FROM one
WHERE one_count * 4 <= team_count OR (one_count = 1 AND team_count = 3);

-- What they hold at each site, and what the middle one of their group holds there: of a site that half of it has nothing of, nothing.
CREATE TEMP TABLE uneven_site AS
WITH
    member AS (
        SELECT
            r.job AS job,
            r.team AS team,
            p.level AS level,
            p.heap AS heap,
            p.site AS site,
            p.bytes AS bytes,
            row_number() OVER (PARTITION BY r.job, r.team, p.level, p.heap, p.site ORDER BY p.bytes, r.rank) AS place,
            count(*) OVER (PARTITION BY r.job, r.team, p.level, p.heap, p.site) AS part_count
        FROM temp.uneven_rank AS r
        JOIN temp.uneven_part AS p ON p.job = r.job AND p.rank = r.rank
        WHERE p.site IS NOT NULL
            AND EXISTS (SELECT 1 FROM temp.uneven_one AS o WHERE o.job = r.job AND o.team = r.team)
    ),
    usual AS (
        SELECT m.job, m.team, m.level, m.heap, m.site, m.bytes
        FROM member AS m
        JOIN (SELECT job, team, max(team_count) AS team_count FROM temp.uneven_one GROUP BY job, team) AS t
            ON t.job = m.job AND t.team = m.team
        WHERE m.place = (t.team_count + 1) / 2 - (t.team_count - m.part_count)
    )
SELECT
    o.job AS job,
    o.rank AS rank,
    p.level AS level,
    p.heap AS heap,
    p.site AS site,
    p.bytes AS bytes,
    p.bytes - coalesce(u.bytes, 0) AS more_bytes,
    row_number() OVER (
        PARTITION BY o.job, o.rank
        ORDER BY p.site = '(stack cut)', p.bytes - coalesce(u.bytes, 0) DESC, p.site, p.heap, p.level
    ) AS place
FROM temp.uneven_one AS o
JOIN temp.uneven_part AS p ON p.job = o.job AND p.rank = o.rank AND p.site IS NOT NULL
LEFT JOIN usual AS u ON u.job = o.job AND u.team = o.team AND u.level = p.level AND u.heap IS p.heap AND u.site = p.site;

INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, site, verdict, basis, value, unit, bytes, count, sentence, evidence, source_view
)
WITH
    -- What the middle one holds it holds too, but for a quarter: else it is of another kind.
    shared AS (
        SELECT
            job,
            rank,
            sum(bytes - max(more_bytes, 0)) AS bytes
        FROM temp.uneven_site
        GROUP BY job, rank
    ),
    judged AS (
        SELECT
            o.*,
            o.bytes - o.median_bytes AS more_bytes,
            t.level AS level,
            t.heap AS heap,
            t.site AS site,
            t.more_bytes AS site_bytes
        FROM temp.uneven_one AS o
        JOIN shared AS h ON h.job = o.job AND h.rank = o.rank
        LEFT JOIN temp.uneven_site AS t ON t.job = o.job AND t.rank = o.rank AND t.place = 1 AND t.site <> '(stack cut)'
            AND t.more_bytes * 2 >= o.bytes - o.median_bytes
        WHERE o.teller IS NOT NULL OR h.bytes * 4 >= o.median_bytes * 3
    ),
    -- Where a rank has several processes, the one that holds most there.
    owner AS (
        SELECT
            j.job AS job,
            j.rank AS rank,
            h.process_id AS process_id,
            h.device_id AS device_id,
            row_number() OVER (PARTITION BY j.job, j.rank ORDER BY u.peak_bytes DESC, h.heap_id) AS place
        FROM judged AS j
        JOIN temp.uneven_process AS q ON q.job = j.job AND q.rank = j.rank
        JOIN heap AS h ON h.process_id = q.process_id AND h.device_id IS NOT NULL
            AND (j.site IS NULL OR (h.level = j.level AND h.name IS j.heap))
        JOIN z_heap_sum AS u ON u.heap_id = h.heap_id
    )
SELECT
    'warning',
    'uneven rank',
    p.host,
    p.rank,
    p.pid,
    coalesce(d.physical_ordinal, d.ordinal),
    j.heap,
    l.name,
    j.site,
    CASE WHEN j.teller IS NOT NULL THEN 'unlike its stage' ELSE 'unlike those alike' END,
    CASE WHEN j.teller IS NOT NULL THEN 'exact' ELSE 'estimate' END,
    CAST(j.bytes AS REAL) / j.median_bytes,
    CASE WHEN j.median_bytes > 0 THEN 'ratio' END,
    j.more_bytes,
    j.team_count - 1,
    said(
        say('screen.ranks.rank', 'n', CAST(p.rank AS TEXT)),
        CASE
            WHEN j.teller IS NOT NULL
                THEN say('screen.uneven.stage', 'n', j.team_count - 1, 'stage', CAST(j.team AS INTEGER) + 1, 'all', j.stage_count)
            ELSE say('screen.uneven.alike', 'n', j.team_count - 1)
        END,
        CASE
            WHEN j.site IS NULL THEN say('screen.uneven.spread', 'more_bytes', j.more_bytes)
            WHEN j.site_bytes * 10 >= j.more_bytes * 9 THEN say('screen.uneven.site', 'more_bytes', j.more_bytes)
            ELSE say('screen.uneven.part', 'more_bytes', j.more_bytes, 'part_bytes', j.site_bytes)
        END
    ),
    said(
        said_line(NULL, say('screen.uneven.median', 'held_bytes', j.bytes, 'median_bytes', j.median_bytes)),
        CASE j.is_group
            WHEN 0 THEN said_line(NULL, say('screen.uneven.told', 'name', j.teller))
            WHEN 1 THEN said_line(NULL, say('screen.uneven.group', 'name', j.teller))
        END
    ),
    'peak_by_site'
FROM judged AS j
JOIN owner AS o ON o.job = j.job AND o.rank = j.rank AND o.place = 1
JOIN process AS p ON p.process_id = o.process_id
LEFT JOIN device AS d ON d.device_id = o.device_id
LEFT JOIN heap_level AS l ON l.level = j.level
ORDER BY j.more_bytes DESC, j.rank, p.process_id;
DROP TABLE temp.uneven_process;
DROP TABLE temp.uneven_told;
DROP TABLE temp.uneven_part;
DROP TABLE temp.uneven_rank;
DROP TABLE temp.uneven_one;
DROP TABLE temp.uneven_site;
