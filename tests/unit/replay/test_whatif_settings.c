/* SPDX-License-Identifier: Apache-2.0
 *
 * PYTORCH_NPU_ALLOC_CONF: what is legal, what it means, and what it makes of sizes; sizes by hand.
 */
#include "support/suites.h"
#include "whatif/settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static nm_caching_settings parsed(const char *text)
{
    nm_caching_settings settings = nm_caching_settings_default(true);
    nm_error err;

    ck_assert_msg(nm_caching_settings_parse(text, &settings, &err) == NM_OK, "'%s': %s", text, err.text);
    return settings;
}

static void expect_refused(const char *text)
{
    nm_caching_settings settings = nm_caching_settings_default(true);
    nm_error err = {0};

    ck_assert_msg(nm_caching_settings_parse(text, &settings, &err) == NM_ERR_USAGE, "'%s' was taken", text);
    ck_assert_msg(err.text[0] != 0, "'%s' without a word", text);
}

START_TEST(legal_texts_mean_what_torch_npu_takes_them_for)
{
    ck_assert(!parsed("").is_expandable);
    ck_assert_uint_eq(parsed("max_split_size_mb:21").max_split_bytes, 21 * MIB);
    ck_assert(parsed("expandable_segments:True").is_expandable);
    ck_assert(!parsed("expandable_segments:False,max_split_size_mb:64").is_expandable);
    ck_assert_double_eq_tol(parsed("garbage_collection_threshold:0.8").collect_threshold, 0.8, 1e-12);
    ck_assert_uint_eq(parsed(" max_split_size_mb : 128 , garbage_collection_threshold : 0.6 ").max_split_bytes,
                      128 * MIB);
    ck_assert_uint_eq(parsed("base_addr_aligned_kb:0,expandable_segments:True").alignment_bytes, 0);
    ck_assert_uint_eq(parsed("segment_size_mb:40").page_bytes, 40 * MIB);
    ck_assert(parsed("page_size:1g").has_gigabyte_pages);
    ck_assert_double_eq_tol(parsed("per_process_memory_fraction:1").memory_fraction, 1, 1e-12);
    ck_assert_uint_eq(parsed("large_segment_size_mb:40").large_segment_bytes, 40 * MIB);
    ck_assert_uint_eq(parsed("large_segment_size_mb:40").page_bytes, 40 * MIB); /* of expandable segments as well, */
    ck_assert_uint_eq(parsed("segment_size_mb:80,large_segment_size_mb:40").page_bytes, 80 * MIB); /* unless set */
    ck_assert_uint_eq(parsed("segment_size_mb:80").large_segment_bytes, 20 * MIB);
    ck_assert_uint_eq(parsed("max_non_split_rounding_mb:32").spare_bytes, 32 * MIB);
    parsed("pinned_use_background_threads:True,multi_stream_lazy_reclaim:False");
    parsed("pin_memory_expandable_segments:True,release_lock_on_npumalloc:True");
}
END_TEST

