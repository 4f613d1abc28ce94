/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the error record. Uses vsnprintf only, so that it works when memory is gone.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

nm_status nm_fail(nm_error *err, nm_status status, uint64_t offset, const char *format, ...)
{
    if (err == NULL)
        return status;

    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    err->offset = offset;
    vsnprintf(err->text, sizeof err->text, format, arguments);
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
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);

    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ": %s", strerror(system_errno));
    return NM_ERR_IO;
}
