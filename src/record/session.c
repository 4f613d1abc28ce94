/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining and leaving a session; see session.h. Everything that goes wrong ends in "not recording", silently: the program
 * must not notice.
 */
#include "record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/secret.h"
#include "record/heap.h"
#include "record/modules.h"
#include "record/python.h"
#include "record/resident.h"
#include "record/text.h"
#include "record/thread.h"
#include "trace/event.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define PAGE_BYTES            4096
#define STAT_BYTES_MAX        1024
#define STAT_START_TIME_FIELD 22
#define JOIN_WAIT_PAUSE_US    100
#define JOIN_WAIT_ROUNDS      100 /* 10 ms: joining takes a few system calls */

bool nm_session_is_allowed(void)
{
    const char *value = secure_getenv("NPUMEM");

    return value == NULL || strcmp(value, "off") != 0;
}

const char *nm_session_host_output(void)
{
    const char *output = secure_getenv(NM_HOST_ENVIRONMENT);

    return output != NULL && *output != 0 ? output : NULL;
}

/* ---- The session file ---------------------------------------------------------------------------------------------- */

static bool is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static bool is_sound_session(const nm_ring_session *session)
{
    /* acquire: the drain stores the magic last. */
    if (__atomic_load_n(&session->magic, __ATOMIC_ACQUIRE) != NM_RING_SESSION_MAGIC ||
        session->session_bytes != sizeof *session)
        return false;
    if (!is_power_of_two(session->ring_bytes) || session->ring_bytes < NM_RING_BYTES_MIN ||
        session->ring_bytes > NM_RING_BYTES_MAX)
        return false;
    if (session->clock_kind != NM_CLOCK_COUNTER && session->clock_kind != NM_CLOCK_MONOTONIC)
        return false;
    return session->stack_depth >= 1 && session->stack_depth <= NM_RING_STACK_DEPTH_MAX &&
           atomic_load_explicit(&session->is_closed, memory_order_relaxed) == 0; /* relaxed: looked at again later */
}

/* The session's file of a folder that is this user's alone and lies where nobody else can put another in its place: what
 * stands in it is believed. -errno; -EPERM: it is not. */
