/* SPDX-License-Identifier: Apache-2.0
 *
 * Each file that a process makes is a process to watch, by its pid and the time when it started, since a pid is used
 * again. It has ended when it says so or the kernel does, and its rings are empty. How is the kernel's word where we
 * have it, else its own; one that said nothing was killed. Nothing here waits: what is not known at one look is looked
 * for again at the next.
 */
#include "drain/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/text.h"
#include "drain/clock.h"
#include "drain/host_memory.h"
#include "drain/objects.h"

#define STAT_BYTES_MAX    1024
#define MAPS_BYTES_MAX    (64u << 20)
#define ERRNO_MAX         4096
#define NEW_PROCESSES_MAX (1u << 20) /* between two looks; more is nonsense in the session file */
#define WAIT_STATUS_BITS  16

_Static_assert(NM_RING_HOST_FIGURES == NM_HOST_FIGURES, "the process tells every kind of host memory");

/* The number of our own pid namespace; 0: unknown. The link reads "pid:[NUMBER]". */
static uint64_t own_pid_namespace(void)
{
    char text[64] = "";
    unsigned long long number = 0;

    if (readlink("/proc/self/ns/pid", text, sizeof text - 1) <= 0 || sscanf(text, "pid:[%llu]", &number) != 1)
        return 0;
    return number;
}

void nm_processes_init(nm_processes *processes, nm_ring_merge *merge)
{
    *processes = (nm_processes){.merge = merge, .pid_namespace = own_pid_namespace()};
}

static void unmap(nm_processes *processes, nm_tracked *tracked)
{
    if (tracked->shared != NULL)
        nm_folder_unmap(processes->merge->folder, tracked->shared, tracked->map_bytes);
    tracked->shared = NULL;
}

void nm_processes_fini(nm_processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        unmap(processes, &processes->items[i]);
    free(processes->items);
    free(processes->missing);
    nm_map_free(&processes->by_pid);
    nm_map_free(&processes->reaped);
}

/* ---- /proc --------------------------------------------------------------------------------------------------------- */

/* The words of /proc/PID/stat from the third on; the second is the program's name and may hold anything but ends with
 * the last parenthesis. */
static bool read_stat(int64_t pid, char *state, unsigned long long *thread_count, unsigned long long *start_time)
{
    char path[64], text[STAT_BYTES_MAX];
    size_t got = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    nm_status status = nm_io_read(fd, text, sizeof text - 1, &got, NULL);
    nm_io_close(fd);
    text[got] = 0;
    const char *at = status == NM_OK ? strrchr(text, ')') : NULL;
    return at != NULL &&
           sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %*s %llu", state,
                  thread_count, start_time) == 3;
}

bool nm_process_is_alive(int64_t pid, uint64_t start_time)
{
    unsigned long long thread_count = 0, started = 0;
    char state = 0;

    if (!read_stat(pid, &state, &thread_count, &started)) /* gone; or it cannot be looked at now, which is no death */
        return kill((pid_t)pid, 0) == 0 || errno == EPERM;
    if (started != start_time)
        return false;
    /* A first thread that has ended shows as a zombie while others of the process run on. */
    return (state != 'Z' && state != 'X') || thread_count > 1;
}

static bool stat_program(int64_t pid, uint64_t *device, uint64_t *inode)
{
    char path[64];
    struct stat info;

    snprintf(path, sizeof path, "/proc/%lld/exe", (long long)pid);
    if (!nm_door_look(path, &info))
        return false;
    *device = info.st_dev;
    *inode = info.st_ino;
    return true;
}

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

/* Arguments are separated by zero bytes; the trace has them joined by spaces. */
static nm_status intern_command(nm_processes *processes, const nm_ring_process *shared, uint64_t *id, nm_error *err)
{
    char text[NM_RING_COMMAND_BYTES_MAX];
    size_t len = shared->command_bytes < sizeof text ? shared->command_bytes : sizeof text;

    memcpy(text, shared->command, len);
    if (len == sizeof text) /* the process has put down as much as there was room for */
        len = nm_text_cut(shared->command, len + 1, sizeof text, text);
    while (len > 0 && text[len - 1] == 0)
        len--;
    for (size_t i = 0; i < len; i++)
        if (text[i] == 0)
            text[i] = ' ';
    return nm_unify_text(&processes->merge->unify, (nm_bytes){(const uint8_t *)text, len}, id, err);
}

