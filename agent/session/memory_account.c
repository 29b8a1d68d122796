/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the agent's memory by part, and keeps it below a ceiling. */
#include "agent/session/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "capture/drain.h"
#include "capture/log.h"

/* Shares of memory=. The ring may take up to four times buffer=. */
#define RING_SHARE 8u
#define RECORDS_SHARE 4u
/* Without memory=. Few threads fill blocks as before, many threads smaller ones. The ring keeps its
 * chunks until their records are written, so it is smaller, too. Records that do not wait in pages
 * of columns need more, or blocks become so small that the drain takes twice as long. */
#define COLUMNS_BYTES ((size_t) 24 << 20)
#define RECORDS_BYTES ((size_t) 48 << 20)
#define MIB ((uint64_t) 1 << 20)

static const char *const names[MEMORY_COUNT] = {
#define MEMORY_NAME(name, text) [MEMORY_##name] = text,
    MEMORY_PARTS(MEMORY_NAME)
#undef MEMORY_NAME
};

void memory_account_limit(struct options *options, struct step_writer_options *writing)
{
    uint64_t ring_bytes = options->memory_bytes / RING_SHARE;
    bool in_columns = (options->events & (TRACED_METHOD | TRACED_REFERENCE)) == 0;
    writing->memory_bytes = in_columns ? COLUMNS_BYTES : RECORDS_BYTES;
    if (ring_bytes == 0)
        return;
    if (options->buffer_bytes > ring_bytes)
        options->buffer_bytes = ring_bytes;
    writing->memory_bytes = (size_t) (options->memory_bytes / RECORDS_SHARE);
    if (options->engine == ENGINE_SAMPLED && options->file_number <= 1)
        log_message("%s: the agent takes at most %" PRIu64 " MiB; above that the trace ends",
                    options->file, options->memory_bytes / MIB);
}

/* Returns the sum. */
static uint64_t memory_account_measure(struct session *session, uint64_t parts[MEMORY_COUNT])
{
    struct session_memory *peaks = &session->drain.memory;
    uint64_t sum = 0;
    for (size_t i = 0; i < MEMORY_COUNT; i++) {
        parts[i] = i == MEMORY_RINGS   ? session->map->header->file_bytes
                   : i == MEMORY_DRAIN ? step_writer_pending_bytes(session->drain.writer)
                                       : memory_of((enum memory_part) i);
        sum += parts[i];
        if (parts[i] > peaks->parts[i])
            peaks->parts[i] = parts[i];
    }
    if (sum > peaks->sum)
        peaks->sum = sum;
    return peaks->now = sum;
}

static void say_too_much(const struct session *session, const uint64_t parts[MEMORY_COUNT])
{
    char text[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < MEMORY_COUNT && used < sizeof text; i++)
        used += (size_t) snprintf(text + used, sizeof text - used, "%s%s %" PRIu64 " MiB",
                                  i == 0 ? "" : ", ", names[i], parts[i] / MIB);
    log_message("%s: the trace ends here: it needs more than memory=%" PRIu64 "m (%s)",
                session->options.file, session->options.memory_bytes / MIB, text);
}

/* Records are written and chunks released before the ceiling counts as exceeded: what waits for a
 * block to become full is the largest part, and the only one that can be given back at once. The
 * ring's mapping does not shrink, but its chunks are used again. */
bool memory_account_keep(struct session *session, void (*give_back)(struct drain *drain),
                         struct drain *drain)
{
    uint64_t parts[MEMORY_COUNT], ceiling = session->options.memory_bytes;
    if (memory_account_measure(session, parts) <= ceiling || ceiling == 0)
        return true;
    give_back(drain);
    if (memory_account_measure(session, parts) <= ceiling)
        return true;
    say_too_much(session, parts);
    return false;
}

void memory_account_put(const struct session *session, struct drain *drain)
{
    char key[64];
    for (size_t i = 0; i < MEMORY_COUNT; i++) {
        snprintf(key, sizeof key, "memory-%s", names[i]);
        drain_put_number(drain, key, session->drain.memory.parts[i]);
    }
    drain_put_number(drain, "memory-peak", session->drain.memory.sum);
}
