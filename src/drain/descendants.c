/* SPDX-License-Identifier: Apache-2.0
 *
 * One listing of /proc a look, compared with that of the last: a process is asked for its parent once, when it is new (who ran
 * before us is not asked), and
 * descends from us if that one does (who outlives its parent has become our own child, since we are a subreaper). Of those
 * that descend, the session's mapping tells that they record; that is asked again only when a process has become another
 * program, which shows by where its stack begins. What does not record is looked at each time: has it the runtime's code in
 * its memory, or a device open?
 *
 * Nothing is traced or stopped. A process is found only while it runs at a look, and only where /proc lets us read it. Who
 * has the recorder's library may join with its first event yet, so that only a device that is open for long tells.
 */
#include "drain/descendants.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/secret.h"
#include "base/text.h"
#include "drain/clock.h"
#include "drain/loadable.h"

#define LOOK_NS           100000000   /* between two looks, at least */
#define LOOK_SHARE        100         /* of the time, one part for looking */
#define JOIN_NS           10000000000 /* from an open device to its first event: setting a device takes seconds */
#define STAT_BYTES_MAX    1024
#define MAPS_BYTES_MAX    (64u << 20)
#define ENVIRON_BYTES_MAX (4u << 20)
#define COMMAND_BYTES_MAX 160
#define TEXT_BYTES_MAX    1024
#define FOUND_MAX         1000

typedef enum standing { UNPLACED, FOREIGN, UNRECORDED, RECORDED, SAID } standing;

typedef struct nm_listed_process {
    int64_t pid, parent_pid;
    uint64_t start_time, stack_begin; /* which process and which program; 0: not asked */
    int64_t opened_ns;                /* a device was first seen open in one that has the library; 0: none is */
    standing standing;
    char state;
} listed_process;

void nm_descendants_fini(nm_descendants *descendants)
{
    for (size_t i = 0; i < descendants->found_count; i++)
        free(descendants->found[i]);
    free(descendants->found);
    free(descendants->old);
    free(descendants->listed);
}

/* ---- Who there is -------------------------------------------------------------------------------------------------- */

static int compare_pids(const void *a, const void *b)
{
    const listed_process *first = a, *second = b;

    return (first->pid > second->pid) - (first->pid < second->pid);
}

static nm_status list_processes(nm_descendants *descendants, nm_error *err)
{
    DIR *all = nm_door_list("/proc");
    nm_status status = NM_OK;
    struct dirent *entry;

    descendants->count = 0;
    while (all != NULL && status == NM_OK && (entry = readdir(all)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        status = nm_array_grow(&descendants->listed, &descendants->capacity, descendants->count + 1,
                               sizeof *descendants->listed, err);
        if (status == NM_OK)
            descendants->listed[descendants->count++] =
                (listed_process){.pid = atoll(entry->d_name), .standing = UNPLACED};
    }
    if (all != NULL)
        closedir(all);
    if (status == NM_OK && descendants->count > 0) /* the kernel lists them in order */
        qsort(descendants->listed, descendants->count, sizeof *descendants->listed, compare_pids);
    return status;
}

/* What was known of those that were there at the last look. */
static void take_known(nm_descendants *descendants)
{
    size_t at = 0;

    for (size_t i = 0; i < descendants->count; i++) {
        while (at < descendants->old_count && descendants->old[at].pid < descendants->listed[i].pid)
            at++;
        if (at < descendants->old_count && descendants->old[at].pid == descendants->listed[i].pid)
            descendants->listed[i] = descendants->old[at];
    }
}

static bool read_file(int64_t pid, const char *name, size_t max_bytes, nm_buffer *out)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, name);
    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    bool is_read = nm_io_read_all(fd, max_bytes, out, NULL) == NM_OK && nm_buffer_append(out, "", 1, NULL) == NM_OK;
    nm_io_close(fd);
    return is_read;
}