static nm_status intern_host(nm_processes *processes, nm_error *err)
{
    char host[256] = "";

    if (processes->host_id != 0 || gethostname(host, sizeof host - 1) != 0)
        return NM_OK;
    return nm_unify_text(&processes->merge->unify, (nm_bytes){(const uint8_t *)host, strlen(host)}, &processes->host_id,
                         err);
}

/* True: the process has changed one of its numbers since. */
static bool take_numbers(nm_tracked *tracked)
{
    const nm_ring_process *shared = tracked->shared;
    nm_tracked before = *tracked;

    /* relaxed: numbers of their own */
    tracked->run_mode = atomic_load_explicit(&shared->run_mode, memory_order_relaxed);
    tracked->rank = atomic_load_explicit(&shared->rank, memory_order_relaxed);
    tracked->local_rank = atomic_load_explicit(&shared->local_rank, memory_order_relaxed);
    tracked->world_size = atomic_load_explicit(&shared->world_size, memory_order_relaxed);
    return tracked->run_mode != before.run_mode || tracked->rank != before.rank ||
           tracked->local_rank != before.local_rank || tracked->world_size != before.world_size;
}

static nm_status define(nm_processes *processes, nm_tracked *tracked, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    const nm_ring_process *shared = tracked->shared;
    nm_definition definition = {.kind = NM_DEFINE_PROCESS, .id = tracked->number};
    nm_status status = intern_host(processes, err);

    if (status == NM_OK)
        status = intern_command(processes, shared, &definition.process.command, err);
    take_numbers(tracked);
    definition.process.parent_id = tracked->parent_id;
    definition.process.pid = tracked->pid;
    definition.process.host = processes->host_id;
    definition.process.rank = tracked->rank;
    definition.process.local_rank = tracked->local_rank;
    definition.process.world_size = tracked->world_size;
    definition.process.run_mode = tracked->run_mode;
    definition.process.begin_ns = nm_clock_to_ns(merge->folder->session, shared->begin_ticks);
    definition.process.is_late = shared->is_late != 0;
    return status == NM_OK ? nm_trace_writer_define(merge->writer, &definition, err) : status;
}

/* A pid means something in its namespace alone. */
static nm_key key_of(const nm_tracked *tracked, int64_t pid)
{
    return (nm_key){tracked->shared->pid_namespace, (uint64_t)pid};
}

/* Who has the same pid and the same start as `tracked` was replaced by it. */
static void note_family(nm_processes *processes, nm_tracked *tracked)
{
    const uint64_t *index = nm_map_get(&processes->by_pid, key_of(tracked, tracked->pid));
    nm_tracked *before = index == NULL ? NULL : &processes->items[*index];

    tracked->parent_id = tracked->shared->parent_number;
    if (before != NULL && before->start_time == tracked->start_time && before->number < tracked->number) {
        before->is_replaced = true;
        processes->left_count -= before->has_left;
        before->has_left = false;
        if (tracked->parent_id == 0)
            tracked->parent_id = before->parent_id;
        return;
    }
    index = nm_map_get(&processes->by_pid, key_of(tracked, tracked->shared->parent_pid));
    if (index != NULL)
        processes->items[*index].has_children = true;
    if (tracked->parent_id == 0 && index != NULL)
        tracked->parent_id = processes->items[*index].number;
    if (tracked->parent_id == tracked->number)
        tracked->parent_id = 0;
}

static nm_status track(nm_processes *processes, nm_tracked tracked, nm_error *err)
{
    nm_status status =
        nm_array_grow(&processes->items, &processes->capacity, processes->count + 1, sizeof *processes->items, err);

    if (status != NM_OK) {
        unmap(processes, &tracked);
        return status;
    }
    note_family(processes, &tracked);
    processes->items[processes->count] = tracked;
    status = nm_map_put(&processes->by_pid, key_of(&tracked, tracked.pid), processes->count, err);
    processes->count++;
    processes->live_count++;
    if (status == NM_OK && tracked.shared->is_forked)
        status = nm_unify_fork(&processes->merge->unify, tracked.number, tracked.parent_id, err);
    return status == NM_OK ? define(processes, &processes->items[processes->count - 1], err) : status;
}

