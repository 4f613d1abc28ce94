/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded by no_network.sh: a socket of any family but AF_UNIX is refused and noted in the file that ONLY_LOCAL_NOTES
 * names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int socket(int family, int type, int protocol)
{
    const char *path = getenv("ONLY_LOCAL_NOTES");
    int fd;

    if (family == AF_UNIX)
        return (int)syscall(SYS_socket, family, type, protocol);
    fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        dprintf(fd, "family %d\n", family);
        close(fd);
    }
    errno = EACCES;
    return -1;
}
