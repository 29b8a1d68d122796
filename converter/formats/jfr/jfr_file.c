/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the events of a chunk, and writes it: head, metadata, events, constant pools. */
#include "converter/formats/jfr/jfr_file.h"

enum { HEAD_BYTES = 68, VERSION_MAJOR = 2, VERSION_MINOR = 1, COMPRESSED_INTEGERS = 1 };
#define TICKS_PER_SECOND UINT64_C(1000000000)

static void begin_chunk(struct jfr_file *file)
{
    jfr_bytes_clear(&file->events);
    file->first_ns = UINT64_MAX;
    file->last_ns = 0;
}

void jfr_file_init(struct jfr_file *file, FILE *out, const struct heap_sites *sites)
{
    *file = (struct jfr_file){.out = out};
    jfr_pools_init(&file->pools, sites);
    jfr_put_metadata(&file->metadata);
    begin_chunk(file);
}

void jfr_file_reset(struct jfr_file *file)
{
    jfr_bytes_reset(&file->metadata);
    jfr_bytes_reset(&file->events);
    jfr_bytes_reset(&file->head);
    jfr_bytes_reset(&file->body);
    jfr_pools_reset(&file->pools);
}

struct jfr_bytes *jfr_event_begin(struct jfr_file *file, enum jfr_type type, uint64_t time_ns)
{
    if (time_ns < file->first_ns)
        file->first_ns = time_ns;
    if (time_ns > file->last_ns)
        file->last_ns = time_ns;
    jfr_bytes_clear(&file->body);
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
static uint64_t start_of_chunk(struct jfr_file *file)
{
    uint64_t start_ns = file->first_ns < file->last_ns ? file->first_ns : file->last_ns;
    if (start_ns < file->least_start_ns)
        start_ns = file->least_start_ns;
    file->least_start_ns = start_ns + 1;
    return start_ns;
}

/* Ticks are nanoseconds of the trace. */
static void put_head(struct jfr_file *file, uint64_t metadata_at, uint64_t pools_at, uint64_t size)
{
    struct jfr_bytes *head = &file->head;
    uint64_t start_ns = start_of_chunk(file);
    jfr_bytes_clear(head);
    jfr_put_big_endian(head, UINT64_C(0x464c5200), 4); /* "FLR" */
    jfr_put_big_endian(head, VERSION_MAJOR, 2);
    jfr_put_big_endian(head, VERSION_MINOR, 2);
    jfr_put_big_endian(head, size, 8);
    jfr_put_big_endian(head, pools_at, 8);
    jfr_put_big_endian(head, metadata_at, 8);
    jfr_put_big_endian(head, file->start_ns + start_ns, 8);
    jfr_put_big_endian(head, file->last_ns > start_ns ? file->last_ns - start_ns : 0, 8);
    jfr_put_big_endian(head, start_ns, 8);
    jfr_put_big_endian(head, TICKS_PER_SECOND, 8);
    jfr_put_big_endian(head, COMPRESSED_INTEGERS, 4);
}

static void write_bytes(struct jfr_file *file, const struct jfr_bytes *bytes)
{
    if (bytes->buffer.length > 0)
        fwrite(bytes->buffer.data, 1, bytes->buffer.length, file->out);
}

bool jfr_file_end_chunk(struct jfr_file *file)
{
    struct jfr_bytes pools = {.failed = false};
    uint64_t events_at = HEAD_BYTES + file->metadata.buffer.length;
    uint64_t pools_at = events_at + file->events.buffer.length;
    jfr_pools_put(&file->pools, &pools);
    put_head(file, HEAD_BYTES, pools_at, pools_at + pools.buffer.length);
    bool ok = !file->metadata.failed && !file->events.failed && !pools.failed && !file->head.failed;
    file->failed = file->failed || !ok;
    if (!file->failed) {
        write_bytes(file, &file->head);
        write_bytes(file, &file->metadata);
        write_bytes(file, &file->events);
        write_bytes(file, &pools);
    }
    jfr_bytes_reset(&pools);
    jfr_pools_begin(&file->pools);
    begin_chunk(file);
    return !file->failed;
}