/* NM_END: its file is not there, or not whole yet. */
static nm_status map_process(const nm_folder *folder, uint64_t number, nm_ring_process **out, size_t *bytes,
                             nm_error *err)
{
    void *data = NULL;
    nm_status status = nm_folder_map(folder, 'p', number, sizeof(nm_ring_process), &data, bytes, err);

    if (status != NM_OK)
        return status;
    *out = data;
    /* acquire: pairs with the release of the process that has filled the rest */
    if (__atomic_load_n(&(*out)->ready, __ATOMIC_ACQUIRE) == NM_RING_PROCESS_MAGIC &&
        (*out)->magic == NM_RING_PROCESS_MAGIC && (*out)->number == number)
        return NM_OK;
    nm_folder_unmap(folder, data, *bytes);
    return NM_END;
}

bool nm_process_has_joined(const nm_folder *folder, uint64_t number)
{
    nm_ring_process *shared;
    size_t bytes;

    if (map_process(folder, number, &shared, &bytes, NULL) != NM_OK)
        return false;
    nm_folder_unmap(folder, shared, bytes);
    return true;
}

static nm_status open_process(nm_processes *processes, uint64_t number, nm_error *err)
{
    nm_folder *folder = processes->merge->folder;
    nm_tracked tracked = {.number = number};
    nm_status status = map_process(folder, number, &tracked.shared, &tracked.map_bytes, err);

    if (status != NM_OK)
        return status;
    tracked.pid = tracked.shared->pid;
    tracked.start_time = tracked.shared->start_time;
    if (!folder->is_copy)
        tracked.was_alive = nm_process_is_alive(tracked.pid, tracked.start_time);
    return track(processes, tracked, err);
}

static nm_status retry_missing(nm_processes *processes, nm_error *err)
{
    size_t kept = 0;
    nm_status status = NM_OK;

    for (size_t i = 0; i < processes->missing_count; i++) {
        nm_status found = status == NM_OK ? open_process(processes, processes->missing[i], err) : status;

        if (found != NM_OK)
            processes->missing[kept++] = processes->missing[i];
        if (found != NM_OK && found != NM_END)
            status = found;
    }
    processes->missing_count = kept;
    return status;
}

nm_status nm_processes_find(nm_processes *processes, nm_error *err)
{
    /* relaxed: the number says that a file is coming; its content has its own release */
    uint64_t last = atomic_load_explicit(&processes->merge->folder->session->process_count, memory_order_relaxed);
    nm_status status = retry_missing(processes, err);

    if (last - processes->numbers_seen > NEW_PROCESSES_MAX)
        return status;
    while (processes->numbers_seen < last && status == NM_OK) {
        uint64_t number = processes->numbers_seen + 1;

        status = open_process(processes, number, err);
        if (status == NM_END) {
            status = nm_array_grow(&processes->missing, &processes->missing_capacity, processes->missing_count + 1,
                                   sizeof *processes->missing, err);
            if (status == NM_OK)
                processes->missing[processes->missing_count++] = number;
        }
        if (status == NM_OK)
            processes->numbers_seen = number;
    }
    return status;
}

/* ---- Watching ------------------------------------------------------------------------------------------------------ */

static uint64_t said_end(const nm_tracked *tracked)
{
    /* acquire: pairs with the release of the process; status and time come with it */
    return atomic_load_explicit(&tracked->shared->end_kind, memory_order_acquire);
}

/* Has the process the session's folder in its memory? What cannot be read counts as yes; so does no memory at all: the process is
 * about to end, and frees what it has, or its first thread has ended before others. */
static bool maps_session(const nm_processes *processes, int64_t pid)
{
    const char *folder = strrchr(processes->merge->folder->path, '/');
    char path[64];
    nm_buffer maps = {0};
    bool is_mapped = true;
    int fd;

    snprintf(path, sizeof path, "/proc/%lld/maps", (long long)pid);
    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return true;
    if (nm_io_read_all(fd, MAPS_BYTES_MAX, &maps, NULL) == NM_OK && nm_buffer_append(&maps, "", 1, NULL) == NM_OK)
        is_mapped = maps.len == 1 || strstr((const char *)maps.data, folder) != NULL;
    nm_io_close(fd);
    nm_buffer_free(&maps);
    return is_mapped;
}

