/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded by secrets.sh: the machine has a name that can be searched for.
 */
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int gethostname(char *name, size_t bytes)
{
    strncpy(name, "plantedhost.plantednet", bytes);
    return 0;
}
