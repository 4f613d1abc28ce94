/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz --target=NAME [options of libFuzzer] FOLDER...: all targets in one program, of which a run knows one. An input of libFuzzer's, as a crash
 * that it kept, is given to its target alone by fuzz --target=NAME FILE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

static const fuzz_target *target;

const char *__asan_default_options(void);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room, unsigned seed);

/* SQLite allocates much: with few frames of who did, and little kept of what was freed, an input takes half the time. */
const char *__asan_default_options(void)
{
    return "malloc_context_size=8:quarantine_size_mb=16";
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char option[] = "--target=";
    const char *name = NULL;

    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], option, sizeof option - 1) == 0)
            name = (*argv)[i] + sizeof option - 1;
        else if (strcmp((*argv)[i], "--thorough") == 0)
            fuzz_is_thorough = true;
    target = fuzz_target_find(name);
    if (target == NULL)
        exit(2);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    target->run((nm_bytes){data, len});
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    size_t changed = target->mutate == NULL ? 0 : target->mutate(data, len, room, seed);

    return changed != 0 ? changed : fuzz_mutate_bytes(data, len, room);
}