/* A program that replaced itself by one that does not load the recorder leaves no process file to tell. That it is the same
 * program once more only its mappings say, which costs too much while the program is at work. */
static bool runs_another_program(const nm_processes *processes, const nm_tracked *tracked)
{
    uint64_t device, inode;

    if (processes->is_lingering && !maps_session(processes, tracked->pid))
        return true;
    return tracked->shared->exe_inode != 0 && stat_program(tracked->pid, &device, &inode) &&
           (device != tracked->shared->exe_device || inode != tracked->shared->exe_inode);
}

/* A pid that is not there may be of another namespace, whose process lives on and records. If nothing tells of its end, its
 * rings are kept until the recording ends: what it records must not be lost. */
static bool is_dead_for_sure(const nm_processes *processes, const nm_tracked *tracked)
{
    bool is_of_ours = processes->pid_namespace != 0 && processes->pid_namespace == tracked->shared->pid_namespace;

    return is_of_ours || tracked->was_alive || said_end(tracked) != 0 || processes->merge->folder->is_copy ||
           nm_map_get(&processes->reaped, (nm_key){0, (uint64_t)tracked->pid}) != NULL;
}

static bool has_died(nm_processes *processes, nm_tracked *tracked)
{
    uint64_t said = said_end(tracked);

    if (tracked->is_replaced || said == NM_PROCESS_RUNNING + 1 || (processes->ends_when_said && said != 0))
        return true; /* npumem_stop says that it runs on, and records no more */
    if (!nm_process_is_alive(tracked->pid, tracked->start_time))
        return is_dead_for_sure(processes, tracked);
    tracked->was_alive = true;
    tracked->is_replaced = runs_another_program(processes, tracked);
    tracked->has_left = tracked->is_replaced;
    processes->left_count += tracked->has_left;
    return tracked->is_replaced;
}

nm_status nm_processes_check(nm_processes *processes, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    nm_status status = NM_OK;

    processes->pass++;
    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++) {
        nm_tracked *tracked = &processes->items[i];

        if (tracked->shared == NULL || tracked->is_dead)
            continue;
        if (take_numbers(tracked))
            status = define(processes, tracked, err);
        if (has_died(processes, tracked)) {
            tracked->is_dead = true;
            tracked->dead_pass = processes->pass;
            tracked->dead_ticks = nm_clock_ticks(merge->folder->session->clock_kind);
            processes->live_count--;
            processes->dying_count++;
        }
    }
    return status;
}

bool nm_processes_has_ended(const nm_processes *processes, uint64_t number)
{
    for (size_t i = processes->first_open; i < processes->count; i++)
        if (processes->items[i].number == number)
            return processes->items[i].is_ended;
    return true;
}

void nm_processes_mark_rings(nm_processes *processes)
{
    nm_ring_merge *merge = processes->merge;

    if (processes->dying_count == 0)
        return;
    for (size_t i = processes->first_open; i < processes->count; i++)
        for (size_t j = 0; processes->items[i].is_dead && !processes->items[i].is_ended && j < merge->ring_count; j++)
            if (merge->rings[j]->view.process_number == processes->items[i].number)
                merge->rings[j]->is_dead = true;
}

void nm_processes_reaped(nm_processes *processes, int64_t pid, int wait_status, uint64_t peak_bytes)
{
    uint64_t value = peak_bytes >> 10 << WAIT_STATUS_BITS | (wait_status & ((1u << WAIT_STATUS_BITS) - 1));

    nm_map_put(&processes->reaped, (nm_key){0, (uint64_t)pid}, value, NULL);
}

/* ---- Ending -------------------------------------------------------------------------------------------------------- */

static bool are_rings_empty(const nm_processes *processes, uint64_t number)
{
    const nm_ring_merge *merge = processes->merge;

    for (size_t i = 0; i < merge->ring_count; i++)
        if (merge->rings[i]->view.process_number == number && !nm_ring_merge_is_empty(merge->rings[i]))
            return false;
    return true;
}

