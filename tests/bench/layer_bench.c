/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_bench TRACE [ROUNDS]: what each layer of loading takes of a recorded trace, by leaving out those behind it: its events are read;
 * read and replayed, with the books alone; with all passes, whose rows go nowhere; with sums of these rows. In ns of the processor
 * an event, the least of the rounds; what is more in npumem-ingest is the database.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "sites/definitions.h"
#include "source/source.h"
#include "sums/sums.h"

typedef enum layer { READ, BOOKS, PASSES, SUMS, LAYERS } layer;

static const char *const names[LAYERS] = {"read", "books", "passes", "sums"};

typedef struct taker {
    nm_definitions definitions;
    nm_sums *sums; /* NULL: rows go nowhere */
    uint64_t row_count;
} taker;

static nm_status take_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    taker *to = context;

    to->row_count++;
    if (to->sums == NULL)
        return NM_OK;
    nm_status status = kind == NM_ROW_DEFINITION ? nm_definitions_add(&to->definitions, row, err) : NM_OK;
    return status == NM_OK ? nm_sums_row(to->sums, kind, row, err) : status;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other work on the machine is not counted */
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static nm_status read_all(nm_source *source, nm_replay *replay, uint64_t *event_count, nm_error *err)
{
    nm_record record;
    nm_status status;

    while ((status = nm_source_next(source, &record, err)) == NM_OK) {
        *event_count += record.kind == NM_RECORD_EVENT;
        if (replay != NULL && (status = nm_replay_record(replay, &record, err)) != NM_OK)
            return status;
    }
    if (status != NM_END)
        return status;
    return replay != NULL ? nm_replay_finish(replay, err) : NM_OK;
}

/* Seconds; the program ends where the trace cannot be read. */
static double time_one(const char *path, layer last, uint64_t *event_count)
{
    taker to = {0};
    nm_sink sink = last >= PASSES ? nm_sink_of_all(&to, take_row) : (nm_sink){0};
    nm_source *source = NULL;
    nm_replay *replay = NULL;
    nm_error err = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    double begin = seconds();
    nm_status status = nm_source_open(fd, &source, &err);

    *event_count = 0;
    if (status == NM_OK && last == SUMS)
        status = nm_sums_new(&to.definitions, &to.sums, &err);
    if (status == NM_OK && last >= BOOKS)
        status = nm_replay_new(&sink, last >= PASSES ? nm_passes : NULL, &replay, &err);
    if (status == NM_OK)
        status = read_all(source, replay, event_count, &err);
    double took = seconds() - begin;
    if (status != NM_OK) {
        fprintf(stderr, "layer_bench: %s: %s\n", path, err.text);
        exit(1);
    }
    nm_replay_free(replay);
    nm_sums_free(to.sums);
    nm_definitions_free(&to.definitions);
    nm_source_close(source);
    close(fd);
    return took;
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    double least[LAYERS] = {0}, before = 0;
    uint64_t event_count = 0;

    if (argc < 2 || rounds < 1) {
        fprintf(stderr, "usage: layer_bench TRACE [ROUNDS]\n");
        return 2;
    }
    for (int round = 0; round < rounds; round++)
        for (layer last = READ; last < LAYERS; last++) {
            double took = time_one(argv[1], last, &event_count);

            least[last] = round == 0 || took < least[last] ? took : least[last];
        }
    for (layer last = READ; last < LAYERS; last++) {
        double ns = least[last] * 1e9 / (double)(event_count == 0 ? 1 : event_count);

        printf("%-6s %7.1f ns an event, %7.1f with all before it\n", names[last], ns - before, ns);
        before = ns;
    }
    return 0;
}
