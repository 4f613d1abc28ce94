/* SPDX-License-Identifier: Apache-2.0
 *
 * Both sides of the socket. The recording's never waits: it takes what is there, sends what is taken, and gives up a client
 * that is silent when others want its place, or that takes too long. The client's finds the folder of the rings in the
 * trace's first block, or by a process's number, and must refuse what is of another machine.
 */
#include "tool/record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"
#include "tool/common/running.h"
#include "trace/block.h"
#include "trace/files.h"
#include "trace/ring.h"

#define REQUEST_BYTES_MAX 2048
#define REPLY_BYTES_MAX   (64u << 20)
#define CLIENTS_MAX       64
#define ANSWER_MS         30000
#define IDLE_NS           INT64_C(1000000000)  /* then a client has to give way to others that want its place */
#define LIFE_NS           INT64_C(30000000000) /* longer takes none */

typedef struct client {
    int fd;
    char request[REQUEST_BYTES_MAX];
    size_t request_bytes;
    nm_buffer reply;
    size_t reply_at;
    int64_t since_ns; /* CLOCK_MONOTONIC: of its last sign of life */
    bool is_answered; /* what is left of the reply is to be sent, and that is all */
} client;

struct record_control {
    int fd;
    struct sockaddr_un address;
    record_control_answer *answer;
    void *context;
    client *clients[CLIENTS_MAX];
    size_t client_count;
};

static nm_status socket_address(const char *folder, struct sockaddr_un *out, nm_error *err)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (snprintf(out->sun_path, sizeof out->sun_path, "%s/" NM_RING_CONTROL_FILE, folder) >= (int)sizeof out->sun_path)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the path of the rings is too long for a socket");
    return NM_OK;
}

/* ---- The recording's side ------------------------------------------------------------------------------------------ */

