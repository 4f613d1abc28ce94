/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of every program of the coverage build alone: _exit runs no exit handler, and what a process ran that ends by it would not be
 * counted. The linker puts this in its place (--wrap).
 */
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