/* What it said of its host memory at its end; of one that could say nothing, what wait4 says, which counts children in. */
static void find_last_memory(nm_processes *processes, const nm_tracked *tracked, nm_host_memory *memory)
{
    const uint64_t *reaped = nm_map_get(&processes->reaped, (nm_key){0, (uint64_t)tracked->pid});

    nm_host_memory_clear(memory);
    for (size_t i = 0; i < NM_HOST_FIGURES && said_end(tracked) != 0; i++) /* relaxed: with end_kind; 0 turns unknown */
        memory->bytes[i] = atomic_load_explicit(&tracked->shared->end_host_bytes[i], memory_order_relaxed) - 1;
    if (said_end(tracked) == 0 && !tracked->is_replaced && !tracked->has_children && reaped != NULL &&
        *reaped >> WAIT_STATUS_BITS != 0)
        memory->bytes[NM_MEMORY_HOST_PEAK - NM_MEMORY_HOST_RESIDENT] = *reaped >> WAIT_STATUS_BITS << 10;
}

/* The last that is told of a process's host memory: all of it, whether it has moved or not. */
static nm_status say_memory(nm_processes *processes, const nm_tracked *tracked, const nm_host_memory *memory,
                            int64_t time_ns, nm_error *err)
{
    nm_status status = NM_OK;
    uint64_t used_bytes;
    /* relaxed: a flag */
    bool is_told = processes->merge->folder->session->is_sampled != 0 &&
                   atomic_load_explicit(&tracked->shared->is_device_user, memory_order_relaxed) != 0;

    if (is_told && processes->machine_bytes == 0)
        processes->machine_bytes = nm_host_memory_machine(&used_bytes);
    for (uint64_t i = 0; is_told && i < NM_HOST_FIGURES && status == NM_OK; i++) {
        nm_event event = {.kind = NM_EVENT_MEMORY_SAMPLE,
                          .time_ns = time_ns,
                          .number = (int64_t)tracked->number,
                          .detail = NM_MEMORY_HOST_RESIDENT + i,
                          .size_bytes = memory->bytes[i],
                          .total_bytes = processes->machine_bytes};

        if (memory->bytes[i] == NM_HOST_BYTES_UNKNOWN)
            continue;
        status = nm_trace_writer_event(processes->merge->writer, &event, err);
        processes->merge->event_count += status == NM_OK;
    }
    return status;
}

/* How it ended: the kernel's word where we have it, else its own. A process that said nothing was killed. */
static void find_end(nm_processes *processes, const nm_tracked *tracked, nm_event *event)
{
    uint64_t said = said_end(tracked), pid = (uint64_t)tracked->pid, status = 0;

    event->detail = NM_PROCESS_SIGNAL;
    event->error_code = -1;
    if (said != 0) {
        event->detail = said - 1;
        event->error_code =
            atomic_load_explicit(&tracked->shared->end_status, memory_order_relaxed); /* with end_kind */
    }
    if (tracked->is_replaced) {
        event->detail = NM_PROCESS_EXEC;
        event->error_code = 0;
    } else if (nm_map_remove(&processes->reaped, (nm_key){0, pid}, &status) && event->detail != NM_PROCESS_EXEC) {
        status &= (1u << WAIT_STATUS_BITS) - 1;
        event->detail = WIFSIGNALED((int)status) ? NM_PROCESS_SIGNAL : NM_PROCESS_EXIT;
        event->error_code = WIFSIGNALED((int)status) ? WTERMSIG((int)status) : WEXITSTATUS((int)status);
    }
}

static nm_status write_note(nm_processes *processes, nm_event event, const char *text, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    nm_status status = NM_OK;

    if (merge->is_discarding)
        return NM_OK;
    event.kind = NM_EVENT_NOTE;
    status = nm_unify_text(&merge->unify, (nm_bytes){(const uint8_t *)text, strlen(text)}, &event.name_id, err);
    if (status == NM_OK)
        status = nm_trace_writer_event(merge->writer, &event, err);
    merge->event_count += status == NM_OK;
    return status;
}

/* The note names a thread of the process, since that is how an event says whose it is. */
static nm_status note_no_ring(nm_processes *processes, const nm_tracked *tracked, uint64_t ticks, const char *why,
                              nm_error *err)
{
    const nm_ring_merge *merge = processes->merge;
    nm_event event = {.detail = NM_NOTE_NO_RING, .time_ns = nm_clock_to_ns(merge->folder->session, ticks)};

    for (size_t i = 0; i < merge->ring_count && event.thread_id == 0; i++)
        if (merge->rings[i]->view.process_number == tracked->number)
            event.thread_id = merge->rings[i]->thread_id;
    return write_note(processes, event, why, err);
}

