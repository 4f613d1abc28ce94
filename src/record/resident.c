/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads /proc/self/status, whose lines every kernel from 4.5 on has. Its list of groups has no bound, so the figures are
 * looked for in as much as there is room for.
 */
#include "record/resident.h"

#include <string.h>

#include "record/system.h"
#include "record/text.h"
#include "trace/event.h"

#define STATUS_BYTES_MAX 4096

static const struct {
    const char *line; /* in kB */
    unsigned kind;
} figures[] = {
    {"\nVmRSS:", NM_MEMORY_HOST_RESIDENT},  {"\nRssAnon:", NM_MEMORY_HOST_ANONYMOUS},
    {"\nRssShmem:", NM_MEMORY_HOST_SHARED}, {"\nVmStk:", NM_MEMORY_HOST_STACK},
    {"\nVmHWM:", NM_MEMORY_HOST_PEAK},
};

static void note_line(nm_ring_process *process, const char *text, const char *line, unsigned kind)
{
    const char *at = strstr(text, line);
    int64_t kib;

    if (at == NULL)
        return;
    at += strlen(line);
    at += strspn(at, " \t");
    kib = nm_text_number(at, NULL);
    if (kib >= 0) /* relaxed: `end_kind` publishes it. */
        atomic_store_explicit(&process->end_host_bytes[kind - NM_MEMORY_HOST_RESIDENT], ((uint64_t)kib << 10) + 1,
                              memory_order_relaxed);
}

void nm_resident_note(nm_ring_process *process)
{
    static char text[STATUS_BYTES_MAX + 1]; /* _exit may be called on the small stack of a signal handler */
    static _Atomic int user;                /* process of the thread that reads; 0: none */
    int pid = nm_system_pid(), before = atomic_load_explicit(&user, memory_order_relaxed); /* relaxed: decided below */

    /* acquire: pairs with the release below. A child does not inherit the thread that reads. */
    if (before == pid ||
        !atomic_compare_exchange_strong_explicit(&user, &before, pid, memory_order_acquire, memory_order_relaxed))
        return;
    text[nm_system_slurp("/proc/self/status", text, STATUS_BYTES_MAX)] = 0;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        note_line(process, text, figures[i].line, figures[i].kind);
    atomic_store_explicit(&user, 0, memory_order_release);
}
