/* SPDX-License-Identifier: Apache-2.0 */
/* Sets RLIMIT_DATA. */
#include "converter/cli/memory_limit.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "converter/cli/arguments.h"
#include "converter/numbers/quantity.h"

#define DEFAULT_BYTES (UINT64_C(4) << 30)
#define LEAST_BYTES (UINT64_C(16) << 20)

/* AddressSanitizer's shadow memory exceeds any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static uint64_t limit_bytes; /* 0: none */

static void set(uint64_t bytes)
{
    struct rlimit limit;
    if (IS_SANITIZED || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    bool is_none = bytes == 0 || bytes > limit.rlim_max;
    limit.rlim_cur = is_none ? limit.rlim_max : bytes;
    limit_bytes = setrlimit(RLIMIT_DATA, &limit) == 0 && !is_none ? bytes : 0;
}

uint64_t memory_physical_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t) pages * (uint64_t) page_bytes : 0;
}

void memory_limit_set_default(void)
{
    uint64_t half = memory_physical_bytes() / 2;
    set(half > LEAST_BYTES && half < DEFAULT_BYTES ? half : DEFAULT_BYTES);
}

bool take_memory(void *unused, const char *value, const char **fault)
{
    uint64_t bytes;
    (void) unused;
    bool taken = take_size(&bytes, value, fault) && (bytes == 0 || bytes >= LEAST_BYTES);
    *fault = "a size of 16m or more is expected, as 500m or 8g, or 0";
    if (taken)
        set(bytes);
    return taken;
}

void memory_limit_lift(void)
{
    set(0);
}

uint64_t memory_limit_bytes(void)
{
    return limit_bytes != 0 ? limit_bytes : UINT64_MAX;
}

void memory_limit_report(void)
{
    if (limit_bytes == 0)
        return;
    fprintf(stderr,
            "steptrace: the trace needs more memory than the limit of %s "
            "(raise it with --memory=SIZE)\n",
            quantity_of_bytes((double) limit_bytes).text);
}