START_TEST(illegal_texts_are_refused_with_a_reason)
{
    static const char *const texts[] = {
        "max_split_size_mb:20",
        "max_split_size_mb",
        "max_split_size_mb:",
        "max_split_size_mb:-64",
        "max_split_size_mb:12x",
        "max_split_size_mb:64 garbage_collection_threshold:0.5",
        "garbage_collection_threshold:0",
        "garbage_collection_threshold:1",
        "garbage_collection_threshold:nan",
        "expandable_segments:true",
        "expandable_segments:1",
        "expandable_segments:True,max_split_size_mb:64",
        "garbage_collection_threshold:0.5,expandable_segments:True",
        "base_addr_aligned_kb:17",
        "segment_size_mb:19",
        "segment_size_mb:513",
        "large_segment_size_mb:10",
        "max_split_size_mb:39,large_segment_size_mb:40",
        "max_non_split_rounding_mb:20",
        "page_size:2m",
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:[256:1,300:2]",
        "roundup_power2_divisions:[256:1",
        "roundup_power2_divisions:[256",
        "no_such_option:1",
        ":",
        "[",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_refused(texts[i]);
    nm_caching_settings gpu = nm_caching_settings_default(false); /* PyTorch itself does not mind */
    ck_assert_int_eq(nm_caching_settings_parse("expandable_segments:True,max_split_size_mb:64", &gpu, NULL), NM_OK);
}
END_TEST

START_TEST(every_cut_of_a_text_is_taken_or_refused)
{
    static const char text[] = "max_split_size_mb:64,roundup_power2_divisions:[256:1,512:2,>:4],page_size:1g";
    char cut[sizeof text];

    for (size_t len = 0; len < sizeof text; len++) {
        nm_caching_settings settings = nm_caching_settings_default(true);
        nm_bucket_settings buckets = nm_bucket_settings_default();
        nm_error err;

        memcpy(cut, text, len);
        cut[len] = 0;
        nm_status status = nm_caching_settings_parse(cut, &settings, &err);
        ck_assert(status == NM_OK || status == NM_ERR_USAGE);
        status = nm_bucket_settings_parse(cut, &buckets, &err);
        ck_assert(status == NM_OK || status == NM_ERR_USAGE);
    }
}
END_TEST

START_TEST(written_settings_read_back_the_same)
{
    static const char *const texts[] = {
        "",
        "expandable_segments:True",
        "max_split_size_mb:128,garbage_collection_threshold:0.8",
        "roundup_power2_divisions:8",
        "expandable_segments:True,segment_size_mb:40,base_addr_aligned_kb:0",
        "per_process_memory_fraction:0.5,page_size:1g",
        "large_segment_size_mb:40",
        "large_segment_size_mb:40,max_non_split_rounding_mb:30,segment_size_mb:20",
    };
    char out[NM_SETTINGS_BYTES];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        nm_caching_settings settings = parsed(texts[i]);

        nm_caching_settings_write(&settings, out);
        ck_assert_str_eq(out, texts[i]);
    }
    nm_caching_settings mixed = parsed("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
    nm_caching_settings_write(&mixed, out);
    nm_caching_settings again = parsed(out);
    ck_assert_mem_eq(again.divisions, mixed.divisions, sizeof mixed.divisions);
}
END_TEST

START_TEST(sizes_are_rounded_as_worked_out_by_hand)
{
    nm_caching_settings npu = nm_caching_settings_default(true), gpu = nm_caching_settings_default(false);
    nm_caching_settings four = parsed("roundup_power2_divisions:4"), larger = parsed("large_segment_size_mb:64");

    ck_assert_uint_eq(nm_caching_block_bytes(&npu, 0, false), 512);
    ck_assert_uint_eq(nm_caching_block_bytes(&npu, 480, false), 512);
    ck_assert_uint_eq(nm_caching_block_bytes(&npu, 481, false), 1024);
    ck_assert_uint_eq(nm_caching_block_bytes(&gpu, 512, false), 512);
    ck_assert_uint_eq(nm_caching_block_bytes(&npu, 41943040, false), 41943552); /* as the real allocator did */
    ck_assert_uint_eq(nm_caching_block_bytes(&npu, 1024, true), 1024);
    ck_assert_uint_eq(nm_caching_block_bytes(&four, 5 * MIB, false), 6 * MIB);
    ck_assert_uint_eq(nm_caching_block_bytes(&four, 5 * MIB - 32, false), 5 * MIB);
    ck_assert_uint_eq(nm_caching_block_bytes(&four, 1000, false), 1536); /* too small for four parts of 512 */
    ck_assert_uint_eq(nm_caching_segment_bytes(&npu, MIB), 2 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&npu, MIB + 512), 20 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&npu, 10 * MIB - 512), 20 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&npu, 10 * MIB), 10 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&larger, 10 * MIB - 512), 64 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&larger, 10 * MIB), 10 * MIB);
    ck_assert_uint_eq(nm_caching_segment_bytes(&npu, 41943552), 44040192);
}
END_TEST

START_TEST(intervals_of_divisions_reach_as_far_as_they_say)
{
    nm_caching_settings settings = parsed("roundup_power2_divisions:[4:2,16:8,>:4]");

    ck_assert_uint_eq(settings.divisions[0], 2); /* below the first one: as the first one */
    ck_assert_uint_eq(settings.divisions[1], 2);
    ck_assert_uint_eq(settings.divisions[2], 2);
    ck_assert_uint_eq(settings.divisions[3], 0); /* not named */
    ck_assert_uint_eq(settings.divisions[4], 8);
    ck_assert_uint_eq(settings.divisions[5], 4);
    ck_assert_uint_eq(settings.divisions[15], 4);
}
END_TEST

START_TEST(bucket_pools_are_told_their_classes)
{
    nm_bucket_settings settings = nm_bucket_settings_default();
    nm_error err;

    ck_assert_uint_eq(settings.class_bytes[0], 512);
    ck_assert_uint_eq(settings.class_bytes[settings.class_count - 1], 64 * MIB);
    ck_assert_int_eq(nm_bucket_settings_parse(
                         "initial:1GiB,maximum:2GiB,alignment:256,slab:4MiB,classes:[100,4KiB,1MiB]", &settings, &err),
                     NM_OK);
    ck_assert_uint_eq(settings.initial_bytes, 1024 * MIB);
    ck_assert_uint_eq(settings.class_count, 3);
    ck_assert_uint_eq(settings.class_bytes[0], 256); /* aligned */
    static const char *const wrong[] = {
        "classes:[4KiB,4KiB]",       "classes:[1MiB,4KiB]", "alignment:100",     "slab:0",
        "initial:2GiB,maximum:1GiB", "classes:[4 KB]",      "classes:fibonacci", "size:3"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(nm_bucket_settings_parse(wrong[i], &settings, &err) == NM_ERR_USAGE, "%s", wrong[i]);
}
END_TEST

TEST_SUITE(test_whatif_settings)
{
    Suite *suite = suite_create("whatif_settings");
    TCase *tcase = tcase_create("all");

    tcase_add_test(tcase, legal_texts_mean_what_torch_npu_takes_them_for);
    tcase_add_test(tcase, illegal_texts_are_refused_with_a_reason);
    tcase_add_test(tcase, every_cut_of_a_text_is_taken_or_refused);
    tcase_add_test(tcase, written_settings_read_back_the_same);
    tcase_add_test(tcase, sizes_are_rounded_as_worked_out_by_hand);
    tcase_add_test(tcase, intervals_of_divisions_reach_as_far_as_they_say);
    tcase_add_test(tcase, bucket_pools_are_told_their_classes);
    suite_add_tcase(suite, tcase);
    return suite;
}
