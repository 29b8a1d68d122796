/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/formats/metatf/metatf_test.h"

#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "steptrace/hatf_metatf.h"
#include "steptrace/hatf_split_metatf.h"
#include "steptrace/java_metatf.h"

#define GENERATED(base)                                                                            \
    static enum step_status base##_get(struct metatf_reader *reader, void *event,                  \
                                       struct step_error *error)                                   \
    {                                                                                              \
        return base##_get_next_event(reader, event, error);                                        \
    }                                                                                              \
    static enum step_status base##_put(struct metatf_writer *writer, const void *event,            \
                                       struct step_error *error)                                   \
    {                                                                                              \
        return base##_put_event(writer, event, error);                                             \
    }                                                                                              \
    static size_t base##_values(const void *event, const struct metatf_record **record,            \
                                uint32_t *section, struct metatf_value *values, size_t capacity)   \
    {                                                                                              \
        *section = ((const struct base##_event *) event)->section;                                 \
        return base##_event_values(event, record, values, capacity);                               \
    }
#define ROW(base)                                                                                  \
    {                                                                                              \
#base, &base##_dtd, sizeof(struct base##_event), base##_get, base##_put, base##_values     \
    }

GENERATED(corpus)
GENERATED(step_hatf_metatf)
GENERATED(step_hatf_split_metatf)
GENERATED(step_java_metatf)

const struct generated generated_readers[] = {ROW(corpus), ROW(step_hatf_metatf),
                                              ROW(step_hatf_split_metatf), ROW(step_java_metatf)};
const size_t generated_count = sizeof generated_readers / sizeof generated_readers[0];

uint64_t test_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* ---- traces ---- */

static void copy_bytes(struct step_bytes *bytes)
{
    uint8_t *copy = malloc(bytes->length + 1);
    if (copy == NULL)
        abort();
    if (bytes->length > 0)
        memcpy(copy, bytes->data, bytes->length);
    bytes->data = copy;
}

static void add_record(struct test_trace *trace, uint32_t section, const char *name,
                       const struct metatf_value *values, size_t count)
{
    if ((trace->count & (trace->count + 1)) == 0) {
        size_t room = 2 * trace->count + 2;
        trace->records = realloc(trace->records, room * sizeof *trace->records);
        if (trace->records == NULL)
            abort();
    }
    struct test_record *record = &trace->records[trace->count++];
    record->section = section;
    record->name = name;
    record->count = count;
    record->values = malloc((count + 1) * sizeof *values);
    if (record->values == NULL)
        abort();
    memcpy(record->values, values, count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        copy_bytes(&record->values[i].bytes);
}

void test_trace_free(struct test_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        for (size_t v = 0; v < trace->records[i].count; v++)
            free((void *) (uintptr_t) trace->records[i].values[v].bytes.data);
        free(trace->records[i].values);
    }
    free(trace->records);
    *trace = (struct test_trace){0};
}

bool test_record_equal(const struct test_record *one, const struct test_record *other)
{
    if (one->section != other->section || strcmp(one->name, other->name) != 0 ||
        one->count != other->count)
        return false;
    for (size_t i = 1; i < one->count; i++) {
        const struct metatf_value *left = &one->values[i];
        const struct metatf_value *right = &other->values[i];
        if (left->number != right->number || left->bytes.length != right->bytes.length ||
            memcmp(left->bytes.data, right->bytes.data, left->bytes.length) != 0)
            return false;
    }
    return true;
}

/* ---- random records ---- */

struct filling {
    const struct metatf_record *record;
    uint64_t *seed;
    struct metatf_value values[4096];
    size_t count;
    uint64_t last[256];
};

static uint64_t random_number(uint64_t *seed)
{
    uint64_t dice = test_random(seed) % 100;
    uint64_t number = test_random(seed);
    return dice < 70   ? number % 200
           : dice < 90 ? number % 100000
           : dice < 97 ? number >> 24
                       : number;
}

static void fill(struct filling *filling, uint32_t first, uint32_t count)
{
    static const uint8_t text[600] = "some bytes of a field";
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &filling->record->fields[i];
        struct metatf_value *value = &filling->values[filling->count++];
        *value = (struct metatf_value){.number = 0};
        if (field->kind == METATF_BYTES) {
            uint64_t length = field->width_field == METATF_NO_FIELD
                                  ? field->width
                                  : filling->last[field->width_field];
            value->bytes = (struct step_bytes){text, (size_t) length};
            continue;
        }
        bool is_length =
            i + 1 < filling->record->field_count && filling->record->fields[i + 1].width_field == i;
        value->number = random_number(filling->seed);
        if (is_length)
            value->number %= test_random(filling->seed) % 50 == 0 ? 600 : 20;
        if (field->repeat > 0)
            value->number %= 5;
        if (field->has_value)
            value->number = field->value;
        filling->last[i] = value->number;
        for (uint64_t k = 0; field->repeat > 0 && k < filling->last[i]; k++)
            fill(filling, i + 1, field->repeat);
        i += field->repeat;
    }
}

struct test_trace test_trace_random(const struct metatf_dtd *dtd, size_t count, uint64_t seed)
{
    struct test_trace trace = {0};
    static struct filling filling;
    while (trace.count < count) {
        const struct metatf_section *section =
            &dtd->sections[test_random(&seed) % dtd->section_count];
        if (section->is_data)
            continue;
        filling.record = &section->records[test_random(&seed) % section->record_count];
        if (filling.record->role == METATF_SECTION || filling.record->role == METATF_METADATA)
            continue;
        filling.seed = &seed;
        filling.count = 0;
        fill(&filling, 0, filling.record->field_count);
        add_record(&trace, section->number, filling.record->name, filling.values, filling.count);
    }
    return trace;
}

/* ---- bytes in memory ---- */

static enum step_status read_bytes(void *user, uint64_t offset, void *buffer, size_t size,
                                   struct step_error *error)
{
    const struct test_bytes *bytes = user;
    (void) error;
    if (offset > bytes->length || size > bytes->length - offset)
        abort();
    memcpy(buffer, bytes->data + offset, size);
    return STEP_STATUS_OK;
}

struct metatf_input test_input(const struct test_bytes *bytes)
{
    return (struct metatf_input){(void *) (uintptr_t) bytes, bytes->length, read_bytes};
}

static enum step_status write_bytes(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    struct test_bytes *bytes = user;
    (void) error;
    if (bytes->capacity - bytes->length < length) {
        bytes->capacity = 2 * bytes->capacity + length;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (bytes->data == NULL)
            abort();
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return STEP_STATUS_OK;
}

struct step_output test_output(struct test_bytes *bytes)
{
    return (struct step_output){bytes, write_bytes};
}

/* ---- writing ---- */

/* A change that any field may have; what it cannot have is refused, and that is told by INVALID. */
static enum step_status random_metadata(struct metatf_writer *writer, const struct metatf_dtd *dtd,
                                        uint32_t index, uint64_t *seed, struct step_error *error)
{
    const struct metatf_section *section = &dtd->sections[index];
    const struct metatf_record *record =
        &section->records[test_random(seed) % section->record_count];
    struct metatf_metadata metadata = {.tag = record->tag,
                                       .field =
                                           (uint32_t) (test_random(seed) % record->field_count),
                                       .property = (uint8_t) (test_random(seed) % 8)};
    metadata.value = metadata.property == METATF_PROPERTY_WIDTH ? test_random(seed) % 9
                                                                : random_number(seed) & INT32_MAX;
    if (metadata.property == metatf_property_of(STEP_FIELD_SECTION_STRIDE) ||
        metadata.property == metatf_property_of(STEP_FIELD_SECTION_OFFSET))
        metadata.value = dtd->sections[test_random(seed) % dtd->section_count].number;
    metadata.stride = metadata.property == metatf_property_of(STEP_FIELD_SECTION_STRIDE)
                          ? test_random(seed) % 8 + 1
                      : metadata.property == metatf_property_of(STEP_FIELD_STRIDE)
                          ? test_random(seed) % 100 - 50
                          : 0;
    enum step_status status = metatf_writer_put_metadata(writer, index, &metadata, error);
    return status == STEP_STATUS_INVALID ? STEP_STATUS_OK : status;
}

enum step_status test_write(const struct metatf_dtd *dtd, const struct test_trace *trace,
                            const struct metatf_writer_options *options, bool metadata,
                            uint64_t seed, struct test_bytes *out, struct step_error *error)
{
    struct metatf_writer *writer;
    struct metatf_writer_options mine = *options;
    mine.dtd = dtd;
    mine.output = test_output(out);
    enum step_status status = metatf_writer_create(&mine, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    for (size_t i = 0; i < trace->count && status == STEP_STATUS_OK; i++) {
        const struct test_record *record = &trace->records[i];
        uint32_t section = metatf_dtd_section(dtd, record->section);
        if (metadata && test_random(&seed) % 4 == 0)
            status = random_metadata(writer, dtd, section, &seed, error);
        if (metadata && test_random(&seed) % 40 == 0)
            metatf_writer_flush(writer, NULL);
        if (status == STEP_STATUS_OK)
            status = metatf_writer_put(writer, section,
                                       metatf_section_record(&dtd->sections[section], record->name),
                                       record->values, record->count, NULL, error);
    }
    if (status == STEP_STATUS_OK)
        status = metatf_writer_close(writer, error);
    metatf_writer_destroy(writer);
    return status;
}

/* ---- reading ---- */

enum step_status test_read(const struct metatf_dtd *dtd, const struct test_bytes *bytes,
                           struct test_trace *trace, struct step_error *error)
{
    const struct metatf_input input = test_input(bytes);
    struct metatf_file *file = NULL;
    struct metatf_reader *reader = NULL;
    struct metatf_event event;
    enum step_status status = metatf_file_open(&input, "test", &file, error);
    if (status == STEP_STATUS_OK)
        status = metatf_reader_create(file, dtd, &reader, error);
    while (status == STEP_STATUS_OK) {
        status = metatf_reader_next(reader, &event, error);
        if (status == STEP_STATUS_OK &&
            (event.record->role == METATF_DATA || event.record->role == METATF_COMMENT))
            add_record(trace, event.section->number, event.record->name, event.values,
                       event.value_count);
    }
    metatf_reader_destroy(reader);
    metatf_file_close(file);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static void take_event(const struct generated *generated, const void *event,
                       struct test_trace *trace)
{
    const struct metatf_record *record;
    uint32_t section;
    size_t count = generated->values(event, &record, &section, NULL, 0);
    struct metatf_value *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        abort();
    generated->values(event, &record, &section, values, count);
    add_record(trace, section, record != NULL ? record->name : "comment", values, count);
    free(values);
}

static enum step_status each_generated(const struct generated *generated,
                                       const struct test_bytes *bytes, struct test_trace *trace,
                                       struct metatf_writer *writer, struct step_error *error)
{
    const struct metatf_input input = test_input(bytes);
    struct metatf_file *file = NULL;
    struct metatf_reader *reader = NULL;
    void *event = malloc(generated->event_bytes);
    enum step_status status = metatf_file_open(&input, "test", &file, error);
    if (event == NULL)
        abort();
    if (status == STEP_STATUS_OK)
        status = metatf_reader_create(file, generated->dtd, &reader, error);
    while (status == STEP_STATUS_OK) {
        status = generated->get(reader, event, error);
        if (status == STEP_STATUS_OK && trace != NULL)
            take_event(generated, event, trace);
        if (status == STEP_STATUS_OK && writer != NULL)
            status = generated->put(writer, event, error);
    }
    free(event);
    metatf_reader_destroy(reader);
    metatf_file_close(file);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

enum step_status test_read_generated(const struct generated *generated,
                                     const struct test_bytes *bytes, struct test_trace *trace,
                                     struct step_error *error)
{
    return each_generated(generated, bytes, trace, NULL, error);
}

enum step_status test_copy_generated(const struct generated *generated,
                                     const struct test_bytes *bytes,
                                     const struct metatf_writer_options *options,
                                     struct test_bytes *out, struct step_error *error)
{
    struct metatf_writer *writer;
    struct metatf_writer_options mine = *options;
    mine.dtd = generated->dtd;
    mine.output = test_output(out);
    enum step_status status = metatf_writer_create(&mine, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = each_generated(generated, bytes, NULL, writer, error);
    if (status == STEP_STATUS_OK)
        status = metatf_writer_close(writer, error);
    metatf_writer_destroy(writer);
    return status;
}
