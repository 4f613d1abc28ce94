/* SPDX-License-Identifier: Apache-2.0
 *
 * The report names its host in a line of its own, "HOST, 2026-11-25 04:14 +0000". What it names further is met in its lines:
 * they are walked twice, as all texts that are redacted.
 */
#include "tool/bundle/report.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/shown.h"

#define BEGIN "npumem self-check: "

nm_status bundle_read_report(const char *path, nm_buffer *out, nm_error *err)
{
    struct stat info;
    int fd = -1;
    nm_status status = nm_io_open(path, O_RDONLY | O_NONBLOCK, 0, &fd, err);

    if (status == NM_OK && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)))
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a file");
    if (status == NM_OK)
        status = nm_io_read_all(fd, BUNDLE_REPORT_BYTES_MAX, out, err);
    nm_io_close(fd);
    if (status != NM_OK)
        return status;
    if (out->len < sizeof BEGIN - 1 || memcmp(out->data, BEGIN, sizeof BEGIN - 1) != 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a report of npumem-record --selfcheck");
    out->len = nm_shown_make((char *)out->data, out->len, "\n\t");
    return NM_OK;
}

/* "vm, 2026-11-25 04:14 +0000": how many bytes the host has; 0: the line is another. */
static size_t host_bytes(const char *line)
{
    const char *comma = strstr(line, ", ");
    size_t digits = comma == NULL ? 0 : strspn(comma + 2, "0123456789");
    size_t len = comma == NULL ? 0 : (size_t)(comma - line);

    return digits == 4 && comma[6] == '-' && memchr(line, ' ', len) == NULL ? len : 0;
}

static nm_status learn_host(nm_store *store, const char *line, nm_buffer *word, nm_error *err)
{
    char host[256];
    size_t len = host_bytes(line);

    if (len == 0 || len >= sizeof host)
        return NM_OK;
    memcpy(host, line, len);
    host[len] = 0;
    return nm_store_redact(store, NM_REDACT_HOST, (nm_bytes){(const uint8_t *)host, len}, word, err);
}

/* `text` is lines, each of which ends in a zero byte here while it is looked at. */
static nm_status walk_lines(nm_store *store, nm_buffer *text, nm_buffer *out, nm_error *err)
{
    nm_buffer line = {0};
    nm_status status = NM_OK;

    for (char *at = (char *)text->data, *end = at + text->len; at < end && status == NM_OK;) {
        char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline == NULL ? end : newline;

        *next = 0;
        status = learn_host(store, at, &line, err);
        if (status == NM_OK)
            status = nm_store_redact(store, NM_REDACT_TEXT, (nm_bytes){(const uint8_t *)at, (size_t)(next - at)}, &line,
                                     err);
        *next = '\n';
        if (status == NM_OK)
            status = nm_buffer_append(out, line.data, line.len, err);
        if (status == NM_OK)
            status = nm_buffer_append(out, "\n", 1, err);
        at = next + 1;
    }
    nm_buffer_free(&line);
    return status;
}

nm_status bundle_redact_report(nm_store *store, nm_buffer *report, nm_error *err)
{
    nm_buffer once = {0}, twice = {0};
    nm_status status = nm_buffer_reserve(report, 1, err); /* for the last line's zero byte */

    if (status == NM_OK)
        status = walk_lines(store, report, &once, err);
    if (status == NM_OK)
        status = walk_lines(store, report, &twice, err);
    nm_buffer_free(&once);
    if (status != NM_OK) {
        nm_buffer_free(&twice);
        return status;
    }
    nm_buffer_free(report);
    *report = twice;
    return NM_OK;
}
