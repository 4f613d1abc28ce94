/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, arguments and units of libdcmi.so are those of Huawei's public DCMI reference; sizes are in mebibytes there. A
 * device is called by its logical number, which is what ASCEND_RT_VISIBLE_DEVICES counts too.
 */
#include "tool/record/devices.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "drain/clock.h"

#define CARDS_MAX    64
#define LIBRARY      "libdcmi.so"
#define LIBRARY_PATH "/usr/local/dcmi/" LIBRARY

typedef struct dcmi_hbm { /* struct dcmi_hbm_info */
    unsigned long long memory_size;
    unsigned int frequency;
    unsigned long long memory_usage;
    int temperature;
    unsigned int bandwidth_rate;
} dcmi_hbm;

typedef struct dcmi_functions {
    void *library; /* NULL: this host has none, or it does not answer */
    int (*init)(void);
    int (*card_list)(int *count, int *cards, int room);
    int (*device_count)(int card, int *count);
    int (*logic_id)(int *logic_id, int card, int device);
    int (*hbm)(int card, int device, dcmi_hbm *out);
} dcmi_functions;

typedef struct used_device { /* a piece of hardware that some process uses */
    uint64_t device_id;      /* of the process that used it last */
    int64_t physical_ordinal;
    uint64_t told_bytes; /* used, as told last */
    bool is_told;
} used_device;

struct record_devices {
    int64_t interval_ns, due_ns;
    dcmi_functions dcmi;
    bool is_opened; /* the library has been looked for: not before a device is used */
    used_device *used;
    size_t used_count, used_capacity;
};

nm_status record_devices_new(int64_t interval_ns, record_devices **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    (*out)->interval_ns = interval_ns;
    return NM_OK;
}

void record_devices_free(record_devices *devices)
{
    if (devices == NULL)
        return;
    if (devices->dcmi.library != NULL)
        dlclose(devices->dcmi.library);
    free(devices->used);
    free(devices);
}

void record_devices_take(void *context, const nm_record *record)
{
    record_devices *devices = context;
    const nm_definition *device = &record->definition;
    size_t at = 0;

    if (record->kind != NM_RECORD_DEFINITION || device->kind != NM_DEFINE_DEVICE ||
        device->device.physical_ordinal == NM_UNKNOWN_NUMBER)
        return;
    while (at < devices->used_count && devices->used[at].physical_ordinal != device->device.physical_ordinal)
        at++;
    if (at == devices->used_count) {
        if (nm_array_grow(&devices->used, &devices->used_capacity, at + 1, sizeof *devices->used, NULL) != NM_OK)
            return; /* one device less to ask about */
        devices->used[devices->used_count++] = (used_device){.physical_ordinal = device->device.physical_ordinal};
    }
    devices->used[at].device_id = device->id;
}

/* ---- The library --------------------------------------------------------------------------------------------------- */

static bool find(void *library, const char *name, void *place)
{
    *(void **)place = dlsym(library, name);
    return *(void **)place != NULL;
}

static void open_library(dcmi_functions *dcmi)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        library = dlopen(LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    if (find(library, "dcmi_init", &dcmi->init) && find(library, "dcmi_get_card_list", &dcmi->card_list) &&
        find(library, "dcmi_get_device_num_in_card", &dcmi->device_count) &&
        find(library, "dcmi_get_device_logic_id", &dcmi->logic_id) &&
        find(library, "dcmi_get_device_hbm_info", &dcmi->hbm) && dcmi->init() == 0)
        dcmi->library = library;
    else
        dlclose(library);
}

/* ---- Asking -------------------------------------------------------------------------------------------------------- */

static used_device *find_used(record_devices *devices, int logic_id)
{
    for (size_t i = 0; i < devices->used_count; i++)
        if (devices->used[i].physical_ordinal == logic_id)
            return &devices->used[i];
    return NULL;
}

static nm_status tell_device(used_device *used, const dcmi_hbm *memory, nm_drain *drain, nm_error *err)
{
    uint64_t used_bytes = (uint64_t)memory->memory_usage << 20, total_bytes = (uint64_t)memory->memory_size << 20;

    if (total_bytes == 0 || used_bytes > total_bytes || (used->is_told && used->told_bytes == used_bytes))
        return NM_OK;
    used->is_told = true;
    used->told_bytes = used_bytes;
    return nm_drain_post(drain,
                         &(nm_event){.kind = NM_EVENT_MEMORY_SAMPLE,
                                     .device_id = used->device_id,
                                     .detail = NM_MEMORY_HBM,
                                     .free_bytes = total_bytes - used_bytes,
                                     .total_bytes = total_bytes},
                         err);
}

static nm_status ask_card(record_devices *devices, int card, nm_drain *drain, nm_error *err)
{
    const dcmi_functions *dcmi = &devices->dcmi;
    nm_status status = NM_OK;
    int count = 0;

    if (dcmi->device_count(card, &count) != 0)
        return NM_OK;
    for (int device = 0; device < count && status == NM_OK; device++) {
        used_device *used;
        dcmi_hbm memory = {0};
        int logic_id = -1;

        if (dcmi->logic_id(&logic_id, card, device) != 0 || (used = find_used(devices, logic_id)) == NULL)
            continue;
        if (dcmi->hbm(card, device, &memory) == 0)
            status = tell_device(used, &memory, drain, err);
    }
    return status;
}

nm_status record_devices_tell(record_devices *devices, nm_drain *drain, nm_error *err)
{
    int64_t now_ns = devices->interval_ns > 0 && devices->used_count > 0 ? nm_clock_monotonic_ns() : 0;
    int cards[CARDS_MAX], count = 0;
    nm_status status = NM_OK;

    if (devices->interval_ns <= 0 || devices->used_count == 0 || now_ns < devices->due_ns)
        return NM_OK;
    devices->due_ns = now_ns + devices->interval_ns;
    if (!devices->is_opened)
        open_library(&devices->dcmi);
    devices->is_opened = true;
    if (devices->dcmi.library == NULL || devices->dcmi.card_list(&count, cards, CARDS_MAX) != 0)
        return NM_OK;
    for (int i = 0; i < count && i < CARDS_MAX && status == NM_OK; i++)
        status = ask_card(devices, cards[i], drain, err);
    return status;
}
