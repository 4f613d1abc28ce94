/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the error record. Uses vsnprintf only, so that it works when memory is gone.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "base/spoken.h"

/* One line, whatever the text quotes: the contents of a damaged file, or the SQL of a view. */
static void write_text(nm_error *err, const char *format, va_list arguments)
{
    vsnprintf(err->text, sizeof err->text, nm_spoken(format), arguments);
    for (char *at = err->text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    err->text[nm_shown_make(err->text, strlen(err->text), "")] = '\0';
}

nm_status nm_fail(nm_error *err, nm_status status, uint64_t offset, const char *format, ...)
{
    if (err == NULL)
        return status;

    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    err->offset = offset;
    err->written[0] = '\0';
    write_text(err, format, arguments);
    va_end(arguments);
    return status;
}

nm_status nm_fail_errno(nm_error *err, int system_errno, const char *format, ...)
{
    if (err == NULL)
        return NM_ERR_IO;

    va_list arguments;
    va_start(arguments, format);
    err->status = NM_ERR_IO;
    err->offset = NM_NO_OFFSET;
    err->written[0] = '\0';
    write_text(err, format, arguments);
    va_end(arguments);

    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ": %s", nm_spoken(strerror(system_errno)));
    return NM_ERR_IO;
}

nm_status nm_fail_write(nm_error *err, int system_errno)
{
    nm_fail_errno(err, system_errno, "cannot write");
    if (err != NULL)
        err->status = NM_ERR_WRITE;
    return NM_ERR_WRITE;
}

nm_status nm_name_written(nm_status status, const char *path, nm_error *err)
{
    if (status != NM_ERR_WRITE || path == NULL || err == NULL || err->written[0] != '\0')
        return status;

    size_t length = strlen(path), room = sizeof err->written - 1;
    snprintf(err->written, sizeof err->written, "%s%s", length > room ? "..." : "",
             length > room ? path + length - room + 3 : path);
    return status;
}

const char *nm_error_subject(const nm_error *err, const char *subject)
{
    return err->written[0] != '\0' ? err->written : subject;
}
