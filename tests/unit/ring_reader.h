/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the recorder: a session folder as a drain would make it, and a reader of rings written from trace/ring.h
 * alone, which moves the tail as a drain does.
 */
#ifndef NM_TESTS_RING_READER_H
#define NM_TESTS_RING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"
#include "trace/ring.h"

typedef struct session_fixture {
    char folder[64];
    nm_ring_session *session;
} session_fixture;

/* A session in a new folder, with the smallest rings and no stacks unless the test changes that before joining. */
void session_open(session_fixture *fixture);
void session_close(session_fixture *fixture); /* removes the folder */

/* The process file with that number, mapped; NULL when there is none. */
nm_ring_process *session_process(const session_fixture *fixture, uint64_t number);

#define READER_RINGS_MAX 1024

typedef struct reader_record {
    uint64_t ring_id;
    uint64_t thread_number; /* by the last NM_RING_THREAD in that ring */
    uint64_t position;
    unsigned kind;
    uint64_t words[NM_RING_RECORD_SLOTS_MAX * 7];
} reader_record;

typedef void reader_callback(void *context, const reader_record *record);

typedef struct reader_ring {
    nm_ring *ring;
    size_t bytes;
    uint64_t cursor;
    uint64_t thread_number;
} reader_ring;

typedef struct ring_reader {
    const session_fixture *fixture;
    reader_ring rings[READER_RINGS_MAX]; /* by ring_id - 1 */
    bool keeps_tail;                     /* true: tails stay, so that rings fill */
    uint64_t torn_count;                 /* further slots that were not what the first announced: must stay 0 */
    uint64_t open_count;                 /* slots claimed and not published at the last look */
} ring_reader;

void reader_open(ring_reader *reader, const session_fixture *fixture);
void reader_close(ring_reader *reader);

/* Hands over every record that is published and not read yet, ring by ring; the number of records. */
size_t reader_poll(ring_reader *reader, reader_callback *callback, void *context);

/* The text behind a record's head. */
const char *reader_text(const reader_record *record, size_t head_bytes);

#endif
