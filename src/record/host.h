/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording of this host: what a process joins that npumem-record is not around, but that finds NPUMEM_OUTPUT in its
 * environment (npumem-record --print-env). At its first event, not before: a shell that never comes to one costs nothing.
 *
 * Processes and drain meet at a door: a file whose name follows from user and output pattern. Its first two bytes stand for
 * locks that belong to an open file, so that a child inherits them and the kernel gives them back when the last holder dies:
 *
 *     NM_HOST_START_BYTE   whoever holds it starts the drain, which inherits it and keeps it for its life
 *     NM_HOST_READY_BYTE   the drain has taken it after it wrote the path of its ring folder into the door
 *
 * So two drains never serve one door, and one that was killed leaves nothing that the next would have to clear away. A
 * drain that ends closes its session first and removes the door then: who comes in between looks for the door again.
 */
#ifndef NM_RECORD_HOST_H
#define NM_RECORD_HOST_H

#include <stdbool.h>

/* Joins it where the process waits for it, once, and starts its drain where there is none: in bounded time. True when the
 * process records then. */
bool nm_host_join(void);

#endif
