/* SPDX-License-Identifier: Apache-2.0
 *
 * own_pool [FILE]: a program with a pool of its own, compiled against the installed npumem alone. 10 blocks of 1,000
 * bytes, 7 of them freed. With FILE it records itself into it.
 */
#include <npumem.h>

static char memory[10][1000];

static void use_pool(void)
{
    npumem_heap heap = npumem_heap_define(&(npumem_heap_options){
        .struct_bytes = sizeof(npumem_heap_options),
        .name = "own pool",
        .level = NPUMEM_LEVEL_HOST,
        .device = NPUMEM_NO_DEVICE,
    });

    for (int i = 0; i < 10; i++)
        npumem_alloc(heap, memory[i], sizeof memory[i], NULL);
    for (int i = 0; i < 7; i++)
        npumem_free(heap, memory[i], NULL);
}

int main(int argc, char **argv)
{
    if (npumem_version() != NPUMEM_VERSION)
        return 2;
    if (argc > 1 && npumem_start(&(npumem_start_options){
                        .struct_bytes = sizeof(npumem_start_options),
                        .output_path = argv[1],
                    }) != 0)
        return 3;
    use_pool();
    if (argc > 1 && npumem_stop() != 0)
        return 4;
    return 0;
}
