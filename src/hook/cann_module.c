/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of CANN's modules, by the numbers that its public headers (log_types.h) and tools give them.
 */
#include "hook/cann_module.h"

#include <stddef.h>
#include <string.h>

static const char *const names[NM_MODULE_COUNT] = {
    [NM_MODULE_UNKNOWN] = "unknown module",
    [1] = "IDEDD",
    [2] = "SCC",
    [3] = "HCCL",
    [4] = "FMK",
    [5] = "CCU",
    [NM_MODULE_DVPP] = "DVPP",
    [7] = "RUNTIME",
    [8] = "CCE",
    [9] = "HDC",
    [10] = "DRV",
    [11] = "NET",
    [22] = "DEVMM",
    [23] = "KERNEL",
    [24] = "LIBMEDIA",
    [25] = "CCECPU",
    [27] = "ROS",
    [28] = "HCCP",
    [29] = "ROCE",
    [30] = "TEFUSION",
    [31] = "PROFILING",
    [32] = "DP",
    [NM_MODULE_APP] = "APP",
    [34] = "TS",
    [35] = "TSDUMP",
    [36] = "AICPU",
    [37] = "LP",
    [38] = "TDT",
    [39] = "FE",
    [40] = "MD",
    [41] = "MB",
    [42] = "ME",
    [43] = "IMU",
    [44] = "IMP",
    [45] = "GE",
    [47] = "CAMERA",
    [48] = "ASCENDCL",
    [49] = "TEEOS",
    [50] = "ISP",
    [51] = "SIS",
    [52] = "HSM",
    [53] = "DSS",
    [54] = "PROCMGR",
    [55] = "BBOX",
    [56] = "AIVECTOR",
    [57] = "TBE",
    [58] = "FV",
    [60] = "TUNE",
    [61] = "HSS",
    [62] = "FFTS",
    [63] = "OP",
    [64] = "UDF",
    [65] = "HICAID",
    [66] = "TSYNC",
    [67] = "AUDIO",
    [68] = "TPRT",
    [69] = "ASCENDCKERNEL",
    [70] = "ASYS",
    [71] = "ATRACE",
    [72] = "RTC",
    [73] = "SYSMONITOR",
    [74] = "AML",
    [75] = "ADETECT",
    [76] = "MBUFF",
    [77] = "CUSTOM",
};

const char *nm_cann_module_name(unsigned module, char text[NM_MODULE_TEXT_BYTES])
{
    static const char prefix[] = "module ";
    size_t len = sizeof prefix - 1;

    if (module < NM_MODULE_COUNT && names[module] != NULL)
        return names[module];
    memcpy(text, prefix, len);
    for (unsigned unit = 10000; unit > 0; unit /= 10) /* as many digits as the 16 bits of a module have */
        if (module >= unit || unit == 1)
            text[len++] = (char)('0' + module / unit % 10);
    text[len] = 0;
    return text;
}