/* Words 3, 4, 22 and 28 of /proc/PID/stat, behind the program's name. False: it has gone. */
static bool read_stat(int64_t pid, listed_process *out)
{
    nm_buffer text = {0};
    bool is_read = read_file(pid, "stat", STAT_BYTES_MAX, &text);
    const char *at = is_read ? strrchr((const char *)text.data, ')') : NULL;
    unsigned long long start_time = 0, stack_begin = 0;
    long long parent_pid = 0;

    is_read =
        at != NULL &&
        sscanf(at + 1,
               " %c %lld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s "
               "%*s %llu",
               &out->state, &parent_pid, &start_time, &stack_begin) == 4;
    out->parent_pid = parent_pid;
    out->start_time = start_time;
    out->stack_begin = stack_begin;
    nm_buffer_free(&text);
    return is_read;
}

/* ---- Who descends from whom ---------------------------------------------------------------------------------------- */

static listed_process *find(const nm_descendants *descendants, int64_t pid)
{
    listed_process key = {.pid = pid};

    return descendants->count == 0
               ? NULL
               : bsearch(&key, descendants->listed, descendants->count, sizeof *descendants->listed, compare_pids);
}

/* A process that has joined: what it starts is to be recorded, whoever is its ancestor. */
static bool has_joined(const nm_processes *processes, int64_t pid)
{
    const uint64_t *index = processes->pid_namespace == 0
                                ? NULL
                                : nm_map_get(&processes->by_pid, (nm_key){processes->pid_namespace, (uint64_t)pid});

    return index != NULL && !processes->items[*index].is_ended;
}

static bool is_ancestor(const nm_descendants *descendants, int64_t pid)
{
    const listed_process *parent = find(descendants, pid);

    return pid == getpid() || has_joined(descendants->processes, pid) || (parent != NULL && parent->standing > FOREIGN);
}

/* A parent may have the higher number, once numbers have come round: until nothing changes any more. */
static void place_new(nm_descendants *descendants)
{
    bool has_changed = true;

    for (size_t i = 0; i < descendants->count; i++) {
        listed_process *listed = &descendants->listed[i];

        if (listed->standing == UNPLACED && (listed->pid == getpid() || !read_stat(listed->pid, listed)))
            listed->standing = FOREIGN;
    }
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < descendants->count; i++) {
            listed_process *listed = &descendants->listed[i];

            if (listed->standing != UNPLACED ||
                !(has_joined(descendants->processes, listed->pid) || is_ancestor(descendants, listed->parent_pid)))
                continue;
            listed->standing = UNRECORDED;
            has_changed = true;
        }
    }
    for (size_t i = 0; i < descendants->count; i++)
        if (descendants->listed[i].standing == UNPLACED)
            descendants->listed[i].standing = FOREIGN;
}

/* ---- What one does ------------------------------------------------------------------------------------------------- */

typedef struct sight {
    bool is_recorded; /* it has the session in its memory */
    bool is_readable;
    bool has_library; /* the recorder's */
    size_t runtime;   /* the first of runtimes that it has, or RUNTIME_COUNT */
    char what[64];    /* "" or what it does with a device */
} sight;

/* How the files begin that hold CANN's runtime and driver, the best known first. */
static const char *const runtimes[] = {"libascendcl.so", "libacl_rt", "libruntime.so", "libruntime_v",
                                       "libascend_hal.so"};

#define RUNTIME_COUNT (sizeof runtimes / sizeof *runtimes)

/* The index of the one that the name begins with, or their count. */
static size_t which_begins(const char *name, const char *const *begins, size_t count)
{
    size_t i = 0;

    while (i < count && strncmp(name, begins[i], strlen(begins[i])) != 0)
        i++;
    return i;
}

/* A line of maps: where, rights, where in the file, device, inode, path. Who reads symbols of a library maps it without its
 * code. */