static long open_session(const char *folder)
{
    long result = nm_system_check_parent(folder);
    long folder_fd = result < 0 ? result : nm_system_open(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    long fd;

    if (folder_fd < 0)
        return folder_fd;
    fd = nm_system_check_own((int)folder_fd, S_IFDIR);
    if (fd == 0)
        fd = nm_call(SYS_openat, folder_fd, (long)NM_RING_SESSION_FILE, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0,
                     0, 0);
    nm_system_close((int)folder_fd);
    result = fd < 0 ? fd : nm_system_check_own((int)fd, S_IFREG);
    if (fd >= 0 && result < 0)
        nm_system_close((int)fd);
    return result < 0 ? result : fd;
}

/* A process that cannot even take a number leaves a link in the folder, which needs neither a descriptor nor memory: the
 * drain must know that there is something that it does not see. */
static void tell_refused(const char *folder, long failure)
{
    char path[NM_FILE_BYTES_MAX], why[32];

    if (nm_text_path(path, sizeof path, folder, (const char[]){NM_RING_REFUSED_PREFIX, '.', 0},
                     (uint64_t)nm_system_pid()) &&
        nm_text_path(why, sizeof why, "", "", (uint64_t)-failure))
        nm_system_link(why + 1, path);
}

static nm_ring_session *map_session(const char *folder)
{
    nm_ring_session *session = NULL;
    long fd = open_session(folder);

    /* Who starts its drain looks until the file is there and whole. Where others reach nothing is left. */
    bool is_refused = fd < 0 && fd != -EPERM && fd != -ENOENT;

    if (fd >= 0) {
        long bytes = nm_system_size((int)fd);

        session = bytes >= (long)sizeof *session ? nm_system_map((int)fd, sizeof *session) : NULL;
        is_refused = bytes < 0 || (bytes >= (long)sizeof *session && session == NULL);
    }
    if (fd >= 0)
        nm_system_close((int)fd);
    if (is_refused)
        tell_refused(folder, fd < 0 ? fd : -ENOMEM);
    if (session != NULL && !is_sound_session(session)) {
        nm_system_unmap(session, sizeof *session);
        session = NULL;
    }
    return session;
}

/* ---- The process file ---------------------------------------------------------------------------------------------- */

/* Field 22 of /proc/self/stat. The second field, the command, may hold anything, but ends at the last ')'. */
static uint64_t process_start_time(void)
{
    char text[STAT_BYTES_MAX + 1];
    size_t len = nm_system_slurp("/proc/self/stat", text, STAT_BYTES_MAX);
    const char *at;

    text[len] = 0;
    at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < STAT_START_TIME_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? (uint64_t)nm_text_number(at + 1, NULL) : 0;
}

/* The link reads "pid:[NUMBER]". */
static uint64_t pid_namespace(void)
{
    char text[64] = "";
    const char *number;

    nm_system_read_link("/proc/self/ns/pid", text, sizeof text - 1);
    number = strchr(text, '[');
    return number != NULL ? (uint64_t)nm_text_number(number + 1, NULL) : 0;
}

/* What was known once stays: a program may have cleared its environment. */
static void read_number(_Atomic int64_t *to, const char *const *names, size_t name_count)
{
    int64_t number = nm_text_environment_number(names, name_count);

    if (number != INT64_MIN) /* relaxed: a number of its own; the drain reads it when it likes. */
        atomic_store_explicit(to, number, memory_order_relaxed);
}

#define READ_NUMBER(to, names) read_number(&(to), names, sizeof(names) / sizeof *(names))

/* torchrun and its like, MindSpore, Open MPI, PMIx, MPICH and Intel MPI, MVAPICH, Slurm: what is closest to the program
 * first, since a job of Slurm's may start torchrun. */
static void read_ranks(nm_ring_process *process)
{
    static const char *const rank_names[] = {
        "RANK", "RANK_ID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
    static const char *const local_names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                              "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
    static const char *const world_names[] = {"WORLD_SIZE", "RANK_SIZE",           "OMPI_COMM_WORLD_SIZE",
                                              "PMI_SIZE",   "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"};

    READ_NUMBER(process->rank, rank_names);
    READ_NUMBER(process->local_rank, local_names);
    READ_NUMBER(process->world_size, world_names);
}

void nm_session_note_ranks(void)
{
    read_ranks(nm_process_state.process);
}

static void read_program(nm_ring_process *process)
{
    struct stat info = {0}; /* the kernel's on both processors */

    if (nm_call(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/exe", (long)&info, 0, 0, 0) != 0)
        return;
    process->exe_device = info.st_dev;
    process->exe_inode = info.st_ino;
}

/* Secrets are left out before the file holds any: it outlives the process. */
static void read_command(nm_ring_process *process)
{
    char text[NM_RING_COMMAND_BYTES_MAX];
    size_t len = nm_system_slurp("/proc/self/cmdline", text, sizeof text);

    process->command_bytes = nm_secret_mask_arguments(text, len);
    memcpy(process->command, text, process->command_bytes);
}

static void fill_process(nm_ring_process *process, uint64_t number, uint64_t parent_number, bool is_forked)
{
    process->magic = NM_RING_PROCESS_MAGIC;
    process->number = number;
    process->pid = nm_system_pid();
    process->parent_pid = nm_system_parent_pid();
    process->parent_number = parent_number;
    process->start_time = process_start_time();
    process->pid_namespace = pid_namespace();
    read_program(process);
    process->begin_ticks = nm_state_ticks();
    /* relaxed, here and below: `ready` publishes them. */
    atomic_store_explicit(&process->rank, INT64_MIN, memory_order_relaxed);
    atomic_store_explicit(&process->local_rank, INT64_MIN, memory_order_relaxed);
    atomic_store_explicit(&process->world_size, INT64_MIN, memory_order_relaxed);
    read_ranks(process);
    process->is_forked = is_forked;
    process->is_late = nm_process_state.is_late;
    read_command(process);
    atomic_store_explicit(&process->run_mode, INT64_MIN, memory_order_relaxed);
    /* release: the drain that sees it sees the whole file. */
    __atomic_store_n(&process->ready, NM_RING_PROCESS_MAGIC, __ATOMIC_RELEASE);
}

/* The process's file of nm_process_state.session, filled; NULL when it cannot be made. */
static nm_ring_process *make_process(uint64_t parent_number, bool is_forked)
{
    nm_state *state = &nm_process_state;
    char path[NM_FILE_BYTES_MAX];
    void *memory;
    /* seq_cst, both: pairs with nm_drain_close_idle. Either the drain sees the number and goes on, or it is seen here that it
     * has ended. */
    uint64_t number = atomic_fetch_add_explicit(&state->session->process_count, 1, memory_order_seq_cst) + 1;

    if (atomic_load_explicit(&state->session->is_closed, memory_order_seq_cst) != 0)
        return NULL;
    if (!nm_text_path(path, sizeof path, state->folder, "p.", number) ||
        nm_system_make(path, PAGE_BYTES, PAGE_BYTES, &memory) < 0)
        return NULL;
    fill_process(memory, number, parent_number, is_forked);
    return memory;
}

/* ---- Generations --------------------------------------------------------------------------------------------------- */

/* The page exists once in a process and all its fork children, each with its own content. */
static bool make_generation_page(void)
{
    void *page;

    if (nm_process_state.generation != &nm_state_no_generation)
        return true;
    page = nm_system_memory(PAGE_BYTES);
    if (page == NULL)
        return false;
    /* Before Linux 4.14 this fails, and the handler of pthread_atfork does it alone. */
    nm_call(SYS_madvise, (long)page, PAGE_BYTES, MADV_WIPEONFORK, 0, 0, 0);
    nm_process_state.generation = page;
    return true;
}

/* NPUMEM_UNWIND=fp: stacks are walked by frame pointers, to compare. */
static bool is_by_rules(void)
{
    const char *value = secure_getenv("NPUMEM_UNWIND");

    return value == NULL || strcmp(value, "fp") != 0;
}

/* The last step of joining: threads take rings from here on. */
static void publish_generation(nm_ring_process *process)
{
    nm_state *state = &nm_process_state;

    state->process = process;
    state->process_number = process->number;
    state->pid = (int)process->pid;
    nm_thread_forget_all();
    nm_heap_forget_all();
    nm_modules_forget_all();
    nm_python_begin();
    state->is_by_rules = is_by_rules();
    /* relaxed, both: the generation publishes them. */
    atomic_store_explicit(&state->pauses, state->session->from_step > INT64_MIN ? NM_PAUSED_BY_STEPS : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&state->heeded, UINT32_MAX, memory_order_relaxed);
    state->last_generation++;
    /* release: pairs with the acquire in nm_state_generation; seq_cst, with nm_thread_count_lost. */
    atomic_store_explicit(state->generation, state->last_generation, memory_order_seq_cst);
    atomic_store_explicit(&state->is_recording, 1, memory_order_release);
    nm_thread_tell_early();
}

bool nm_session_join(const char *folder)
{
    nm_state *state = &nm_process_state;
    nm_ring_session *session = NULL;
    nm_ring_process *process = NULL;
    size_t folder_bytes = strlen(folder);

    if (folder_bytes == 0 || folder_bytes >= sizeof state->folder)
        return false;
    if (!make_generation_page()) {
        tell_refused(folder, -ENOMEM);
        return false;
    }
    session = map_session(folder);
    if (session == NULL)
        return false;
    memcpy(state->folder, folder, folder_bytes + 1);
    state->session = session;
    process = make_process(0, false);
    if (process == NULL)
        return false; /* the mapping stays: a page */
    publish_generation(process);
    return true;
}

bool nm_session_join_after_fork(void)
{
    nm_state *state = &nm_process_state;
    uint32_t nobody = 0;
    nm_ring_process *process;

    /* acquire, release: what the thread that joins writes is seen by those that wait for it. Not a lock: who comes second
     * waits a few milliseconds at most and then goes on without recording. */
    if (!atomic_compare_exchange_strong_explicit(&state->is_joining, &nobody, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        for (int i = 0; i < JOIN_WAIT_ROUNDS && nm_state_generation() == 0; i++)
            nm_system_sleep_us(JOIN_WAIT_PAUSE_US);
        return nm_state_generation() != 0;
    }
    if (nm_state_generation() == 0) {
        process = make_process(state->process_number, true);
        if (process != NULL) {
            publish_generation(process);
        } else { /* relaxed: flags. The parent's drain may have ended before this child's first event. */
            atomic_store_explicit(&state->is_recording, 0, memory_order_relaxed);
            atomic_store_explicit(&state->is_awaited, nm_session_host_output() != NULL, memory_order_relaxed);
        }
    }
    atomic_store_explicit(&state->is_joining, 0, memory_order_release);
    return nm_state_generation() != 0;
}

void nm_session_note_end(unsigned end_kind, int64_t end_status)
{
    nm_state *state = &nm_process_state;
    nm_ring_process *process = state->process;

    if (process == NULL || nm_state_generation() == 0 || nm_system_pid() != state->pid)
        return;
    /* relaxed, all: `end_kind` publishes the others. A launcher's shells are not worth a look. */
    if (atomic_load_explicit(&process->end_kind, memory_order_relaxed) != 0)
        return;
    if (state->session->is_sampled && atomic_load_explicit(&process->is_device_user, memory_order_relaxed) != 0)
        nm_resident_note(process);
    atomic_store_explicit(&process->end_status, end_status, memory_order_relaxed);
    atomic_store_explicit(&process->end_ticks, nm_state_ticks(), memory_order_relaxed);
    /* release: pairs with the drain's acquire. */
    atomic_store_explicit(&process->end_kind, (uint64_t)end_kind + 1, memory_order_release);
}