nm_status record_control_open(const char *folder, record_control_answer *answer, void *context, record_control **out,
                              nm_error *err)
{
    record_control *control = calloc(1, sizeof *control);
    nm_status status;

    *out = NULL;
    if (control == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    *control = (record_control){.fd = -1, .answer = answer, .context = context};
    status = socket_address(folder, &control->address, err);
    if (status == NM_OK) {
        control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (control->fd < 0 ||
            bind(control->fd, (const struct sockaddr *)&control->address, sizeof control->address) != 0 ||
            listen(control->fd, CLIENTS_MAX) != 0)
            status = nm_fail_errno(err, errno, "cannot listen on a socket");
    }
    if (status != NM_OK) {
        if (control->fd >= 0)
            close(control->fd);
        free(control);
        return status;
    }
    *out = control;
    return NM_OK;
}

static void drop_client(record_control *control, size_t index)
{
    client *dropped = control->clients[index];

    close(dropped->fd);
    nm_buffer_free(&dropped->reply);
    free(dropped);
    control->clients[index] = control->clients[--control->client_count];
}

void record_control_close(record_control *control)
{
    if (control == NULL)
        return;
    while (control->client_count > 0)
        drop_client(control, 0);
    close(control->fd);
    nm_door_remove(control->address.sun_path);
    free(control);
}

/* Nobody keeps others out by doing nothing. */
static void drop_idle_clients(record_control *control, int64_t now_ns)
{
    int64_t idle_ns = control->client_count == CLIENTS_MAX ? IDLE_NS : LIFE_NS;

    for (size_t i = 0; i < control->client_count;)
        if (now_ns - control->clients[i]->since_ns > idle_ns)
            drop_client(control, i);
        else
            i++;
}

static void accept_clients(record_control *control, int64_t now_ns)
{
    int fd;

    drop_idle_clients(control, now_ns);
    while (control->client_count < CLIENTS_MAX &&
           (fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        client *added = calloc(1, sizeof *added);

        if (added == NULL) {
            close(fd);
            return;
        }
        added->fd = fd;
        added->since_ns = now_ns;
        control->clients[control->client_count++] = added;
    }
}

static void answer_client(record_control *control, client *asking)
{
    char *argument = strchr(asking->request, ' ');
    nm_error err = {0};
    nm_status status;

    if (argument != NULL)
        *argument++ = 0;
    status = control->answer(control->context, asking->request, argument != NULL ? argument : "", &asking->reply, &err);
    if (status == NM_OK)
        status = nm_buffer_append(&asking->reply, "ok\n", 3, NULL);
    if (status != NM_OK) {
        asking->reply.len = 0;
        if (nm_buffer_append(&asking->reply, "error: ", 7, NULL) != NM_OK ||
            nm_buffer_append(&asking->reply, err.text, strlen(err.text), NULL) != NM_OK ||
            nm_buffer_append(&asking->reply, "\n", 1, NULL) != NM_OK)
            asking->reply.len = 0;
    }
    asking->is_answered = true;
}

/* False: the client is gone, or asks for nonsense. */
static bool read_request(record_control *control, client *asking)
{
    char *from = asking->request + asking->request_bytes;
    ssize_t got = recv(asking->fd, from, sizeof asking->request - 1 - asking->request_bytes, 0);
    char *end;

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    asking->request_bytes += (size_t)got;
    asking->request[asking->request_bytes] = 0;
    end = strchr(asking->request, '\n');
    if (end == NULL)
        return asking->request_bytes < sizeof asking->request - 1;
    *end = 0;
    answer_client(control, asking);
    return true;
}

/* False: all of it is sent, or nobody takes it. */
static bool send_reply(client *asking, int64_t now_ns)
{
    while (asking->reply_at < asking->reply.len) {
        ssize_t sent =
            send(asking->fd, asking->reply.data + asking->reply_at, asking->reply.len - asking->reply_at, MSG_NOSIGNAL);

        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        asking->reply_at += (size_t)sent;
        asking->since_ns = now_ns;
    }
    return false;
}

void record_control_pass(record_control *control)
{
    int64_t now_ns = nm_clock_monotonic_ns();

    accept_clients(control, now_ns);
    for (size_t i = 0; i < control->client_count;) {
        client *asking = control->clients[i];
        bool stays = asking->is_answered || read_request(control, asking);

        if (stays && asking->is_answered)
            stays = send_reply(asking, now_ns);
        if (stays)
            i++;
        else
            drop_client(control, i);
    }
}

/* ---- The client's side --------------------------------------------------------------------------------------------- */

/* The folder that the first whole block of a trace names. */
static nm_status folder_of_trace(nm_bytes trace, char folder[sizeof((nm_session *)NULL)->ring_folder], nm_error *err)
{
    nm_block_reader *reader = NULL;
    nm_block_header header;
    nm_status status = nm_block_read_header(trace, &header, err);

    if (status != NM_OK)
        return nm_fail(err, NM_ERR_FORMAT, 0, "is not a trace");
    if (header.block_bytes > trace.len)
        return nm_fail(err, NM_ERR_FORMAT, trace.len, "has no whole block");
    status = nm_block_reader_new(&reader, err);
    if (status == NM_OK)
        status = nm_block_reader_open(reader, (nm_bytes){trace.data, header.block_bytes}, &header, err);
    if (status == NM_OK)
        memcpy(folder, nm_block_reader_session(reader)->ring_folder, sizeof((nm_session *)NULL)->ring_folder);
    if (status == NM_OK && folder[0] != 0)
        status = running_check_host(nm_block_reader_session(reader), err);
    nm_block_reader_free(reader);
    if (status == NM_OK && folder[0] == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "was written to a pipe: its recording cannot be found");
    return status;
}

/* Of a recording in parts any will do: the last one is there the longest. */
static nm_status open_trace(const char *trace, int *fd, nm_error *err)
{
    nm_trace_files files;
    nm_status status;

    if (nm_trace_files_is_single(trace))
        return nm_io_open(trace, O_RDONLY | O_NONBLOCK, 0, fd, err);
    status = nm_trace_files_open(&trace, 1, O_RDONLY, &files, err);
    if (status != NM_OK)
        return status;
    *fd = files.items[files.count - 1].fd;
    files.items[files.count - 1].fd = -1;
    nm_trace_files_close(&files);
    return NM_OK;
}

static nm_status find_folder(const char *trace, char folder[sizeof((nm_session *)NULL)->ring_folder], nm_error *err)
{
    struct stat info;
    nm_status status;
    void *data;
    int fd = -1;

    if (running_is_pid(trace))
        return running_find_pid(trace, folder, err);
    if (nm_door_leads_to(trace, S_IFDIR)) {
        snprintf(folder, sizeof((nm_session *)NULL)->ring_folder, "%s", trace);
        return NM_OK;
    }
    status = open_trace(trace, &fd, err);
    if (status != NM_OK)
        return status;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        nm_io_close(fd);
        return nm_fail(err, NM_ERR_FORMAT, 0, "is not a trace");
    }
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    nm_io_close(fd);
    if (data == MAP_FAILED)
        return nm_fail_errno(err, errno, "cannot map");
    status = folder_of_trace((nm_bytes){data, (size_t)info.st_size}, folder, err);
    munmap(data, (size_t)info.st_size);
    return status;
}

/* Opens the socket's name, no link, without connecting to it. It is the caller's, or root's: whoever else may have put it there
 * is not asked, but by root, whom no recording is closed to. */
static nm_status open_socket(const char *folder, int *fd, nm_error *err)
{
    struct stat info;
    int place = nm_door_folder(folder), failure;
    nm_status status = place < 0 ? NM_ERR_IO : nm_door_open_at(place, NM_RING_CONTROL_FILE, O_PATH, 0, fd, NULL);

    failure = errno;
    nm_io_close(place);
    if (status == NM_OK && fstat(*fd, &info) == 0 && S_ISSOCK(info.st_mode) &&
        (info.st_uid == geteuid() || info.st_uid == 0 || geteuid() == 0))
        return NM_OK;
    if (status == NM_OK || failure == EACCES || failure == EPERM)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is recorded by another user");
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "its recording has ended");
}