static void take_line(const nm_descendants *descendants, const char *line, sight *out)
{
    static const char *const libraries[] = {"libnpumem_hook.so", "libnpumem_libascend_kernel_hook.so"};
    const char *rights = strchr(line, ' '), *path = strchr(line, '/');

    if (rights == NULL || path == NULL)
        return;
    if (strstr(path, strrchr(descendants->processes->merge->folder->path, '/')) != NULL)
        out->is_recorded = true;
    if (which_begins(nm_path_name(path), libraries, 2) < 2)
        out->has_library = true;
    size_t runtime = rights[3] == 'x' ? which_begins(nm_path_name(path), runtimes, RUNTIME_COUNT) : RUNTIME_COUNT;
    if (runtime < out->runtime) {
        out->runtime = runtime;
        snprintf(out->what, sizeof out->what, "loaded %s", nm_path_name(path));
    }
}

/* No memory at all: it is about to end. */
static void look_at_memory(const nm_descendants *descendants, int64_t pid, sight *out)
{
    nm_buffer maps = {0};

    *out = (sight){.runtime = RUNTIME_COUNT};
    out->is_readable = read_file(pid, "maps", MAPS_BYTES_MAX, &maps) && maps.len > 1;
    for (char *at = (char *)maps.data, *end; out->is_readable && (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = 0;
        take_line(descendants, at, out);
    }
    nm_buffer_free(&maps);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* By its name below any dev: another root may stand before it. Devices that answer questions alone (davinci_manager,
 * nvidiactl) take no memory. */
static bool is_device(const char *path)
{
    const char *name = nm_path_name(path);

    if (name - path < 5 || strncmp(name - 5, "/dev/", 5) != 0)
        return false;
    return (strncmp(name, "davinci", 7) == 0 && is_digit(name[7])) || strcmp(name, "devmm_svm") == 0 ||
           (strncmp(name, "nvidia", 6) == 0 && is_digit(name[6])) || strcmp(name, "nvidia-uvm") == 0;
}

static void look_at_files(int64_t pid, sight *out)
{
    char path[64], target[PATH_MAX];
    struct dirent *entry;
    bool is_found = false;

    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    DIR *files = nm_door_list(path);
    while (files != NULL && !is_found && (entry = readdir(files)) != NULL) {
        ssize_t len = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);

        target[len > 0 ? len : 0] = 0;
        is_found = is_device(target);
    }
    if (files != NULL)
        closedir(files);
    if (is_found)
        snprintf(out->what, sizeof out->what, "opened %s", strstr(target, nm_path_name(target)) - 5);
}

/* Who has the library joins when it is loaded, or with its first event: it is named once a device has been open for long. */
static bool is_using(listed_process *listed, int64_t now_ns, sight *out)
{
    if (out->has_library)
        out->what[0] = 0;
    if (out->what[0] == 0)
        look_at_files(listed->pid, out);
    if (!out->has_library)
        return out->what[0] != 0;
    if (out->what[0] == 0)
        listed->opened_ns = 0;
    else if (listed->opened_ns == 0)
        listed->opened_ns = now_ns;
    return out->what[0] != 0 && now_ns - listed->opened_ns >= JOIN_NS;
}

/* Two looks say the same: what is read of a process that is at work is no picture of one moment. */
static bool is_unrecorded(const nm_descendants *descendants, listed_process *listed, int64_t now_ns, sight *out)
{
    for (int i = 0; i < 2; i++) {
        look_at_memory(descendants, listed->pid, out);
        if (!out->is_readable || out->is_recorded || !is_using(listed, now_ns, out))
            return false;
    }
    return true;
}

/* ---- Why ----------------------------------------------------------------------------------------------------------- */

/* The value of a variable in the list of an environment; NULL: it is not set. */
static const char *value_of(const nm_buffer *environment, const char *name)
{
    const char *at = (const char *)environment->data, *end = at + environment->len;
    size_t len = strlen(name);

    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return at + len + 1;
    return NULL;
}

static bool names_library(const char *list)
{
    return strstr(list, "libnpumem_hook.so") != NULL || strstr(list, "libnpumem_libascend_kernel_hook.so") != NULL;
}

static void explain_joining(const nm_descendants *descendants, const nm_buffer *environment, char *out, size_t size)
{
    const char *session = value_of(environment, NM_RING_ENVIRONMENT);

    bool has_session = session != NULL && *session != 0;

    if (!has_session && value_of(environment, NM_HOST_ENVIRONMENT) == NULL)
        snprintf(out, size, "it loaded the recorder, but " NM_RING_ENVIRONMENT " did not reach it");
    else if (has_session && strcmp(session, descendants->processes->merge->folder->path) != 0)
        snprintf(out, size, "it is in another recording");
    else
        snprintf(out, size, "it loaded the recorder, but did not join");
}

static void explain_loading(int64_t pid, const nm_buffer *environment, char *out, size_t size)
{
    static const char *const reasons[] = {
        [NM_LOADABLE_STATIC] = "it is static",
        [NM_LOADABLE_RAISED] = "it is setuid or setgid",
        [NM_LOADABLE_CAPABLE] = "its file has capabilities",
        [NM_LOADABLE_OTHER_LIBC] = "it is built for another libc",
        [NM_LOADABLE_OTHER_MACHINE] = "it is built for another kind of processor",
    };
    const char *list = value_of(environment, "LD_PRELOAD");
    nm_loadable loadable = NM_LOADABLE;
    char path[64];

    snprintf(path, sizeof path, "/proc/%lld/exe", (long long)pid);
    nm_loadable_judge(path, &loadable);
    if (loadable != NM_LOADABLE)
        snprintf(out, size, "%s", reasons[loadable]);
    else if (list == NULL || *list == 0)
        snprintf(out, size, "LD_PRELOAD was taken from its environment");
    else if (!names_library(list))
        snprintf(out, size, "LD_PRELOAD was set to %s", list);
    else
        snprintf(out, size, "it could not load the library of the recorder");
}

static void name_command(int64_t pid, char out[COMMAND_BYTES_MAX + 1])
{
    nm_buffer command = {0};
    size_t len = 0;

    if (read_file(pid, "cmdline", NM_TEXT_BYTES_MAX, &command))
        len = nm_secret_mask_arguments((char *)command.data, command.len - 1);
    while (len > 0 && command.data[len - 1] == 0)
        len--;
    for (size_t i = 0; i < len; i++)
        if (command.data[i] == 0)
            command.data[i] = ' ';
    out[nm_text_cut(command.data, len, COMMAND_BYTES_MAX, out)] = 0;
    nm_buffer_free(&command);
}

/* False: somebody said that it was not to be recorded. */
static bool describe(const nm_descendants *descendants, int64_t pid, const sight *seen, char text[TEXT_BYTES_MAX])
{
    char command[COMMAND_BYTES_MAX + 1], why[TEXT_BYTES_MAX / 2];
    nm_buffer environment = {0};
    bool is_read = read_file(pid, "environ", ENVIRON_BYTES_MAX, &environment);
    const char *off = is_read ? value_of(&environment, "NPUMEM") : NULL;
    bool is_off = off != NULL && strcmp(off, "off") == 0;

    if (!is_read)
        snprintf(why, sizeof why, "its environment cannot be read");
    else if (seen->has_library)
        explain_joining(descendants, &environment, why, sizeof why);
    else
        explain_loading(pid, &environment, why, sizeof why);
    nm_buffer_free(&environment);
    name_command(pid, command);
    snprintf(text, TEXT_BYTES_MAX, "pid %lld, %s: %s; %s", (long long)pid, command, seen->what, why);
    text[nm_secret_mask_text(text, strlen(text))] = 0;
    return !is_off;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

static nm_status judge(nm_descendants *descendants, listed_process *listed, int64_t now_ns, nm_error *err)
{
    const nm_folder *folder = descendants->processes->merge->folder;
    char text[TEXT_BYTES_MAX];
    sight seen;

    if (!is_unrecorded(descendants, listed, now_ns, &seen)) {
        listed->standing = seen.is_recorded ? RECORDED : UNRECORDED;
        return NM_OK;
    }
    listed->standing = SAID;
    if (!describe(descendants, listed->pid, &seen, text) || nm_folder_has_refused(folder, (uint64_t)listed->pid) ||
        descendants->found_count == FOUND_MAX)
        return NM_OK;
    nm_status status = nm_array_grow(&descendants->found, &descendants->found_capacity, descendants->found_count + 1,
                                     sizeof *descendants->found, err);
    char *kept = status == NM_OK ? strdup(text) : NULL;

    if (kept != NULL)
        descendants->found[descendants->found_count++] = kept;
    return status == NM_OK && kept == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : status;
}

/* Another program under the same pid is looked at anew. */
static nm_status look_at(nm_descendants *descendants, listed_process *listed, int64_t now_ns, nm_error *err)
{
    listed_process now = *listed;

    if (!read_stat(listed->pid, &now) || now.state == 'Z' || now.state == 'X')
        return NM_OK;
    if (now.start_time != listed->start_time || now.stack_begin != listed->stack_begin) {
        now.standing = UNRECORDED;
        now.opened_ns = 0;
    }
    *listed = now;
    return now.standing == UNRECORDED ? judge(descendants, listed, now_ns, err) : NM_OK;
}

static void keep_list(nm_descendants *descendants)
{
    struct nm_listed_process *list = descendants->old;
    size_t capacity = descendants->old_capacity;

    descendants->old = descendants->listed;
    descendants->old_count = descendants->count;
    descendants->old_capacity = descendants->capacity;
    descendants->listed = list;
    descendants->capacity = capacity;
}

/* Our own children among those listed are to be asked. */
static void leave_children(nm_descendants *descendants)
{
    nm_buffer text = {0};
    char name[64];

    snprintf(name, sizeof name, "task/%lld/children", (long long)getpid());
    const char *at = read_file(getpid(), name, MAPS_BYTES_MAX, &text) ? (const char *)text.data : "";
    for (char *end = NULL; *at != 0; at = end) {
        listed_process *child = find(descendants, strtoll(at, &end, 10));

        if (end == at)
            break;
        if (child != NULL)
            child->standing = UNPLACED;
    }
    nm_buffer_free(&text);
}

/* Who ran before us was started by nobody here, and is not asked. Without memory for the list all are, at the first look. */
void nm_descendants_init(nm_descendants *descendants, nm_processes *processes)
{
    *descendants = (nm_descendants){.processes = processes};
    if (list_processes(descendants, NULL) != NM_OK)
        descendants->count = 0;
    for (size_t i = 0; i < descendants->count; i++)
        if (descendants->listed[i].pid < getpid())
            descendants->listed[i].standing = FOREIGN;
    leave_children(descendants);
    keep_list(descendants);
}

/* Of this thread: a machine that is busy with others makes no look dearer. */
static int64_t processor_ns(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

nm_status nm_descendants_look(nm_descendants *descendants, bool is_forced, nm_error *err)
{
    int64_t now_ns = nm_clock_monotonic_ns(), begin_ns = processor_ns(), cost_ns;
    nm_status status;

    if (!is_forced && now_ns < descendants->look_at_ns)
        return NM_OK;
    status = list_processes(descendants, err);
    if (status != NM_OK)
        return status;
    take_known(descendants);
    place_new(descendants);
    for (size_t i = 0; i < descendants->count && status == NM_OK; i++)
        if (descendants->listed[i].standing > FOREIGN)
            status = look_at(descendants, &descendants->listed[i], now_ns, err);
    keep_list(descendants);
    cost_ns = (processor_ns() - begin_ns) * LOOK_SHARE;
    descendants->look_at_ns = now_ns + (cost_ns > LOOK_NS ? cost_ns : LOOK_NS);
    return status;
}

nm_status nm_descendants_write(nm_descendants *descendants, nm_error *err)
{
    nm_status status = NM_OK;

    while (descendants->written_count < descendants->found_count && status == NM_OK) {
        status =
            nm_processes_note_unseen(descendants->processes, 1, descendants->found[descendants->written_count], err);
        descendants->written_count += status == NM_OK;
    }
    return status;
}
