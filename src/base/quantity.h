/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, shares and times as people write them, the same wherever one is asked for: 60GiB, 15%, 5m. A number has digits, a
 * point and an exponent if it wants; a unit stands behind it, after blanks or none. Signs, words as nan, and anything before
 * or behind are refused, and the refusal says what to write.
 *
 * Units of sizes are powers of 1024, whether they are written K, KB, KiB or Ki; M, G, T and P likewise; B is a byte; large
 * and small letters are the same. Units of times are ns, us, ms, s, m or min, h and d.
 */
#ifndef NM_BASE_QUANTITY_H
#define NM_BASE_QUANTITY_H

#include "base/error.h"

#define NM_QUANTITY_BYTES_MAX (UINT64_C(1) << 62)
#define NM_QUANTITY_BARE_MIN  (UINT64_C(1) << 20) /* a smaller number without a unit may be meant in GiB */
#define NM_QUANTITY_NS_MAX    (UINT64_C(1000000000) * 1000000000)

/* Bytes, to the nearest. A number without a unit is one of bytes: below NM_QUANTITY_BARE_MIN only 0 passes, which is the
 * same in all units. NM_ERR_USAGE: it is no size, or more than NM_QUANTITY_BYTES_MAX. */
nm_status nm_quantity_size(const char *text, uint64_t *bytes, nm_error *err);

/* The same, where any number without a unit is bytes: in languages of others. */
nm_status nm_quantity_bare_size(const char *text, uint64_t *bytes, nm_error *err);

/* 0.15 or 15%: a share from 0 to `most`. NM_ERR_USAGE: it is none. */
nm_status nm_quantity_ratio(const char *text, double most, double *ratio, nm_error *err);

/* Nanoseconds, to the nearest. A number without a unit counts in `bare_ns` of them; where that is 0 it is refused, but for
 * 0. NM_ERR_USAGE: it is no time, or more than NM_QUANTITY_NS_MAX. */
nm_status nm_quantity_time(const char *text, uint64_t bare_ns, uint64_t *ns, nm_error *err);

#endif
