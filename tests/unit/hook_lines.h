/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the hooks: a test program starts itself again as the recorded program, and what that left in the rings is
 * compared, each event written as a line, with what it is known to have called.
 */
#ifndef NM_TESTS_HOOK_LINES_H
#define NM_TESTS_HOOK_LINES_H

#define AT(value) ((void *)(uintptr_t)(value))

/* In the recorded program, whose functions return 0 when all was as expected: result and errno must be the runtime's. */
#define EXPECT(call, result)                                                                                           \
    do {                                                                                                               \
        errno = 4;                                                                                                     \
        if ((call) != (result) || errno != 33) {                                                                       \
            fprintf(stderr, "%s:%d\n", __FILE__, __LINE__);                                                            \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Runs the program as `PROGRAM name`, without a session and with one; `expected` ends with NULL. */
void hook_lines_check(const char *name, const char *const *expected);

/* The samples of devices' memory, which the other leaves out: some of them come by the clock. */
void hook_lines_check_samples(const char *name, const char *const *expected);

/* Around each test. */
void hook_lines_setup(void);
void hook_lines_teardown(void);

#endif
