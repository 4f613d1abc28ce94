/* SPDX-License-Identifier: Apache-2.0
 *
 * What a finding says, as tables keep it: JSON that is the same in all languages, of codes of sentences.def and of values as they
 * were measured:
 *
 *     ["screen.leak.bytes",{"leak_bytes":1048576},"screen.leak.step",{"rate_bytes":512}]
 *
 * and of several lines [{"label":"screen.label.held","said":[...]},{"said":[...]}]. A value is shown by the end of its name, as
 * columns are named: _bytes, _ratio, _cost_ns (as small as microseconds), _ns, _hours, _site; any other number as a count, any
 * other text as it is. null: "?". An array is said itself. {place}, {where} (with the heap) and {site} of a sentence are the
 * finding's own, so that no words stand for them.
 */
#ifndef NM_SAY_SAID_H
#define NM_SAY_SAID_H

#include "say/names.h"

#define NM_SAID_DEPTH_MAX 4 /* of what is said within what is said */

/* To whom. */
typedef struct nm_listener {
    nm_language language;
    bool is_shared; /* several processes have memory: a place says which */
    size_t site_columns, heap_columns;
} nm_listener;

/* Of what. Texts are borrowed, and none is NULL. */
typedef struct nm_said_of {
    nm_say_owner owner;
    const char *heap, *site;
} nm_said_of;

/* Puts what the array at *json says into `out`, cut where it does not fit, and moves *json behind it. False: it is not of this form,
 * or more than NM_SAID_DEPTH_MAX deep; a code that is not known, of a newer version, says nothing. */
bool nm_said_put(const nm_listener *to, const nm_said_of *of, const char **json, char *out, size_t size);

/* Moves *json to the array of the next line, which nm_said_put reads then; *label is NM_SAY_NOTHING where it has none. At the begin *json
 * is all lines; false: there are no more, or they are not of this form: then *json is NULL. */
bool nm_said_next_line(const char **json, nm_sentence *label);

#endif
