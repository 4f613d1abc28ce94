/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of the output: a pattern of which host, process, time and environment make one file for each recording.
 */
#include "tool/record/output_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static nm_status append_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

static nm_status append_start_time(nm_buffer *out, nm_error *err)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;

    localtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
    return append_text(out, text, err);
}

/* %{NAME}: *at is behind the brace and moves behind the closing one. A variable that is not set is empty. */
static nm_status append_variable(const char **at, nm_buffer *out, nm_error *err)
{
    const char *end = strchr(*at, '}');
    char name[256];

    if (end == NULL || (size_t)(end - *at) >= sizeof name)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%%{ without } in the output's name");
    memcpy(name, *at, (size_t)(end - *at));
    name[end - *at] = 0;
    *at = end + 1;
    const char *value = getenv(name);
    return value == NULL ? NM_OK : append_text(out, value, err);
}

static nm_status append_code(const char **at, pid_t pid, nm_buffer *out, nm_error *err)
{
    char code = *(*at)++, text[256] = "";

    switch (code) {
    case 'h':
        gethostname(text, sizeof text - 1);
        return append_text(out, text, err);
    case 'p':
        snprintf(text, sizeof text, "%lld", (long long)pid);
        return append_text(out, text, err);
    case 't':
        return append_start_time(out, err);
    case '{':
        return append_variable(at, out, err);
    case '%':
        return append_text(out, "%", err);
    default:
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the output's name knows %%h, %%p, %%t, %%{NAME} and %%%%");
    }
}

nm_status record_expand_name(const char *pattern, pid_t pid, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    while (status == NM_OK && *pattern != 0) {
        size_t plain = strcspn(pattern, "%");

        status = nm_buffer_append(out, pattern, plain, err);
        pattern += plain;
        if (status == NM_OK && *pattern == '%') {
            pattern++;
            status = append_code(&pattern, pid, out, err);
        }
    }
    if (status == NM_OK)
        status = nm_buffer_append(out, "", 1, err);
    if (status != NM_OK)
        out->len = 0; /* half a name is none */
    return status;
}
