/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings as lines of the screen: what they say stands in the database (say/said.h), here is only where and how it is shown.
 */
#ifndef NM_SCREEN_FINDINGS_H
#define NM_SCREEN_FINDINGS_H

#include "screen/findings.sql.h"
#include "screen/screen.h"

/* What the array at *json says of a row of these columns, and moves *json behind it. What is not of this form fails the screen. */
const char *nm_screen_put_json(nm_screen *s, const nm_findings_row *row, const char **json,
                               char out[NM_SENTENCE_BYTES]);

/* The same, added to the line begun last. */
void nm_screen_say_json(nm_screen *s, const nm_findings_row *row, const char **json);

/* Begins the line of a finding and says it; of a fault its number, too. */
void nm_screen_begin_finding(nm_screen *s, const nm_findings_row *row, nm_screen_rank rank);

/* The lines behind it: what proves it, and what would help, of the same rank. */
void nm_screen_end_finding(nm_screen *s, const nm_findings_row *row, nm_screen_rank rank);

#endif
