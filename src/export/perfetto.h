/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of an export to Perfetto share: packets, one after the other, and the numbers of tracks. A packet is made in
 * `packet` and written by nm_perfetto_put; nothing of it is kept.
 */
#ifndef NM_EXPORT_PERFETTO_H
#define NM_EXPORT_PERFETTO_H

#include "export/export.h"
#include "export/proto.h"

#define NM_PERFETTO_NAME_BYTES 1024

/* Who wrote a packet: numbers of a text, or of a stack, are of one sequence. */
enum { NM_PERFETTO_SEQUENCE = 1, NM_PERFETTO_HEAP_SEQUENCES = 16 };

/* Field numbers of TracePacket. */
enum {
    NM_PACKET_CLOCKS = 6,
    NM_PACKET_TIME = 8,
    NM_PACKET_SEQUENCE = 10,
    NM_PACKET_EVENT = 11,
    NM_PACKET_INTERNED = 12,
    NM_PACKET_FLAGS = 13,
    NM_PACKET_PROFILE = 37,
    NM_PACKET_TRACK = 60
};

typedef enum nm_perfetto_track {
    NM_TRACK_PROCESS = 1,
    NM_TRACK_LIVE,
    NM_TRACK_RESERVED,
    NM_TRACK_SAMPLE,
    NM_TRACK_SLICES,
    NM_TRACK_MARKS
} nm_perfetto_track;

typedef struct nm_perfetto {
    const nm_export *export;
    nm_proto packet, part, inner, frame; /* `frame` is what nm_perfetto_put uses */
} nm_perfetto;

/* Where times are not known an event is a microsecond, here and in all that is written. */
uint64_t nm_perfetto_uuid(nm_perfetto_track track, int64_t number);

/* Begins a packet of a time; a negative one: of none. */
void nm_perfetto_begin(nm_perfetto *p, uint32_t sequence, int64_t ns);

/* Writes the packet; the stream's own errors are the caller's to see. */
nm_status nm_perfetto_put(nm_perfetto *p, nm_error *err);

/* What was live of each heap at its peak, at marks and at the end, as profiles of processes. */
nm_status nm_perfetto_put_heaps(nm_perfetto *p, nm_error *err);

#endif
