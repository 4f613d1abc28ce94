/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule itself; see trust.h. It is compiled into the library that programs load: libc alone, and of it nothing that
 * takes memory, locks or sets errno.
 */
#include "base/trust.h"

#include <string.h>

bool nm_trust_is_own(const struct stat *info, mode_t type, uid_t user)
{
    return (info->st_mode & S_IFMT) == type && info->st_uid == user && (info->st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
           (type != S_IFREG || info->st_nlink == 1);
}

/* Whose these are is the machine's affair; and where a container does not know root, theirs is a number like any. */
static bool is_systems(const char *path)
{
    return strcmp(path, "/dev/shm") == 0 || strcmp(path, "/tmp") == 0;
}

bool nm_trust_is_safe_folder(const char *path, const struct stat *info, uid_t user)
{
    return S_ISDIR(info->st_mode) && (info->st_uid == user || info->st_uid == 0 || is_systems(path)) &&
           ((info->st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info->st_mode & S_ISVTX) != 0);
}

bool nm_trust_is_ours(const struct stat *info, uid_t user)
{
    return (info->st_uid == user || info->st_uid == 0) &&
           ((info->st_mode & S_IWOTH) == 0 || (info->st_mode & S_ISVTX) != 0);
}

bool nm_trust_parent(const char *path, char *parent, size_t parent_bytes)
{
    const char *slash = strrchr(path, '/');
    const char *from = slash != NULL ? path : ".";
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);

    if (len >= parent_bytes)
        return false;
    memcpy(parent, from, len);
    parent[len] = 0;
    return true;
}
