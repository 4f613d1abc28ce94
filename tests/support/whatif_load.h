/* SPDX-License-Identifier: Apache-2.0
 *
 * Workloads for tests, from text traces and from files. Failure ends the test.
 */
#ifndef TESTS_SUPPORT_WHATIF_LOAD_H
#define TESTS_SUPPORT_WHATIF_LOAD_H

#include "whatif/workload.h"

/* Of the largest pool of the text trace; owned by the caller. */
nm_workload *whatif_from_text(const char *text, const nm_workload_options *options);

/* Of a trace or a snapshot. NULL: there is no such file. */
nm_workload *whatif_from_file(const char *path);

#endif
