/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream is led elsewhere once, so that no line of a report has to ask whether it is wanted.
 */
#include "tool/common/quiet.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"

void quiet_begin(void)
{
    int nowhere = -1;

    if (nm_io_open("/dev/null", O_WRONLY, 0, &nowhere, NULL) != NM_OK)
        return;
    dup2(nowhere, STDOUT_FILENO);
    nm_io_close(nowhere);
}
