/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's device and host memory: each calls the real function, gives back what it gave, and tells the
 * recorder: a free before the call, since the address may be handed out again before it returns; everything else after it.
 *
 * A configuration may name another device than the thread's. Managed memory moves between host and device: it is a heap of
 * its own, of the device that is current when it is asked for. Both ways to register are told with the second one's flags.
 */
#include "hook/allocation.h"
#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/hal.h"
#include "hook/hook.h"

/* ---- Device memory ------------------------------------------------------------------------------------------------- */

typedef nm_acl_error device_malloc(void **address, size_t size, int policy);
typedef nm_acl_error configured_malloc(void **address, size_t size, int policy, nm_acl_config *config);

static void tell_request(nm_allocation_call *asked, uint32_t heap, void *const *address, nm_acl_error error)
{
    asked->heap = heap;
    nm_allocation_end(asked, error == ACL_SUCCESS ? *address : NULL, error);
}

static void tell_device_request(nm_allocation_call *asked, int32_t device, unsigned module, void *const *address,
                                nm_acl_error error)
{
    tell_request(asked, nm_hal_heap(NM_SPACE_DRIVER, device, module), address, error);
    if (error == ACL_SUCCESS)
        nm_device_memory_capacity(device);
}

static nm_acl_error hooked_malloc(device_malloc *real, void **address, size_t size, int policy, const void *frame)
{
    nm_allocation_call asked = {.size = size, .policy = (uint32_t)policy, .frame = frame};

    HOOK(nm_record_enter(&guard, frame), nm_allocation_begin(&asked), real(address, size, policy),
         tell_device_request(&asked, nm_current_device(), NM_MODULE_APP, address, error));
}

nm_acl_error aclrtMalloc(void **address, size_t size, int policy)
{
    NEED(aclrtMalloc);
    return hooked_malloc(nm_real.aclrtMalloc, address, size, policy, HERE);
}

nm_acl_error aclrtMallocAlign32(void **address, size_t size, int policy)
{
    NEED(aclrtMallocAlign32);
    return hooked_malloc(nm_real.aclrtMallocAlign32, address, size, policy, HERE);
}

nm_acl_error aclrtMallocCached(void **address, size_t size, int policy)
{
    NEED(aclrtMallocCached);
    return hooked_malloc(nm_real.aclrtMallocCached, address, size, policy, HERE);
}

/* The attribute that a configuration which was accepted names, else NULL. */
static const nm_acl_attribute *configured(const nm_acl_config *config, int attr, nm_acl_error error)
{
    for (size_t i = 0; error == ACL_SUCCESS && config != NULL && config->attrs != NULL && i < config->numAttrs; i++)
        if (config->attrs[i].attr == attr)
            return &config->attrs[i];
    return NULL;
}

static int32_t configured_device(const nm_acl_config *config, nm_acl_error error)
{
    const nm_acl_attribute *found = configured(config, ACL_MALLOC_ATTR_DEVICE_ID, error);

    return found != NULL ? (int32_t)found->value.device : nm_current_device();
}

static unsigned configured_module(const nm_acl_config *config, nm_acl_error error)
{
    const nm_acl_attribute *found = configured(config, ACL_MALLOC_ATTR_MODULE_ID, error);

    return found != NULL ? found->value.module : NM_MODULE_APP;
}

static nm_acl_error hooked_configured(configured_malloc *real, void **address, size_t size, int policy,
                                      nm_acl_config *config, const void *frame)
{
    nm_allocation_call asked = {.size = size, .policy = (uint32_t)policy, .frame = frame};

    HOOK(nm_record_enter(&guard, frame), nm_allocation_begin(&asked), real(address, size, policy, config),
         tell_device_request(&asked, configured_device(config, error), configured_module(config, error), address,
                             error));
}

nm_acl_error aclrtMallocWithCfg(void **address, size_t size, int policy, nm_acl_config *config)
{
    NEED_NEWER(aclrtMallocWithCfg);
    return hooked_configured(nm_real.aclrtMallocWithCfg, address, size, policy, config, HERE);
}

