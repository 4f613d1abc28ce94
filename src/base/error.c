/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the error record. Uses vsnprintf only, so that it works when memory is gone.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"

/* One line, whatever the text quotes: the contents of a damaged file, or the SQL of a view. */
static void write_text(nm_error *err, const char *format, va_list arguments)
{
    vsnprintf(err->text, sizeof err->text, format, arguments);
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
    write_text(err, format, arguments);
    va_end(arguments);

    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ": %s", strerror(system_errno));
    return NM_ERR_IO;
}
