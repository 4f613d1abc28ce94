/* SPDX-License-Identifier: Apache-2.0
 *
 * A target of the fuzzer: takes bytes that may be anything and gives them to one reader of the tree. What it may not do is crash, hang,
 * leak, or fail without words. Each is a file here, or a few in one, and registers itself:
 *
 *     FUZZ_TARGET(json, .run = read_json)
 *
 * Two programs are made of them: one by libFuzzer (clang), which changes what is in tests/fuzz/corpus/NAME for as long as it is let, and one that
 * gives each file there to its target once, with whatever compiler.
 */
#ifndef NM_TESTS_FUZZ_TARGET_H
#define NM_TESTS_FUZZ_TARGET_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"

#define FUZZ_INPUT_BYTES_MAX ((size_t)1 << 20)

typedef struct fuzz_target fuzz_target;

struct fuzz_target {
    const char *name;
    void (*run)(nm_bytes input);
    /* What stands in a file NAME.txt, as the bytes that `run` takes. NULL: they are the same. */
    nm_status (*from_text)(const char *text, nm_buffer *out, nm_error *err);
    /* Changes `len` bytes, of which there may come to be `room`; how many it is then. NULL: libFuzzer's own way. */
    size_t (*mutate)(uint8_t *data, size_t len, size_t room, unsigned seed);
    fuzz_target *next;
};

#define FUZZ_TARGET(name_of, ...)                                                                                      \
    static __attribute__((constructor)) void name_of##_is_there(void)                                                  \
    {                                                                                                                  \
        static fuzz_target target = {.name = #name_of, __VA_ARGS__};                                                   \
        fuzz_targets_add(&target);                                                                                     \
    }

void fuzz_targets_add(fuzz_target *target);
const fuzz_target *fuzz_target_find(const char *name); /* NULL: none; said, with those that there are */

/* The file as its target takes it, appended to *out. */
nm_status fuzz_read_seed(const fuzz_target *target, const char *path, nm_buffer *out, nm_error *err);

/* What costs much is done with each input where it is given once; the fuzzer does it with one of so many, chosen by its bytes. */
extern bool fuzz_is_thorough;
bool fuzz_is_one_of(nm_bytes input, unsigned count);

#define FUZZ_STORED_OF 64 /* inputs of which one gets into a database, with all its findings */

/* libFuzzer's own changes; 0 where it is not linked. */
size_t fuzz_mutate_bytes(uint8_t *data, size_t len, size_t room);

/* ---- What holds of every reader ---- */

/* Ends the program with these words: libFuzzer keeps the input. */
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__, NULL))
void fuzz_fail(const char *what, const char *file, int line, const char *detail) __attribute__((noreturn));

/* A failure has one line of words, and its status is that of the error. */
void fuzz_check_status(nm_status status, const nm_error *err);

/* ---- Files ---- */

int fuzz_file_of(nm_bytes bytes,
                 unsigned slot); /* without a name, at its start; stays this program's, which uses it again */
const char *fuzz_folder(void);   /* of this process alone, in memory where there is such a place */
void fuzz_write_file(const char *path, nm_bytes bytes);

#endif
