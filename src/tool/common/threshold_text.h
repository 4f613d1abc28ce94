/* SPDX-License-Identifier: Apache-2.0
 *
 * Floors of measures as people write them: fragmentation=256MiB, allocation-cost=1s, pool-hit-rate=1000; one a line in a
 * file, in which what follows a '#' is left out.
 */
#ifndef NM_TOOL_COMMON_THRESHOLD_TEXT_H
#define NM_TOOL_COMMON_THRESHOLD_TEXT_H

#include "store/threshold.h"
#include "tool/common/option_table.h"

/* The two rows of a program's table, which read into the nm_thresholds `member` of its structure; `text` is the help of the
 * first. */
#define OPTIONS_THRESHOLDS(type, member, text)                                                                         \
    {.name = "threshold",                                                                                              \
     .kind = OPTION_TEXT,                                                                                              \
     .argument = "MEASURE=VALUE",                                                                                      \
     .help = (text),                                                                                                   \
     .field = OPTION_FIELD(type, member),                                                                              \
     .take = threshold_take,                                                                                           \
     .is_repeatable = true},                                                                                           \
    {                                                                                                                  \
        .name = "thresholds", .kind = OPTION_FILE, .argument = "FILE", .help = "the same from a file, one a line",     \
        .field = OPTION_FIELD(type, member), .take = threshold_take_file                                               \
    }

/* Of these rows. NM_ERR_USAGE: *err says why, and of a file which line. What was there is replaced. */
option_take threshold_take, threshold_take_file;

#endif
