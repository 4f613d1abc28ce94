/* SPDX-License-Identifier: Apache-2.0. Made of fleet_run.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_RUN_SQL_H
#define NM_EXPORT_FLEET_RUN_SQL_H

#include "store/question.h"

#define NM_FLEET_RUN_SQL \
    "SELECT ( SELECT e.value FROM z_environment AS e WHERE e.source = 'environment' AND e.name IN " \
    "('SLURM_JOB_NAME', 'VC_JOB_NAME', 'TORCHELASTIC_RUN_ID') AND e.value NOT IN ('', 'none') ORDER BY e.name = " \
    "'TORCHELASTIC_RUN_ID', e.name, e.value LIMIT 1 ) AS job, (SELECT min(input.start_realtime_ns) FROM input) AS " \
    "start_realtime_ns, min(process.host) AS host, count(DISTINCT process.host) AS host_count, min(process.rank) " \
    "AS first_rank_number, max(process.rank) AS last_rank_number, min(process.pid) AS pid FROM process;"
#define NM_FLEET_RUN_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(job) INTEGER(start_realtime_ns) TEXT(host) \
    INTEGER(host_count) INTEGER(first_rank_number) INTEGER(last_rank_number) INTEGER(pid)
NM_QUESTION_OF_TEXTS(fleet_run, NM_FLEET_RUN_SQL, NM_FLEET_RUN_COLUMNS, NM_QUESTION_NONE)

#endif
