/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of queries/, for tests that look at each.
 */
#ifndef NM_TESTS_SUPPORT_QUERIES_H
#define NM_TESTS_SUPPORT_QUERIES_H

/* Calls `check` with the name and text of every query, and gives how many there are. Ends the test on failure. */
int queries_each(void (*check)(const char *name, const char *text));

#endif
