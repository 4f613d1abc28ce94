/* SPDX-License-Identifier: Apache-2.0
 *
 * A list that only grows at its head, without a lock: equal notes are one. Its memory is the arena's, for good. Each
 * note is put into the trace once, by whichever thread calls CANN next; in a process that never does so nothing is ever
 * put.
 */
#include "hook/notes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "hook/arena.h"
#include "record/record.h"

typedef struct waiting_note {
    struct waiting_note *next;
    nm_note note;
    const char *text; /* kept: equal texts are one */
    _Atomic bool is_told;
} waiting_note;

static waiting_note *_Atomic first_note; /* never taken out again: they tell what was noted already */
static _Atomic bool has_new;

static bool is_known(const waiting_note *first, const waiting_note *end, nm_note note, const char *text)
{
    while (first != end && (first->note != note || first->text != text))
        first = first->next;
    return first != end;
}

void nm_notes_add(nm_note note, const char *text)
{
    const char *kept = nm_arena_intern(text);
    /* acquire: pairs with the release below. */
    waiting_note *first = atomic_load_explicit(&first_note, memory_order_acquire), *end = NULL, *made = NULL;

    if (kept == NULL)
        return;
    do {
        if (is_known(first, end, note, kept))
            return;
        end = first;
        if (made == NULL && (made = nm_arena_allocate(sizeof *made)) == NULL)
            return;
        made->note = note;
        made->text = kept;
        made->next = first;
        /* release: whoever finds the note sees what it says. acquire: so do we of another's. */
    } while (
        !atomic_compare_exchange_weak_explicit(&first_note, &first, made, memory_order_release, memory_order_acquire));
    atomic_store_explicit(&has_new, true, memory_order_release); /* release: pairs with the exchange in nm_notes_tell */
}

void nm_notes_tell(void)
{
    /* relaxed: seen a call later, it is told a call later. */
    if (__builtin_expect(!atomic_load_explicit(&has_new, memory_order_relaxed), 1) || !nm_record_has_joined())
        return;
    /* acquire: pairs with the release in nm_notes_add. */
    if (!atomic_exchange_explicit(&has_new, false, memory_order_acquire))
        return;
    for (waiting_note *at = atomic_load_explicit(&first_note, memory_order_acquire); at != NULL; at = at->next) {
        /* relaxed: one thread gets it. */
        if (!atomic_exchange_explicit(&at->is_told, true, memory_order_relaxed))
            nm_record_note(at->note, 0, at->text);
    }
}
