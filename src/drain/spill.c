/* SPDX-License-Identifier: Apache-2.0
 *
 * A sparse file with the slots in a circle, as the ring is: written by pwrite, which fails where there is no room, read by a
 * mapping. Three stores in a row make each step safe against a kill: the slots, then `end`, then the ring's tail; what stands in
 * both is one position and read once. Nothing here waits, and where the file cannot be had the ring fills as it did without.
 */
#include "drain/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/cgroup.h"
#include "drain/host_memory.h"

#define FILE_BYTES      ((size_t)NM_RING_HEADER_BYTES + NM_SPILL_SLOTS * NM_RING_SLOT_BYTES)
#define FREE_SHARE      2 /* one of so many bytes that are free in the folder */
#define MEMORY_SHARE    4 /* and of so many of memory, where the folder is memory */
#define GIVE_BACK_SLOTS 4096
#define TMPFS_TYPE      0x01021994
#define NAME_BYTES      32

/* ---- How much ------------------------------------------------------------------------------------------------------ */

/* Bytes that are free for the drain, by its machine and by its cgroup. */
static uint64_t free_memory(void)
{
    uint64_t used = NM_HOST_BYTES_UNKNOWN, limit, bytes = nm_host_memory_machine(&used), left = UINT64_MAX;
    nm_cgroup cgroup;

    if (bytes != 0 && used != NM_HOST_BYTES_UNKNOWN)
        left = used < bytes ? bytes - used : 0;
    if (nm_cgroup_find("self", &cgroup) && nm_cgroup_memory(&cgroup, &used, &limit) &&
        (used < limit ? limit - used : 0) < left)
        left = used < limit ? limit - used : 0;
    return left;
}

uint64_t nm_spill_room(const nm_folder *folder, uint64_t held)
{
    uint64_t bytes = NM_SPILL_BYTES_MAX, held_bytes = held * NM_RING_SLOT_BYTES, free_bytes;
    struct statfs info;

    if (fstatfs(folder->fd, &info) != 0)
        return 0;
    /* What is spilled already is gone from what is free: the share is of both. */
    free_bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
    if ((free_bytes + held_bytes) / FREE_SHARE < bytes)
        bytes = (free_bytes + held_bytes) / FREE_SHARE;
    if ((uint32_t)info.f_type == TMPFS_TYPE) {
        free_bytes = free_memory();
        if (free_bytes / MEMORY_SHARE + held_bytes / MEMORY_SHARE < bytes)
            bytes = free_bytes / MEMORY_SHARE + held_bytes / MEMORY_SHARE;
    }
    return bytes > held_bytes ? (bytes - held_bytes) / NM_RING_SLOT_BYTES : 0;
}

/* ---- The file ------------------------------------------------------------------------------------------------------ */

static nm_status open_file(const nm_folder *folder, uint64_t ring_id, int flags, int *fd, nm_error *err)
{
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%c.%llu", NM_RING_SPILL_PREFIX, (unsigned long long)ring_id);
    return nm_door_open_at(folder->fd, name, O_RDWR | flags, 0600, fd, err);
}

/* Its first page is memory before it is mapped; the slots are read only where they have been written. */
static bool make_file(const nm_folder *folder, nm_view *view, int *fd)
{
    nm_ring_spill head = {.magic = NM_RING_SPILL_MAGIC, .ring_id = view->ring_id, .slot_count = NM_SPILL_SLOTS};
    void *data = MAP_FAILED;

    if (open_file(folder, view->ring_id, O_CREAT | O_EXCL, fd, NULL) != NM_OK)
        return false;
    if (nm_io_write_at(*fd, &head, sizeof head, 0, NULL) == NM_OK && ftruncate(*fd, (off_t)FILE_BYTES) == 0)
        data = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (data == MAP_FAILED) {
        nm_io_close(*fd);
        nm_folder_remove_file(folder, NM_RING_SPILL_PREFIX, view->ring_id);
        return false;
    }
    view->spill = (nm_view_spill){.file = data, .map_bytes = FILE_BYTES, .slot_count = NM_SPILL_SLOTS};
    return true;
}

/* Slots between two positions, of which none is written twice: in two pieces where the circle ends between them. */
static uint64_t piece_end(uint64_t from, uint64_t to, uint64_t slot_count)
{
    uint64_t border = (from / slot_count + 1) * slot_count;

    return to < border ? to : border;
}

static uint64_t offset_of(const nm_view *view, uint64_t position)
{
    return NM_RING_HEADER_BYTES + (position & (view->spill.slot_count - 1)) * NM_RING_SLOT_BYTES;
}