/* Of threads that could not make a ring. */
static nm_status say_dropped(nm_processes *processes, const nm_tracked *tracked, nm_error *err)
{
    const nm_ring_process *shared = tracked->shared;
    /* relaxed, all: it is dead */
    uint64_t count = atomic_load_explicit(&shared->dropped_count, memory_order_relaxed);
    uint64_t first_ticks = atomic_load_explicit(&shared->drop_first_ticks, memory_order_relaxed);
    uint64_t last_ticks = atomic_load_explicit(&shared->drop_last_ticks, memory_order_relaxed);
    int64_t why = atomic_load_explicit(&shared->ring_errno, memory_order_relaxed);
    nm_status status;

    if (count == 0)
        return NM_OK;
    status = nm_ring_merge_say_loss(processes->merge, 0, first_ticks, last_ticks, count, NM_LOSS_NO_RING, err);
    return status == NM_OK ? note_no_ring(processes, tracked, first_ticks,
                                          why > 0 && why < ERRNO_MAX ? strerror((int)why) : "not known why", err)
                           : status;
}

/* Rings that could not be read: what stood in them nobody knows, one event each at least. */
static nm_status say_removed(nm_processes *processes, const nm_tracked *tracked, nm_error *err)
{
    const nm_ring_merge *merge = processes->merge;
    /* relaxed: it is dead */
    uint64_t made_count = atomic_load_explicit(&tracked->shared->ring_count, memory_order_relaxed);
    uint64_t found_count = tracked->lost_ring_count;
    nm_status status;

    for (size_t i = 0; i < merge->ring_count; i++)
        found_count += merge->rings[i]->view.process_number == tracked->number;
    if (made_count <= found_count)
        return NM_OK;
    status = nm_ring_merge_say_unreadable(processes->merge, 0, tracked->shared->begin_ticks, tracked->dead_ticks,
                                          made_count - found_count, true, err);
    return status == NM_OK ? note_no_ring(processes, tracked, tracked->shared->begin_ticks,
                                          "it was removed before it was read", err)
                           : status;
}

/* What it dropped where no ring, or no room in one, could say so. */
static nm_status say_drops(nm_processes *processes, const nm_tracked *tracked, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    nm_status status = NM_OK;

    for (size_t i = 0; i < merge->ring_count && status == NM_OK; i++)
        if (merge->rings[i]->view.process_number == tracked->number)
            status = nm_ring_merge_say_drops(merge, merge->rings[i], err);
    if (status == NM_OK)
        status = say_dropped(processes, tracked, err);
    if (status == NM_OK)
        status = say_removed(processes, tracked, err);
    return status;
}

static nm_status prepare_end(nm_processes *processes, const nm_tracked *tracked, nm_error *err)
{
    nm_status status = NM_OK;

    if (processes->before_end != NULL)
        status = processes->before_end(processes->before_end_context, tracked->number, err);
    return status == NM_OK ? say_drops(processes, tracked, err) : status;
}

static nm_status write_end(nm_processes *processes, nm_tracked *tracked, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    uint64_t ticks = atomic_load_explicit(&tracked->shared->end_ticks, memory_order_relaxed); /* with end_kind */
    nm_event event = {.kind = NM_EVENT_PROCESS_END, .number = (int64_t)tracked->number};
    nm_status status = prepare_end(processes, tracked, err);
    nm_host_memory memory;

    find_last_memory(processes, tracked, &memory);
    find_end(processes, tracked, &event);
    event.time_ns = nm_clock_to_ns(merge->folder->session, ticks != 0 ? ticks : tracked->dead_ticks);
    if (status == NM_OK)
        status = say_memory(processes, tracked, &memory, event.time_ns, err);
    if (status == NM_OK)
        status = nm_objects_say_last(merge, tracked->number, event.time_ns, err);
    if (status == NM_OK)
        status = nm_trace_writer_event(merge->writer, &event, err);
    merge->event_count += status == NM_OK;
    tracked->is_ended = true;
    processes->dying_count--;
    return status;
}

nm_status nm_processes_end(nm_processes *processes, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++) {
        nm_tracked *tracked = &processes->items[i];

        /* A whole pass between its death and here: its rings have been looked for and read since. */
        if (!tracked->is_dead || tracked->is_ended || tracked->dead_pass == processes->pass ||
            !are_rings_empty(processes, tracked->number))
            continue;
        status = write_end(processes, tracked, err);
    }
    return status;
}

