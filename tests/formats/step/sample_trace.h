/* SPDX-License-Identifier: Apache-2.0 */
/* A definition with every kind of field, records made from a seed, and their comparison. */
#ifndef TESTS_UNIT_FORMAT_STEP_SAMPLE_TRACE_H
#define TESTS_UNIT_FORMAT_STEP_SAMPLE_TRACE_H

#include "format/core/bytes.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"

extern const char sample_definition_text[];

/* Record types of the definition. */
enum sample_record {
    SAMPLE_NAME,  /* dictionary: string text */
    SAMPLE_POINT, /* by value: x, y, label */
    SAMPLE_EVENT, /* time, thread */
    SAMPLE_ALLOC, /* and class, size, object */
    SAMPLE_BIG,   /* extends ALLOC, nothing of its own */
    SAMPLE_FREE,  /* and object */
    SAMPLE_LATE,  /* extends EVENT with `time` modified, and mark given thread */
    SAMPLE_SHAPE, /* and center, points, tags, blob */
    SAMPLE_EMPTY, /* no field at all */
    SAMPLE_COUNT
};

enum { SAMPLE_MAX_SLOTS = 16 };

struct step_definition *sample_definition(void);

/* The slots of record `number` of `stream`: its type is returned.  All they point to lives until
 * the next call with the same `storage`. */
struct sample_storage {
    uint64_t slots[SAMPLE_MAX_SLOTS];
    struct step_bytes bytes[32];
    struct step_array arrays[8];
    uint64_t elements[64];
    char text[32][16];
};
uint32_t sample_record(uint64_t stream, uint64_t number, struct sample_storage *storage);

/* True if both are the same record, all that they point to included. */
bool sample_same(uint32_t record, const uint64_t *left, const uint64_t *right);

/* The text of dictionary entry `id`. */
const char *sample_name(uint64_t id, char room[24]);

/* Writes `streams` streams of `records` records each, and `names` dictionary entries, to `file`. */
void sample_write(const struct step_definition *definition, struct step_buffer *file,
                  enum step_compression compression, uint32_t block_records, uint64_t streams,
                  uint64_t records, uint64_t names);

/* The same with a choice of the layout. */
struct sample_shape {
    enum step_compression compression;
    enum step_write_layout layout;
    uint32_t block_records;
    uint64_t streams;
    uint64_t records;
    uint64_t names;
};
void sample_write_shape(const struct step_definition *definition, struct step_buffer *file,
                        const struct sample_shape *shape);

/* Loads all blocks, and compares each record with what was written: *good counts those that are
 * as they should be, *bad the others; returns how many blocks could not be loaded. */
size_t sample_compare(struct step_reader *reader, uint64_t *good, uint64_t *bad);

#endif
