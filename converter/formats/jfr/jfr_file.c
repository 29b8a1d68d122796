/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as it is written. Chunks are of bounded size, each with its own metadata and constant
 * pools. A chunk is held in memory until it is complete, so that the output need not be seekable.
 */
#include "converter/formats/jfr/jfr_types.h"

enum { HEAD_BYTES = 68, VERSION_MAJOR = 2, VERSION_MINOR = 1, COMPRESSED_INTEGERS = 1 };
#define TICKS_PER_SECOND UINT64_C(1000000000)

static void jfr_file_begin_chunk(struct jfr_file *file)
{
    bytes_clear(&file->events);
    file->first_ns = UINT64_MAX;
    file->last_ns = 0;
}

void jfr_file_init(struct jfr_file *file, FILE *out, const struct heap_sites *sites)
{
    *file = (struct jfr_file){.out = out};
    jfr_pools_init(&file->pools, sites);
    jfr_put_metadata(&file->metadata);
    jfr_file_begin_chunk(file);
}

void jfr_file_reset(struct jfr_file *file)
{
    bytes_reset(&file->metadata);
    bytes_reset(&file->events);
    bytes_reset(&file->head);
    bytes_reset(&file->body);
    jfr_pools_reset(&file->pools);
}

struct byte_output *jfr_event_begin(struct jfr_file *file, enum jfr_type type, uint64_t time_ns)
{
    if (time_ns < file->first_ns)
        file->first_ns = time_ns;
    if (time_ns > file->last_ns)
        file->last_ns = time_ns;
    bytes_clear(&file->body);
    jfr_put_number(&file->body, type);
    jfr_put_number(&file->body, time_ns);
    return &file->body;
}

void jfr_event_end(struct jfr_file *file)
{
    jfr_put_event(&file->events, &file->body);
}

/* Returns the chunk's first tick.  JDK Mission Control takes chunks that begin at the same time for
 * one, so each begins after the one before. */
static uint64_t jfr_file_start_of_chunk(struct jfr_file *file)
{
    uint64_t start_ns = file->first_ns < file->last_ns ? file->first_ns : file->last_ns;
    if (start_ns < file->least_start_ns)
        start_ns = file->least_start_ns;
    file->least_start_ns = start_ns + 1;
    return start_ns;
}

/* Ticks are nanoseconds of the trace. */
static void jfr_file_put_head(struct jfr_file *file, uint64_t metadata_at, uint64_t pools_at,
                              uint64_t size)
{
    struct byte_output *head = &file->head;
    uint64_t start_ns = jfr_file_start_of_chunk(file);
    bytes_clear(head);
    bytes_put_big(head, UINT64_C(0x464c5200), 4); /* "FLR" */
    bytes_put_big(head, VERSION_MAJOR, 2);
    bytes_put_big(head, VERSION_MINOR, 2);
    bytes_put_big(head, size, 8);
    bytes_put_big(head, pools_at, 8);
    bytes_put_big(head, metadata_at, 8);
    bytes_put_big(head, file->start_ns + start_ns, 8);
    bytes_put_big(head, file->last_ns > start_ns ? file->last_ns - start_ns : 0, 8);
    bytes_put_big(head, start_ns, 8);
    bytes_put_big(head, TICKS_PER_SECOND, 8);
    bytes_put_big(head, COMPRESSED_INTEGERS, 4);
}

static void jfr_file_write(struct jfr_file *file, const struct byte_output *bytes)
{
    if (bytes->bytes.length > 0)
        fwrite(bytes->bytes.data, 1, bytes->bytes.length, file->out);
}

bool jfr_file_end_chunk(struct jfr_file *file)
{
    struct byte_output pools = {.failed = false};
    uint64_t events_at = HEAD_BYTES + file->metadata.bytes.length;
    uint64_t pools_at = events_at + file->events.bytes.length;
    jfr_pools_put(&file->pools, &pools);
    jfr_file_put_head(file, HEAD_BYTES, pools_at, pools_at + pools.bytes.length);
    bool ok = !file->metadata.failed && !file->events.failed && !pools.failed && !file->head.failed;
    file->failed = file->failed || !ok;
    if (!file->failed) {
        jfr_file_write(file, &file->head);
        jfr_file_write(file, &file->metadata);
        jfr_file_write(file, &file->events);
        jfr_file_write(file, &pools);
    }
    bytes_reset(&pools);
    jfr_pools_begin(&file->pools);
    jfr_file_begin_chunk(file);
    return !file->failed;
}
