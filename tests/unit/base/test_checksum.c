/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH64 against what the xxHash project publishes: values for its sanity buffer (byte i is the top byte of a generator
 * that starts with PRIME32_1 and is squared each time), and the well-known value of a text. zstd's frames, whose last four
 * bytes are the low half of the same function, vouch for the lengths between.
 */
#include "base/checksum.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/bytes.h"
#include "support/suites.h"

#define SANITY_BYTES 2243

static void fill_sanity(uint8_t *out, size_t len)
{
    uint64_t generator = 2654435761u;

    for (size_t i = 0; i < len; i++) {
        out[i] = (uint8_t)(generator >> 56);
        generator *= 11400714785074694797u;
    }
}

START_TEST(published_values_are_met)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } published[] = {{0, 0xEF46DB3751D8E999},
                     {1, 0xE934A84ADB052768},
                     {4, 0x9136A0DCA57457EE},
                     {14, 0x8282DCC4994E35C8},
                     {222, 0xB641AE8CB691C174}};
    uint8_t sanity[SANITY_BYTES];

    fill_sanity(sanity, sizeof sanity);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        ck_assert_msg(nm_checksum(sanity, published[i].len) == published[i].hash, "length %zu", published[i].len);
    ck_assert_uint_eq(nm_checksum("abc", 3), 0x44BC2CF5AD770999);
}
END_TEST

START_TEST(zstd_computes_the_same_for_every_length)
{
    uint8_t sanity[SANITY_BYTES], frame[SANITY_BYTES + 512];
    ZSTD_CCtx *zstd = ZSTD_createCCtx();

    fill_sanity(sanity, sizeof sanity);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    for (size_t len = 0; len <= sizeof sanity; len++) {
        size_t bytes = ZSTD_compress2(zstd, frame, sizeof frame, sanity, len);

        ck_assert(!ZSTD_isError(bytes));
        ck_assert_msg(nm_get_u32(frame + bytes - 4) == (uint32_t)nm_checksum(sanity, len), "length %zu", len);
    }
    ZSTD_freeCCtx(zstd);
}
END_TEST

START_TEST(pieces_of_any_length_give_what_the_whole_gives)
{
    uint8_t sanity[SANITY_BYTES];
    nm_checksum_run run;

    fill_sanity(sanity, sizeof sanity);
    for (size_t len = 0; len <= sizeof sanity; len += 7)
        for (size_t piece = 1; piece <= 130; piece += 3) {
            nm_checksum_begin(&run);
            for (size_t at = 0; at < len; at += piece)
                nm_checksum_add(&run, sanity + at, len - at < piece ? len - at : piece);
            nm_checksum_add(&run, NULL, 0);
            ck_assert_msg(nm_checksum_end(&run) == nm_checksum(sanity, len), "length %zu by %zu", len, piece);
        }
}
END_TEST

TEST_SUITE(test_checksum)
{
    Suite *suite = suite_create("checksum");
    TCase *tests = tcase_create("checksum");

    tcase_add_test(tests, published_values_are_met);
    tcase_add_test(tests, zstd_computes_the_same_for_every_length);
    tcase_add_test(tests, pieces_of_any_length_give_what_the_whole_gives);
    suite_add_tcase(suite, tests);
    return suite;
}
