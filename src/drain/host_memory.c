/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads figures out of /proc by the words that they stand behind: kernels add lines.
 */
#include "drain/host_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

static const char *const lines[NM_HOST_FIGURES] = {
    /* of /proc/PID/status; in kB */
    [NM_MEMORY_HOST_RESIDENT - NM_MEMORY_HOST_RESIDENT] = "\nVmRSS:",
    [NM_MEMORY_HOST_ANONYMOUS - NM_MEMORY_HOST_RESIDENT] = "\nRssAnon:",
    [NM_MEMORY_HOST_SHARED - NM_MEMORY_HOST_RESIDENT] = "\nRssShmem:",
    [NM_MEMORY_HOST_STACK - NM_MEMORY_HOST_RESIDENT] = "\nVmStk:",
    [NM_MEMORY_HOST_PEAK - NM_MEMORY_HOST_RESIDENT] = "\nVmHWM:",
};

bool nm_host_text_read(const char *path, char text[NM_HOST_TEXT_BYTES])
{
    size_t got = 0;
    int fd;

    text[0] = 0;
    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    if (nm_io_read(fd, text, NM_HOST_TEXT_BYTES - 1, &got, NULL) != NM_OK)
        got = 0;
    nm_io_close(fd);
    text[got] = 0;
    return got > 0;
}

static uint64_t find_kib(const char *text, const char *line)
{
    const char *at = strstr(text, line);

    return at == NULL ? NM_HOST_BYTES_UNKNOWN : strtoull(at + strlen(line), NULL, 10) << 10;
}

bool nm_host_memory_read(int64_t pid, nm_host_memory *out)
{
    char path[64], text[NM_HOST_TEXT_BYTES];

    nm_host_memory_clear(out);
    snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    if (!nm_host_text_read(path, text))
        return false;
    for (size_t i = 0; i < NM_HOST_FIGURES; i++)
        out->bytes[i] = find_kib(text, lines[i]);
    return out->bytes[0] != NM_HOST_BYTES_UNKNOWN;
}

void nm_host_memory_clear(nm_host_memory *memory)
{
    for (size_t i = 0; i < NM_HOST_FIGURES; i++)
        memory->bytes[i] = NM_HOST_BYTES_UNKNOWN;
}

uint64_t nm_host_memory_machine(uint64_t *used_bytes)
{
    char text[NM_HOST_TEXT_BYTES];
    bool is_read = nm_host_text_read("/proc/meminfo", text);
    uint64_t bytes = is_read ? find_kib(text, "MemTotal:") : NM_HOST_BYTES_UNKNOWN;
    uint64_t free_bytes = is_read ? find_kib(text, "\nMemAvailable:") : NM_HOST_BYTES_UNKNOWN;

    *used_bytes = bytes == NM_HOST_BYTES_UNKNOWN || free_bytes > bytes ? NM_HOST_BYTES_UNKNOWN : bytes - free_bytes;
    return bytes == NM_HOST_BYTES_UNKNOWN ? 0 : bytes;
}