/* To the socket that is open as `name_fd`; by its path where /proc is not there. */
static int connect_by(int fd, int name_fd, const char *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", name_fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return 0;
    if (errno != ENOENT || socket_address(folder, &address, NULL) != NM_OK)
        return -1;
    return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

static nm_status connect_to(const char *folder, int *fd, nm_error *err)
{
    int name_fd = -1;
    nm_status status = open_socket(folder, &name_fd, err);

    if (status != NM_OK) {
        nm_io_close(name_fd);
        return status;
    }
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = *fd < 0 ? -1 : connect_by(*fd, name_fd, folder), failure = errno;
    nm_io_close(name_fd);
    if (*fd < 0)
        return nm_fail_errno(err, failure, "cannot make a socket");
    if (result == 0)
        return NM_OK;
    close(*fd);
    *fd = -1;
    if (failure == EACCES || failure == EPERM)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is recorded by another user");
    if (failure == ECONNREFUSED)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       "its recorder was killed: npumem-record --finish saves what is left");
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "its recording has ended");
}

static nm_status read_reply(int fd, nm_buffer *reply, nm_error *err)
{
    struct pollfd waited = {.fd = fd, .events = POLLIN};
    char part[65536];
    ssize_t got;

    for (;;) {
        if (poll(&waited, 1, ANSWER_MS) <= 0)
            return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the recording does not answer");
        got = recv(fd, part, sizeof part, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return nm_fail_errno(err, errno, "cannot read the answer");
        if (got == 0)
            return NM_OK;
        if (reply->len + (size_t)got > REPLY_BYTES_MAX)
            return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the answer is too long");
        nm_status status = nm_buffer_append(reply, part, (size_t)got, err);
        if (status != NM_OK)
            return status;
    }
}

/* Takes the last line off the reply: `ok`, or why not. */
static nm_status judge(nm_buffer *reply, nm_error *err)
{
    const char *text = (const char *)reply->data;

    if (reply->len >= 3 && memcmp(text + reply->len - 3, "ok\n", 3) == 0) {
        reply->len -= 3;
        return NM_OK;
    }
    if (reply->len > 8 && memcmp(text, "error: ", 7) == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%.*s", (int)(reply->len - 8), text + 7);
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the recording ended before it answered");
}

nm_status record_control_ask(const char *trace, const char *request, nm_buffer *reply, nm_error *err)
{
    char folder[sizeof((nm_session *)NULL)->ring_folder] = "";
    int fd = -1;
    nm_status status = find_folder(trace, folder, err);

    if (status == NM_OK)
        status = connect_to(folder, &fd, err);
    if (status == NM_OK)
        status = nm_io_write(fd, request, strlen(request), err);
    if (status == NM_OK)
        status = nm_io_write(fd, "\n", 1, err);
    if (status == NM_OK)
        status = read_reply(fd, reply, err);
    if (status == NM_OK)
        status = judge(reply, err);
    if (fd >= 0)
        close(fd);
    return status;
}