nm_status nm_processes_note_unseen(nm_processes *processes, uint64_t count, const char *why, nm_error *err)
{
    const nm_ring_merge *merge = processes->merge;
    const nm_ring_session *session = merge->folder->session;
    uint64_t ticks = merge->last_ticks != 0 ? merge->last_ticks : nm_clock_ticks(session->clock_kind);
    nm_event event = {
        .detail = NM_NOTE_UNSEEN_PROCESS, .number = (int64_t)count, .time_ns = nm_clock_to_ns(session, ticks)};

    return write_note(processes, event, why, err);
}

/* Whose events are in no count: they took a number and have no file, or could not even take a number. */
static nm_status note_unjoined(nm_processes *processes, nm_error *err)
{
    const nm_folder *folder = processes->merge->folder;
    char text[128];
    int why = 0;
    nm_status status = NM_OK;

    processes->refused_count = nm_folder_count_refused(folder, &why, &processes->is_folder_gone);
    if (processes->missing_count > 0)
        status = nm_processes_note_unseen(processes, processes->missing_count,
                                          folder->is_copy ? "it has no file in the ring folder any more"
                                                          : "it could not write to the ring folder",
                                          err);
    snprintf(text, sizeof text, "it could not open the recording: %s", strerror(why));
    if (status == NM_OK && processes->refused_count > 0)
        status = nm_processes_note_unseen(processes, processes->refused_count, text, err);
    if (status != NM_OK || processes->missing_count + processes->refused_count > 0)
        return status;
    if (processes->is_folder_gone)
        return nm_processes_note_unseen(processes, 0, "what began after the ring folder was removed", err);
    /* relaxed: nobody joins any more */
    return atomic_load_explicit(&folder->session->process_count, memory_order_relaxed) == 0
               ? nm_processes_note_unseen(processes, 0, "no process loaded the recorder", err)
               : NM_OK;
}

/* The recording ends before the process does; or it cannot be asked how it ended. */
static nm_status write_leave(nm_processes *processes, nm_tracked *tracked, nm_error *err)
{
    nm_ring_merge *merge = processes->merge;
    const nm_ring_session *session = merge->folder->session;
    nm_event event = {.kind = NM_EVENT_PROCESS_END,
                      .number = (int64_t)tracked->number,
                      .detail = tracked->was_alive ? NM_PROCESS_RUNNING : NM_PROCESS_SIGNAL,
                      .error_code = tracked->was_alive ? 0 : -1};
    nm_status status = prepare_end(processes, tracked, err);
    nm_host_memory memory;

    if (!nm_host_memory_read(tracked->pid, &memory) || !nm_process_is_alive(tracked->pid, tracked->start_time))
        nm_host_memory_clear(&memory);
    event.time_ns = nm_clock_to_ns(session, nm_clock_ticks(session->clock_kind));
    if (status == NM_OK && tracked->was_alive)
        status = say_memory(processes, tracked, &memory, event.time_ns, err);
    if (status == NM_OK)
        status = nm_objects_say_last(merge, tracked->number, event.time_ns, err);
    if (status == NM_OK)
        status = nm_trace_writer_event(merge->writer, &event, err);
    merge->event_count += status == NM_OK;
    tracked->is_ended = true;
    return status;
}

nm_status nm_processes_leave(nm_processes *processes, nm_error *err)
{
    nm_status status = note_unjoined(processes, err);

    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++) {
        nm_tracked *tracked = &processes->items[i];

        if (tracked->is_ended || tracked->shared == NULL)
            continue;
        status = tracked->is_dead ? write_end(processes, tracked, err) : write_leave(processes, tracked, err);
    }
    return status;
}

void nm_processes_written(nm_processes *processes)
{
    for (size_t i = processes->first_open; i < processes->count; i++) {
        nm_tracked *tracked = &processes->items[i];

        if (tracked->is_ended && tracked->shared != NULL) {
            nm_ring_merge_drop_rings(processes->merge, tracked->number);
            nm_folder_remove_file(processes->merge->folder, 'p', tracked->number);
            unmap(processes, tracked);
        }
    }
    while (processes->first_open < processes->count && processes->items[processes->first_open].shared == NULL)
        processes->first_open++;
}