static bool write_slots(const nm_view *view, int fd, uint64_t from, uint64_t to)
{
    nm_status status = NM_OK;

    while (from < to && status == NM_OK) {
        uint64_t end = piece_end(from, piece_end(from, to, view->slot_count), view->spill.slot_count);

        status = nm_io_write_at(fd, nm_view_ring_slot(view, from), (end - from) * NM_RING_SLOT_BYTES,
                                offset_of(view, from), NULL);
        from = end;
    }
    return status == NM_OK;
}

/* ---- Spilling ------------------------------------------------------------------------------------------------------ */

uint64_t nm_spill_held(const nm_view *view)
{
    return view->spill.end - view->spill.freed;
}

bool nm_spill_put(const nm_folder *folder, nm_view *view, uint64_t from, uint64_t to)
{
    nm_view_spill *spill = &view->spill;
    bool is_empty = spill->tail == spill->end;
    int fd = -1;

    if (spill->is_refused || to - (is_empty ? from : spill->freed) > NM_SPILL_SLOTS)
        return false;
    if (spill->file == NULL ? !make_file(folder, view, &fd) : open_file(folder, view->ring_id, 0, &fd, NULL) != NM_OK) {
        spill->is_refused = true;
        return false;
    }
    bool is_written = write_slots(view, fd, from, to);
    nm_io_close(fd);
    if (!is_written)
        return false;
    /* release, both: a reader of the file after our death sees the slots. A tail that is not below `end` is an empty spill. */
    if (is_empty) {
        spill->tail = spill->freed = from;
        atomic_store_explicit(&spill->file->tail, from, memory_order_release);
    }
    spill->end = to;
    atomic_store_explicit(&spill->file->end, to, memory_order_release);
    return true;
}

/* Gives the memory of slots back. Where the file system cannot, the circle is all that the file ever has. */
static void give_back(const nm_folder *folder, nm_view *view, uint64_t to)
{
    nm_view_spill *spill = &view->spill;
    int fd;

    if (open_file(folder, view->ring_id, 0, &fd, NULL) != NM_OK)
        return;
    while (spill->freed < to) {
        uint64_t end = piece_end(spill->freed, to, spill->slot_count);

        nm_io.fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset_of(view, spill->freed),
                        (off_t)((end - spill->freed) * NM_RING_SLOT_BYTES));
        spill->freed = end;
    }
    nm_io_close(fd);
}

bool nm_spill_written(const nm_folder *folder, nm_view *view, uint64_t kept)
{
    nm_view_spill *spill = &view->spill;
    uint64_t tail = kept < spill->end ? kept : spill->end;

    if (tail > spill->tail) {
        spill->tail = tail;
        /* release: what is below it is not looked for here any more */
        atomic_store_explicit(&spill->file->tail, tail, memory_order_release);
    }
    if (tail - spill->freed >= GIVE_BACK_SLOTS || (tail == spill->end && spill->freed < tail))
        give_back(folder, view, tail);
    return kept >= spill->end;
}

/* ---- Recovery ------------------------------------------------------------------------------------------------------ */

static bool is_sound(const nm_ring_spill *file, uint64_t ring_id, size_t bytes)
{
    uint64_t slots = file->slot_count;

    return file->magic == NM_RING_SPILL_MAGIC && file->ring_id == ring_id && slots != 0 && (slots & (slots - 1)) == 0 &&
           slots <= (bytes - NM_RING_HEADER_BYTES) / NM_RING_SLOT_BYTES;
}

nm_status nm_spill_take_up(const nm_folder *folder, nm_view *view, nm_error *err)
{
    /* relaxed: a copy, of a ring whose tail nobody moves any more */
    uint64_t ring_tail = atomic_load_explicit(&view->ring->tail, memory_order_relaxed);
    void *data = NULL;
    size_t bytes = 0;
    nm_status status =
        nm_folder_map(folder, NM_RING_SPILL_PREFIX, view->ring_id, NM_RING_HEADER_BYTES, &data, &bytes, err);

    if (status != NM_OK)
        return status == NM_END ? NM_OK : status;
    nm_ring_spill *file = data;
    uint64_t tail = atomic_load_explicit(&file->tail, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&file->end, memory_order_relaxed);
    if (!is_sound(file, view->ring_id, bytes) || tail >= end || end - tail > file->slot_count || ring_tail > end) {
        nm_folder_unmap(folder, data, bytes);
        return NM_OK;
    }
    view->spill = (nm_view_spill){
        .file = file, .map_bytes = bytes, .slot_count = file->slot_count, .tail = tail, .freed = tail, .end = end};
    return NM_OK;
}
