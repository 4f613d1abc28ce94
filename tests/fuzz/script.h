/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that are large and sound but for little, as what is done to a sound one: a database by SQL, any file by bytes at a place. A line each:
 *
 *     UPDATE heap SET name = char(27)       SQL, one statement
 *     at 16384 05ff00                       these bytes at byte 16384 of the file, as far as it goes
 *     at r.1 4096 05ff00                    of several files: of which
 *     cut 4096                              the file ends there
 *     cut r.1 4096
 *     twice r.1                             the file is there once more behind itself
 *     other r.1 r.2                         the file has the bytes of another
 *     gone r.1                              the file is not there
 *
 * A line that cannot be done is passed over.
 */
#ifndef NM_TESTS_FUZZ_SCRIPT_H
#define NM_TESTS_FUZZ_SCRIPT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/bytes.h"

/* Does the SQL to the database in *file (empty: a new one), and then the rest. */
void fuzz_script_database(nm_bytes script, nm_buffer *file);

typedef struct fuzz_named_file {
    const char *name;
    nm_buffer bytes;
    bool is_gone;
} fuzz_named_file;

/* A line without a name is of the first. */
void fuzz_script_files(nm_bytes script, fuzz_named_file *files, size_t file_count);

/* A fuzz_target.mutate: mostly a further line, of a place in one of the files and of a number that is odd there. 0: libFuzzer's turn. */
size_t fuzz_script_mutate(uint8_t *data, size_t len, size_t room, unsigned seed, const fuzz_named_file *files,
                          size_t file_count);

#endif
