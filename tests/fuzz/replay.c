/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_replay TARGET PATH...: gives each file (of a folder: each in it) to its target once. Any compiler makes it, and what a target does not
 * survive ends it.
 * fuzz_replay --seeds TARGET FROM TO: writes the files of a folder as libFuzzer wants them: as the target takes them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

typedef void take_file(const fuzz_target *target, const char *path, nm_bytes input);

static const char *seeds_folder;

static void replay(const fuzz_target *target, const char *path, nm_bytes input)
{
    /* As libFuzzer gives them: of the length that it has, so that a sanitizer sees who reads behind it. */
    uint8_t *copy = malloc(input.len);

    fprintf(stderr, "%s\n", path);
    FUZZ_REQUIRE(copy != NULL || input.len == 0);
    if (input.len > 0)
        memcpy(copy, input.data, input.len);
    target->run((nm_bytes){copy, input.len});
    free(copy);
}

static void write_seed(const fuzz_target *target, const char *path, nm_bytes input)
{
    char out[4096];

    (void)target;
    snprintf(out, sizeof out, "%s/%s", seeds_folder, strrchr(path, '/') + 1);
    fuzz_write_file(out, input);
}

static int take_path(const fuzz_target *target, const char *path, take_file *take)
{
    nm_buffer input = {0};
    nm_error err = {0};

    if (fuzz_read_seed(target, path, &input, &err) != NM_OK) {
        fprintf(stderr, "fuzz_replay: %s: %s\n", path, err.text);
        nm_buffer_free(&input);
        return EXIT_FAILURE;
    }
    take(target, path, (nm_bytes){input.data, input.len});
    nm_buffer_free(&input);
    return EXIT_SUCCESS;
}

static int take_folder(const fuzz_target *target, const char *path, take_file *take)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort), result = EXIT_SUCCESS, taken = 0;

    if (count < 0)
        return take_path(target, path, take);
    for (int i = 0; i < count; i++) {
        char file[4096];

        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && ++taken > 0)
            result |= take_path(target, file, take);
        free(entries[i]);
    }
    free(entries);
    if (taken == 0)
        fprintf(stderr, "fuzz_replay: %s: there is nothing in it\n", path);
    return taken == 0 ? EXIT_FAILURE : result;
}

int main(int argc, char **argv)
{
    bool makes_seeds = argc == 5 && strcmp(argv[1], "--seeds") == 0;
    const fuzz_target *target = argc < 3 ? NULL : fuzz_target_find(argv[makes_seeds ? 2 : 1]);
    int result = EXIT_SUCCESS;

    if (target == NULL) {
        fprintf(stderr, "usage: fuzz_replay TARGET PATH... | --seeds TARGET FROM TO\n");
        return 2;
    }
    fuzz_is_thorough = true;
    seeds_folder = argv[argc - 1];
    if (makes_seeds)
        return take_folder(target, argv[3], write_seed);
    for (int i = 2; i < argc; i++)
        result |= take_folder(target, argv[i], replay);
    return result;
}
