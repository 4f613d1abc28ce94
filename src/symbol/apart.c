/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading an untrusted file in a process of its own: its answers come through a pipe, and whatever becomes of it, the
 * caller goes on. The caller is one without threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/io.h"
#include "symbol/folders.h"

#define CPU_SECONDS_MAX  300
#define MEMORY_BYTES_MAX (UINT64_C(8) << 30) /* of heap; a file is mapped and not counted */
#define ANSWER_BYTES_MAX (256u << 20)
#define TEXT_BYTES_MAX   65536 /* of a name; a longer one is not known */

/* ---- In the process of its own ------------------------------------------------------------------------------------- */

static void set_limits(pid_t parent)
{
    static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct rlimit none = {0, 0}, time = {CPU_SECONDS_MAX, CPU_SECONDS_MAX};
    struct sigaction action;

    /* What the caller does when it is ended is not for this process to do. */
    for (size_t i = 0; i < sizeof end_signals / sizeof *end_signals; i++)
        if (sigaction(end_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(end_signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their own maps are larger */
    struct rlimit memory = {MEMORY_BYTES_MAX, MEMORY_BYTES_MAX};
    setrlimit(RLIMIT_DATA, &memory);
#endif
    unsetenv("DEBUGINFOD_URLS"); /* no look-up over the network */
}

static nm_status put_text(nm_buffer *out, const char *text)
{
    size_t len = text == NULL ? 0 : strlen(text);

    if (len > TEXT_BYTES_MAX)
        len = 0;
    nm_status status = nm_buffer_append_varint(out, len, NULL);
    return status == NM_OK && len > 0 ? nm_buffer_append(out, text, len, NULL) : status;
}

static nm_status put_places(nm_buffer *out, const nm_symbol_list *places)
{
    nm_status status = nm_buffer_append_varint(out, places->count, NULL);

    for (size_t i = 0; i < places->count && status == NM_OK; i++) {
        status = put_text(out, places->items[i].function);
        if (status == NM_OK)
            status = put_text(out, places->items[i].file);
        if (status == NM_OK)
            status = nm_buffer_append_varint(out, places->items[i].line, NULL);
    }
    return status;
}

__attribute__((noreturn)) static void answer(const char *path, const uint64_t *offsets, size_t count, int fd)
{
    nm_symbol_file *file = NULL;
    nm_buffer out = {0};
    nm_status status = nm_symbol_file_open(path, &file, NULL);

    for (size_t i = 0; i < count && status == NM_OK; i++) {
        nm_symbol_list places;

        nm_symbol_file_find(file, offsets[i], &places);
        status = put_places(&out, &places);
        nm_symbol_list_clear(&places);
    }
    if (status == NM_OK)
        status = nm_io_write(fd, out.data, out.len, NULL);
    _exit(status == NM_OK ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- In the caller ------------------------------------------------------------------------------------------------- */

static bool take_text(nm_cursor *cursor, char **out)
{
    nm_bytes text = nm_read_bytes(cursor, nm_read_varint(cursor));

    if (cursor->is_bad || text.len > TEXT_BYTES_MAX)
        return false;
    *out = text.len == 0 ? NULL : strndup((const char *)text.data, text.len);
    return text.len == 0 || *out != NULL;
}

static bool take_places(nm_cursor *cursor, nm_symbol_list *out)
{
    uint64_t count = nm_read_varint(cursor);

    if (cursor->is_bad || count > NM_SYMBOL_DEPTH_MAX)
        return false;
    if (count == 0)
        return true;
    out->items = calloc(NM_SYMBOL_DEPTH_MAX, sizeof *out->items);
    if (out->items == NULL)
        return false;
    for (out->count = 0; out->count < count; out->count++) {
        nm_symbol *symbol = &out->items[out->count];

        if (!take_text(cursor, &symbol->function) || !take_text(cursor, &symbol->file))
            return false;
        symbol->line = nm_read_varint(cursor);
    }
    return !cursor->is_bad;
}

/* Waits for the process and says whether all went well. */
static bool end_well(pid_t child)
{
    int state = 0;

    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(state) && WEXITSTATUS(state) == EXIT_SUCCESS;
}

static nm_status take_answers(int fd, pid_t child, size_t count, nm_symbol_list *out, nm_error *err)
{
    nm_buffer answers = {0};
    nm_status status = nm_io_read_all(fd, ANSWER_BYTES_MAX, &answers, err);

    if (status != NM_OK)
        kill(child, SIGKILL);
    if (!end_well(child) && status == NM_OK)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "its symbols cannot be read");
    nm_cursor cursor = nm_cursor_over(answers.data, answers.len);
    for (size_t i = 0; i < count && status == NM_OK; i++)
        if (!take_places(&cursor, &out[i]))
            status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "its symbols cannot be read");
    nm_buffer_free(&answers);
    return status;
}

nm_status nm_symbol_find_apart(const char *path, const uint64_t *offsets, size_t count, nm_symbol_list *out,
                               nm_error *err)
{
    int ends[2];
    pid_t self = getpid();

    memset(out, 0, count * sizeof *out);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return nm_fail_errno(err, errno, "cannot make a pipe");
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        set_limits(self);
        answer(path, offsets, count, ends[1]);
    }
    close(ends[1]);
    nm_status status =
        child < 0 ? nm_fail_errno(err, errno, "cannot start a process") : take_answers(ends[0], child, count, out, err);
    close(ends[0]);
    for (size_t i = 0; status != NM_OK && i < count; i++)
        nm_symbol_list_clear(&out[i]);
    return status;
}
