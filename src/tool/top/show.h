/* SPDX-License-Identifier: Apache-2.0
 *
 * A look as text for people, and as a line of JSON for programs.
 */
#ifndef NM_TOOL_TOP_SHOW_H
#define NM_TOOL_TOP_SHOW_H

#include "base/buffer.h"
#include "tool/top/follow.h"
#include "tool/top/model.h"

typedef struct show_frame {
    const char *name; /* of the trace */
    const top_look *look;
    const nm_source_summary_data *summary;
    nm_state state;
    bool is_behind;    /* not all that is there has been read */
    double progress;   /* then: how much */
    size_t columns;    /* cells of a line */
    size_t rows;       /* lines; 0: as many as there are */
    size_t site_count; /* of each list, at most */
    bool has_next;     /* ends with the command that makes findings: here there are figures alone */
} show_frame;

/* Both append. Lines end with a newline. */
nm_status show_text(const show_frame *frame, nm_buffer *out, nm_error *err);
nm_status show_json(const show_frame *frame, nm_buffer *out, nm_error *err);

/* "recording", "ended", ...: the word of JSON. */
const char *show_state(nm_state state);
/* The same for people, in English: more where its word alone would not say it. */
const char *show_state_text(nm_state state);

const char *show_part(nm_gauge_part part); /* as in device_part.part */

typedef enum show_order { SHOW_LARGEST, SHOW_GROWING } show_order;

/* The sites that hold or grow anything, in the order; *count is how many. The caller frees *out. */
nm_status show_choose(const top_look *look, show_order order, top_site **out, size_t *count, nm_error *err);

/* All heaps, the one that holds most first. The caller frees *out. */
nm_status show_sort_heaps(const top_look *look, top_heap **out, nm_error *err);

#endif
