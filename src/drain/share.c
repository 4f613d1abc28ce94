/* SPDX-License-Identifier: Apache-2.0
 *
 * By niceness, which Linux keeps for each thread. It is less than usual by a fixed number of steps, each a quarter more of
 * the processor: so a program that was started at a low priority stays below others with its recorder.
 */
#include "drain/share.h"

#include <errno.h>
#include <sys/resource.h>

#define STEPS        10 /* nine times the share */
#define NICENESS_MIN (-20)

void nm_share_set(nm_share *share, bool is_more)
{
    int before = errno;

    if (share->is_raised && !is_more) {
        setpriority(PRIO_PROCESS, 0, share->usual_niceness);
        share->is_raised = false;
    } else if (!share->is_raised && is_more && !share->is_refused) {
        share->usual_niceness = getpriority(PRIO_PROCESS, 0);
        int niceness = share->usual_niceness - STEPS;

        share->is_raised = setpriority(PRIO_PROCESS, 0, niceness < NICENESS_MIN ? NICENESS_MIN : niceness) == 0;
        share->is_refused = !share->is_raised;
    }
    errno = before;
}
