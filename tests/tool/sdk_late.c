/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in an image that has the recorder preloaded: it takes memory, then has itself recorded, frees what it had, and
 * pauses its recording in between. Run by sdk_start.sh, which knows what must come out.
 */
#include <stdint.h>
#include <stdio.h>

#include "npumem.h"

#define BLOCK(number) ((void *)(uintptr_t)(4096 + (number)*512))

int main(int argc, char **argv)
{
    npumem_start_options options = {.struct_bytes = sizeof options, .output_path = argv[argc - 1], .is_watched = 1};
    npumem_heap heap;

    if (npumem_is_recording() || npumem_start(&options) != 0)
        return 1;
    heap = npumem_heap_define(NULL);
    npumem_free(heap, BLOCK(1), NULL); /* from before */
    npumem_alloc(heap, BLOCK(2), 100, NULL);
    npumem_alloc(heap, BLOCK(3), 200, NULL);
    npumem_pause();
    npumem_free(heap, BLOCK(3), NULL);
    npumem_alloc(heap, BLOCK(4), 300, NULL);
    npumem_alloc(heap, BLOCK(5), 400, NULL);
    npumem_free(heap, BLOCK(5), NULL);
    npumem_copy(BLOCK(2), BLOCK(4), 8, NPUMEM_COPY_HOST_TO_HOST, NULL);
    npumem_mark("unheard");
    npumem_snapshot("halfway");
    npumem_resume();
    npumem_mark("heard");
    npumem_free(heap, BLOCK(4), NULL);
    return npumem_stop() == 0 ? 0 : 2;
}
