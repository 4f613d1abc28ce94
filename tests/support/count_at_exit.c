/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of every program of the coverage build alone: _exit runs no exit handler, and what a process ran that ends by it would not be
 * counted. The linker puts this in its place (--wrap). And what writes the counts allocates and does not look whether it could: memory
 * is there again by then (tests/tool/failing_calls.c).
 */
#include <stdlib.h>
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

static void give_memory(void)
{
    unsetenv("NO_MEMORY_AT");
}

/* First of all handlers, and so the last. */
__attribute__((constructor)) static void register_memory(void)
{
    atexit(give_memory);
}

void __wrap__exit(int status)
{
    give_memory();
    __gcov_dump();
    __real__exit(status);
}