nm_acl_error aclrtMallocForTaskScheduler(void **address, size_t size, int policy, nm_acl_config *config)
{
    NEED_NEWER(aclrtMallocForTaskScheduler);
    return hooked_configured(nm_real.aclrtMallocForTaskScheduler, address, size, policy, config, HERE);
}

nm_acl_error aclrtMemAllocManaged(void **address, uint64_t size, uint32_t flag)
{
    nm_allocation_call asked = {.size = size, .policy = NM_POLICY_UNKNOWN, .frame = HERE};

    NEED_NEWER(aclrtMemAllocManaged);
    HOOK_MEMORY(
        nm_allocation_begin(&asked), nm_real.aclrtMemAllocManaged(address, size, flag),
        tell_request(&asked, nm_record_heap("managed memory", NM_LEVEL_DRIVER, nm_current_device()), address, error));
}

nm_acl_error aclrtFree(void *address)
{
    NEED(aclrtFree);
    return nm_allocation_free(nm_real.aclrtFree, NM_FREE_DEVICE, address, HERE);
}

nm_acl_error aclrtFreeWithDevSync(void *address)
{
    NEED_NEWER(aclrtFreeWithDevSync);
    return nm_allocation_free(nm_real.aclrtFreeWithDevSync, NM_FREE_DEVICE, address, HERE);
}

/* ---- Pinned host memory -------------------------------------------------------------------------------------------- */

nm_acl_error aclrtMallocHost(void **address, size_t size)
{
    nm_allocation_call asked = {.size = size, .frame = HERE};

    NEED(aclrtMallocHost);
    HOOK_MEMORY(nm_allocation_begin(&asked), nm_real.aclrtMallocHost(address, size),
                tell_request(&asked, nm_record_pinned_heap(), address, error));
}

nm_acl_error aclrtMallocHostWithCfg(void **address, uint64_t size, nm_acl_config *config)
{
    nm_allocation_call asked = {.size = size, .frame = HERE};

    NEED_NEWER(aclrtMallocHostWithCfg);
    HOOK_MEMORY(
        nm_allocation_begin(&asked), nm_real.aclrtMallocHostWithCfg(address, size, config),
        tell_request(&asked, nm_hal_heap(NM_SPACE_PINNED, -1, configured_module(config, error)), address, error));
}

nm_acl_error aclrtFreeHost(void *address)
{
    NEED(aclrtFreeHost);
    return nm_allocation_free(nm_real.aclrtFreeHost, NM_FREE_HOST, address, HERE);
}

nm_acl_error aclrtFreeHostWithDevSync(void *address)
{
    NEED_NEWER(aclrtFreeHostWithDevSync);
    return nm_allocation_free(nm_real.aclrtFreeHostWithDevSync, NM_FREE_HOST, address, HERE);
}

/* ---- Registered host memory ---------------------------------------------------------------------------------------- */

static void tell_registered(nm_allocation_call *asked, const void *address, nm_acl_error error)
{
    asked->heap = nm_hal_registered_heap();
    nm_allocation_end(asked, address, error);
}

nm_acl_error aclrtHostRegister(void *address, uint64_t size, int type, void **device_address)
{
    nm_allocation_call asked = {
        .size = size, .policy = type == 0 ? ACL_HOST_REG_MAPPED : (uint32_t)type, .frame = HERE};

    NEED_NEWER(aclrtHostRegister);
    HOOK_MEMORY(nm_allocation_begin(&asked), nm_real.aclrtHostRegister(address, size, type, device_address),
                tell_registered(&asked, address, error));
}

nm_acl_error aclrtHostRegisterV2(void *address, uint64_t size, uint32_t flags)
{
    nm_allocation_call asked = {.size = size, .policy = flags, .frame = HERE};

    NEED_NEWER(aclrtHostRegisterV2);
    HOOK_MEMORY(nm_allocation_begin(&asked), nm_real.aclrtHostRegisterV2(address, size, flags),
                tell_registered(&asked, address, error));
}

nm_acl_error aclrtHostUnregister(void *address)
{
    NEED_NEWER(aclrtHostUnregister);
    return nm_allocation_free(nm_real.aclrtHostUnregister, NM_FREE_REGISTERED, address, HERE);
}
