/* SPDX-License-Identifier: Apache-2.0
 *
 * Readable text traces for tests: one definition or event a line becomes the stream of trace/event.h. Independent of the
 * trace format and of every reader and writer under test.
 *
 *     # a comment; blank lines are fine
 *     process 1 pid=100 parent=0 host=h1 rank=0 local_rank=0 world_size=1 run_mode=1 begin=5 command="train --steps 3"
 *     device 1 process=1 ordinal=0 physical=2 kind=npu name=Ascend910B capacity=1024
 *     heap 1 process=1 device=1 level=driver basis=requested name="NPU 0" small=4096 large=1048576
 *     thread 1 process=1 tid=100 name=main ring=0
 *     module 1 process=1 path=/lib/lib.so base=0x1000 bytes=4096
 *     attribute 1 process=1 source=version name=CANN value=8.0     or source=environment
 *     stack 3: train.c:88:forward < train.c:10:main          innermost first; a frame is file:line:function,
 *     stack 4: lib.so+0x10 < main                            module+offset, or a function alone
 *     @10 alloc heap=2 address=0x1000 requested=64 block=512 thread=1 stack=3 stream=7
 *     @20 free heap=2 address=0x1000 detail=device
 *     @-  mark thread=1 name="after warm-up"                 @- : the time is unknown
 *     -   map baseline heap=1 address=0x1000 block=64        the same, for what has no place in time at all
 *
 * Events are named as in nm_event_kind, in lower case (range_begin, state_block, ...); their keys are thread heap address
 * requested block stack stream policy cost error name number detail device source size limit free total until (with
 * `process` for number), and of keyframes and totals of_process count ended_count miss_count live live_count peak
 * generation first_seq last_seq pool; flags are bare words: miss hit async baseline late idle no_stack pending segment. `stream=`
 * sets NM_FLAG_STREAM. A value of `detail` may be a word of the enums in event.h (device, host, h2d, d2h, memset,
 * operator, annotation, hbm, exit, signal, exec, ...). Numbers are decimal or 0x hexadecimal and may be negative. A
 * quoted text may hold \" \\ \n and \xHH, a frame \xHH. Events are numbered from 0, but for baseline and state records.
 * Numbers of stacks and frames from NM_TEXT_FIRST_OWN_ID on are taken for what the text does not number itself.
 */
#ifndef NM_TESTS_TEXT_TRACE_H
#define NM_TESTS_TEXT_TRACE_H

#include "base/error.h"
#include "trace/event.h"

#define NM_TEXT_FIRST_OWN_ID 1000

typedef struct nm_text_trace nm_text_trace;

/* Parses the whole text. NM_ERR_FORMAT: err->offset is the line, from 1. */
nm_status nm_text_trace_open(const char *text, nm_text_trace **out, nm_error *err);

/* The next record; NM_END after the last. What a definition borrows is valid until close. */
nm_status nm_text_trace_next(nm_text_trace *trace, nm_record *out, nm_error *err);
void nm_text_trace_close(nm_text_trace *trace); /* NULL is fine */

/* The number that the text was given as a string, or 0; for tests that compare names. */
uint64_t nm_text_trace_string(const nm_text_trace *trace, const char *string);

#endif
