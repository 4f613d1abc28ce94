/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that tells a recording what is not everybody's business: `secret_teller HOST USER HOME ARGUMENT RINGS` puts
 * them wherever a program may put text, leaks from two lines, and leaves a copy of its rings at RINGS. Run by secrets.sh.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "npumem.h"

static void leak_here(npumem_heap heap, uintptr_t address)
{
    npumem_alloc(heap, (void *)address, 4096, NULL);
}

static void leak_there(npumem_heap heap, uintptr_t address)
{
    npumem_alloc(heap, (void *)address, 8192, NULL);
}

static const char *text_of(const char *form, const char *what)
{
    static char text[512];

    snprintf(text, sizeof text, form, what);
    return text;
}

int main(int argc, char **argv)
{
    npumem_heap heap;
    char command[1024];
    uint64_t range, category, module;

    if (argc < 6)
        return 2;
    heap = npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options),
                                                     .name = text_of("pool of %s", argv[2]),
                                                     .device = NPUMEM_NO_DEVICE});
    npumem_heap_define(&(npumem_heap_options){
        .struct_bytes = sizeof(npumem_heap_options), .name = "spare of plantedother", .device = NPUMEM_NO_DEVICE});
    npumem_mark("found /home/plantedother/x"); /* what the heap's name means is known from here alone */
    npumem_thread_name(text_of("at %s", argv[1]));
    npumem_mark(text_of("read %s/data/corpus.bin", argv[3]));
    npumem_mark(text_of("run %s begins", argv[4]));
    npumem_mark(text_of("10.11.12.13 and %s", argv[1]));
    npumem_mark("plantedproject of PLANTEDHOST, --api-key plantedkey");
    range = npumem_range_begin(text_of("load %s", argv[3]));
    category = npumem_category_begin(text_of("cache of %s", argv[2]));
    module = npumem_module_begin(text_of("net.%s", argv[2]));
    for (uintptr_t i = 1; i <= 20; i++) {
        leak_here(heap, i * 0x10000);
        leak_there(heap, i * 0x10000 + 0x8000);
    }
    npumem_range_end(module);
    npumem_range_end(category);
    npumem_range_end(range);
    snprintf(command, sizeof command, "cp -r \"%s\" \"%s\"", npumem_folder(), argv[5]);
    return system(command) == 0 ? 0 : 1;
}
