/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes over stored rows: what can only be said of an input when all its rows are there, names and sites too. Each fills
 * tables of its own from others; verdicts.c has them all, in the order in which they run.
 */
#ifndef NM_VERDICTS_VERDICTS_H
#define NM_VERDICTS_VERDICTS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/map.h"
#include "store/kept_rows.h"
#include "sums/outstanding.h"

/* What of the rows of a load goes to no table, and waits until stacks have their sites; verdicts use it up. */
typedef struct nm_verdict_rows {
    nm_kept_rows step_changes; /* nm_step_site_row: verdicts/site_steps.h */
    nm_buffer lifetimes;       /* nm_lifetime_row, packed: verdicts/site_lifetimes.h */
    nm_sum_table outstanding;  /* nm_outstanding_row: verdicts/outstanding.h */
    nm_map site_of;            /* stack_id -> site_frame_id, of stacks that have a site: filled by verdicts */
} nm_verdict_rows;

nm_verdict_rows nm_verdict_rows_none(void);
void nm_verdict_rows_free(nm_verdict_rows *rows);

typedef struct nm_verdict_settings {
    int64_t server_minutes; /* so long a process without steps has to run to be judged; 0: as table minimum has it */
    nm_verdict_rows *rows;  /* of an input; borrowed */
} nm_verdict_settings;

/* Added to the cause of a pool's miss of which only the end tells whether it is cold. */
#define NM_EARLY_CAUSE 16

typedef enum nm_verdicts_of {
    NM_VERDICTS_OF_INPUT,
    NM_VERDICTS_OF_MERGED, /* of several, each of which brought its own rows: only what has none yet is made */
} nm_verdicts_of;

/* Makes the temporary tables that rows go to on their way to verdicts: before the loader prepares its statements. */
nm_status nm_verdicts_begin(sqlite3 *db, nm_error *err);

/* When all other rows are there and nothing is writing. `settings` may be NULL for NM_VERDICTS_OF_MERGED. */
nm_status nm_verdicts_run(sqlite3 *db, nm_verdicts_of of, const nm_verdict_settings *settings, nm_error *err);

extern const nm_embedded_text nm_verdict_files[]; /* the files of SQL in this folder */

#endif
