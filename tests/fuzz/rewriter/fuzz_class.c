/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a class file: rewritten with all probes and with those of allocations alone.  What
 * comes out must be a class file that the rewriter takes again.  And its callees, byte by byte. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/rewriter/class_file.h"
#include "agent/rewriter/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t number_of(void *context, const char *class_name, const char *method_name,
                          const char *descriptor, uint16_t access_flags)
{
    static const uint32_t numbers[] = {1, 100, 1000, 0, 100000};
    uint32_t *next = context;
    (void) class_name, (void) method_name, (void) descriptor, (void) access_flags;
    return numbers[(*next)++ % (sizeof numbers / sizeof numbers[0])];
}

enum probes { OBJECTS, ALL, LEAF };

static enum rewrite_result rewrite(const uint8_t *data, size_t size, enum probes probes,
                                   uint8_t **out, size_t *out_bytes)
{
    uint32_t next = 0;
    struct rewrite_error error;
    struct rewrite_request request = {.class_file = data,
                                      .size_bytes = size,
                                      .alloc = probes != LEAF,
                                      .method = probes != OBJECTS,
                                      .references = probes == ALL,
                                      .leaf = probes == LEAF,
                                      .nameless = probes == LEAF,
                                      .method_number = number_of,
                                      .context = &next};
    return class_rewrite(&request, out, out_bytes, &error);
}

static void rewrite_twice(const uint8_t *data, size_t size, enum probes probes)
{
    uint8_t *once = NULL, *twice = NULL;
    size_t once_bytes, twice_bytes;
    if (rewrite(data, size, probes, &once, &once_bytes) == REWRITE_CHANGED) {
        if (rewrite(once, once_bytes, probes, &twice, &twice_bytes) == REWRITE_MALFORMED)
            abort();
    }
    free(once);
    free(twice);
}

static bool look_at(void *context, const struct class_callee *callee)
{
    const struct class_text texts[] = {callee->owner, callee->name, callee->descriptor};
    uint32_t *sum = context;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t at = 0; at < texts[i].length; at++)
            *sum += texts[i].bytes[at];
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sum = 0;
    if (class_has_callee(data, size, look_at, &sum))
        abort();
    rewrite_twice(data, size, OBJECTS);
    rewrite_twice(data, size, ALL);
    rewrite_twice(data, size, LEAF);
    return 0;
}
