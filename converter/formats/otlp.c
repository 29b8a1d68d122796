/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a heap as profiles of the OpenTelemetry Protocol (docs/formats/otlp.md): one message
 * ProfilesData with a profile for each kind of value.  The fields of a message may be in any order,
 * so each message grows as rows are read.  Memory is proportional to the rows.
 */
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_sites.h"
#include "converter/heap/heap_writer.h"
#include "converter/output/protobuf_output.h"

enum data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum dictionary_field {
    TABLE_MAPPING = 1,
    TABLE_LOCATION = 2,
    TABLE_FUNCTION = 3,
    TABLE_LINK = 4,
    TABLE_STRING = 5,
    TABLE_ATTRIBUTE = 6,
    TABLE_STACK = 7,
    TABLE_COUNT
};
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_TIME_NS = 3,
    PROFILE_DURATION_NS = 4,
    PROFILE_PERIOD_TYPE = 5,
    PROFILE_PERIOD = 6
};
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };
enum { OBJECTS_ALLOCATED, SPACE_ALLOCATED, OBJECTS_IN_USE, SPACE_IN_USE, KINDS };

/* The limit of protobuf's own libraries for a message. */
#define MESSAGE_BYTES_MOST UINT64_C(0x7fffffff)

struct otlp_file {
    struct heap_writer base;
    struct heap_sites locations; /* places without duplicates: sites without parents */
    struct id_table functions;   /* uint32_t, by method: index in its table; 0: not there yet */
    struct id_table attributes;  /* the same, by class */
    struct id_table stacks;      /* the same, by site */
    uint64_t counts[TABLE_COUNT];
    struct byte_output dictionary;
    struct byte_output profiles[KINDS];
    struct byte_output part, inner, value; /* scratch */
    struct step_buffer name;               /* scratch */
    uint64_t class_key, frame_key, jvm_attribute;
};

/* ---- the dictionary: each function returns an index ---- */

static uint64_t otlp_put_string(struct otlp_file *file, struct step_bytes text)
{
    protobuf_text(&file->dictionary, TABLE_STRING, text);
    return file->counts[TABLE_STRING]++;
}

/* Adds `file->part`. */
static uint64_t otlp_put_entry(struct otlp_file *file, enum dictionary_field table)
{
    protobuf_part(&file->dictionary, table, &file->part);
    return file->counts[table]++;
}

static uint64_t put_attribute(struct otlp_file *file, uint64_t key, struct step_bytes value)
{
    enum { KEY = 1, VALUE = 2, STRING_VALUE = 1 };
    bytes_clear(&file->inner);
    protobuf_text(&file->inner, STRING_VALUE, value);
    bytes_clear(&file->part);
    protobuf_number(&file->part, KEY, key);
    protobuf_part(&file->part, VALUE, &file->inner);
    return otlp_put_entry(file, TABLE_ATTRIBUTE);
}

static uint64_t put_function(struct otlp_file *file, uint32_t method_id, const char *path)
{
    enum { NAME = 1, SYSTEM_NAME = 2, FILE_NAME = 3 };
    if (!profile_function_name(file->base.sites->names, method_id, &file->name))
        file->dictionary.failed = true;
    uint64_t name = otlp_put_string(file, (struct step_bytes){file->name.data, file->name.length});
    uint64_t file_name = path[0] != '\0' ? otlp_put_string(file, step_text(path)) : 0;
    bytes_clear(&file->part);
    protobuf_number(&file->part, NAME, name);
    protobuf_number(&file->part, SYSTEM_NAME, name);
    protobuf_number(&file->part, FILE_NAME, file_name);
    return otlp_put_entry(file, TABLE_FUNCTION);
}

/* Returns the entry of an id, or NULL if memory runs out. */
static uint32_t *index_of(struct otlp_file *file, struct id_table *table, uint32_t id)
{
    uint32_t *index = id_table_get(table, id);
    file->dictionary.failed = file->dictionary.failed || index == NULL;
    return index;
}

static uint64_t function_of(struct otlp_file *file, uint32_t method_id,
                            const struct frame_place *place)
{
    char path[HEAP_SITE_TEXT];
    if (profile_place_path(file->base.sites->names, method_id, place, path))
        return put_function(file, method_id, path);
    uint32_t *known = index_of(file, &file->functions, method_id);
    if (known != NULL && *known == 0)
        *known = (uint32_t) put_function(file, method_id, path);
    return known != NULL ? *known : 0;
}

/* Returns 0 if memory runs out. */
static uint64_t location_of(struct otlp_file *file, uint32_t site)
{
    enum { LINES = 3, ATTRIBUTES = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
    const struct heap_site *place = &file->base.sites->items[site];
    size_t before = file->locations.count;
    uint32_t location = heap_sites_put_place(&file->locations, place);
    if (location < before)
        return location;
    const struct frame_place at = heap_site_place(file->base.sites, place);
    const struct trace_method *method = trace_method_of(file->base.sites->names, place->method_id);
    uint64_t function = function_of(file, place->method_id, &at);
    bytes_clear(&file->inner);
    protobuf_number(&file->inner, LINE_FUNCTION, function);
    protobuf_number(&file->inner, LINE_NUMBER, at.line);
    bytes_clear(&file->part);
    protobuf_part(&file->part, LINES, &file->inner);
    bytes_clear(&file->inner);
    bytes_put_varint(&file->inner, file->jvm_attribute);
    if (method->class_id != 0) /* functions of native programs have no class */
        protobuf_part(&file->part, ATTRIBUTES, &file->inner);
    return otlp_put_entry(file, TABLE_LOCATION);
}

/* A stack begins with the innermost frame. */
static uint64_t otlp_stack_of(struct otlp_file *file, uint32_t site)
{
    enum { LOCATIONS = 1 };
    uint32_t *known = site != 0 ? index_of(file, &file->stacks, site) : NULL;
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    bytes_clear(&file->value);
    for (uint32_t at = site; at != 0; at = file->base.sites->items[at].parent) {
        uint64_t location = location_of(file, at);
        file->dictionary.failed = file->dictionary.failed || location == 0;
        bytes_put_varint(&file->value, location);
    }
    bytes_clear(&file->part);
    protobuf_part(&file->part, LOCATIONS, &file->value);
    *known = (uint32_t) otlp_put_entry(file, TABLE_STACK);
    return *known;
}

static uint64_t attribute_of(struct otlp_file *file, uint32_t class_id)
{
    uint32_t *known = index_of(file, &file->attributes, class_id);
    if (known != NULL && *known == 0)
        *known = (uint32_t) put_attribute(file, file->class_key,
                                          trace_class_of(file->base.sites->names, class_id)->name);
    return known != NULL ? *known : 0;
}

/* The first entry of each table is a zero value. */
static void begin_dictionary(struct otlp_file *file)
{
    static const uint8_t zeros[16];
    enum { TRACE_ID = 1, SPAN_ID = 2 };
    bytes_clear(&file->part);
    for (int table = TABLE_MAPPING; table < TABLE_COUNT; table++)
        if (table != TABLE_LINK && table != TABLE_STRING)
            otlp_put_entry(file, (enum dictionary_field) table);
    protobuf_bytes(&file->part, TRACE_ID, (struct step_bytes){zeros, 16});
    protobuf_bytes(&file->part, SPAN_ID, (struct step_bytes){zeros, 8});
    otlp_put_entry(file, TABLE_LINK);
    otlp_put_string(file, step_text(""));
    file->class_key = otlp_put_string(file, step_text("class"));
    file->frame_key = otlp_put_string(file, step_text("profile.frame.type"));
    file->jvm_attribute = put_attribute(file, file->frame_key, step_text("jvm"));
}

/* ---- profiles ---- */

static void put_value_type(struct otlp_file *file, struct byte_output *profile,
                           enum profile_field field, uint64_t type, uint64_t unit)
{
    enum { TYPE = 1, UNIT = 2 };
    bytes_clear(&file->part);
    protobuf_number(&file->part, TYPE, type);
    protobuf_number(&file->part, UNIT, unit);
    protobuf_part(profile, field, &file->part);
}

static void begin_profiles(struct otlp_file *file, const struct heap_snapshot *snapshot)
{
    static const char *const types[KINDS] = {"allocated_objects", "allocated_space",
                                             "inuse_objects", "inuse_space"};
    uint64_t count = otlp_put_string(file, step_text("count"));
    uint64_t bytes = otlp_put_string(file, step_text("bytes"));
    uint64_t space = otlp_put_string(file, step_text("space"));
    for (int i = 0; i < KINDS; i++) {
        struct byte_output *profile = &file->profiles[i];
        put_value_type(file, profile, PROFILE_SAMPLE_TYPE,
                       otlp_put_string(file, step_text(types[i])), i % 2 == 0 ? count : bytes);
        if (file->base.start_ns != 0)
            protobuf_fixed64(profile, PROFILE_TIME_NS, file->base.start_ns);
        protobuf_number(profile, PROFILE_DURATION_NS, snapshot->time_ns);
        put_value_type(file, profile, PROFILE_PERIOD_TYPE, space, bytes);
        protobuf_number(profile, PROFILE_PERIOD, 1); /* all bytes count: no sampling */
    }
}

static void otlp_put_row(struct otlp_file *file, const struct heap_row *row)
{
    const uint64_t values[KINDS] = {row->allocated.objects, row->allocated.bytes, row->live.objects,
                                    row->live.bytes};
    uint64_t stack = otlp_stack_of(file, row->key.site);
    uint64_t attribute = attribute_of(file, row->key.class_id);
    for (int i = 0; i < KINDS; i++) {
        if (values[i] == 0)
            continue;
        bytes_clear(&file->part);
        protobuf_number(&file->part, SAMPLE_STACK, stack);
        bytes_clear(&file->value);
        bytes_put_varint(&file->value, attribute);
        protobuf_part(&file->part, SAMPLE_ATTRIBUTES, &file->value);
        bytes_clear(&file->value);
        bytes_put_varint(&file->value, values[i]);
        protobuf_part(&file->part, SAMPLE_VALUES, &file->value);
        protobuf_part(&file->profiles[i], PROFILE_SAMPLE, &file->part);
    }
}

/* ---- the file ---- */

/* Adds an attribute of a resource: a key with a text, or with a number if `text` is NULL. */
static void otlp_put_property(struct otlp_file *file, struct byte_output *resource, const char *key,
                              const char *text, uint64_t number)
{
    enum { ATTRIBUTE = 1, KEY = 1, VALUE = 2, STRING_VALUE = 1, INT_VALUE = 3 };
    bytes_clear(&file->value);
    if (text != NULL)
        protobuf_text(&file->value, STRING_VALUE,
                      (struct step_bytes){(const uint8_t *) text, strcspn(text, " ")});
    else
        protobuf_number(&file->value, INT_VALUE, number);
    bytes_clear(&file->part);
    protobuf_text(&file->part, KEY, step_text(key));
    protobuf_part(&file->part, VALUE, &file->value);
    protobuf_part(resource, ATTRIBUTE, &file->part);
}

static bool put_resource(struct otlp_file *file, struct byte_output *resource,
                         struct byte_output *scope)
{
    enum { NAME = 1, VERSION = 2 };
    struct trace_text title = trace_text_or(file->base.title, "unknown_service");
    otlp_put_property(file, resource, "service.name", title.unshown, 0);
    otlp_put_property(file, resource, "process.pid", NULL, file->base.process);
    protobuf_text(scope, NAME, step_text("steptrace"));
    protobuf_text(scope, VERSION, step_text(STEPTRACE_VERSION));
    return !resource->failed && !scope->failed;
}

static enum step_status otlp_write_file(struct otlp_file *file, const struct byte_output *resource,
                                        const struct byte_output *scope, struct step_error *error)
{
    enum { RESOURCE = 1, SCOPE_PROFILES = 2, SCOPE = 1, PROFILES = 2 };
    FILE *out = file->base.stream.file;
    uint64_t in_scope = protobuf_field_size(SCOPE, scope->bytes.length);
    for (int i = 0; i < KINDS; i++)
        in_scope += protobuf_field_size(PROFILES, file->profiles[i].bytes.length);
    uint64_t length = protobuf_field_size(RESOURCE, resource->bytes.length) +
                      protobuf_field_size(SCOPE_PROFILES, in_scope);
    if (length + file->dictionary.bytes.length > MESSAGE_BYTES_MOST)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                              "the profile exceeds 2 GiB, which readers of the format refuse; "
                              "select a part of the trace");
    protobuf_write_head(out, DATA_RESOURCE_PROFILES, length);
    protobuf_write_part(out, RESOURCE, resource);
    protobuf_write_head(out, SCOPE_PROFILES, in_scope);
    protobuf_write_part(out, SCOPE, scope);
    for (int i = 0; i < KINDS; i++)
        protobuf_write_part(out, PROFILES, &file->profiles[i]);
    protobuf_write_part(out, DATA_DICTIONARY, &file->dictionary);
    return STEP_STATUS_OK;
}

static bool has_failed(const struct otlp_file *file)
{
    bool failed = file->dictionary.failed;
    for (int i = 0; i < KINDS; i++)
        failed = failed || file->profiles[i].failed;
    return failed;
}

static enum step_status otlp_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                 struct step_error *error)
{
    struct otlp_file *file = (struct otlp_file *) writer;
    struct byte_output resource = {.failed = false}, scope = {.failed = false};
    id_table_init(&file->functions, sizeof(uint32_t));
    id_table_init(&file->attributes, sizeof(uint32_t));
    id_table_init(&file->stacks, sizeof(uint32_t));
    if (!heap_sites_init(&file->locations, writer->sites->names))
        return no_memory(error);
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    begin_dictionary(file);
    begin_profiles(file, snapshot);
    for (size_t i = 0; i < snapshot->count && !has_failed(file); i++)
        otlp_put_row(file, &snapshot->rows[i]);
    bool ok = put_resource(file, &resource, &scope) && !has_failed(file);
    enum step_status status =
        ok ? otlp_write_file(file, &resource, &scope, error) : no_memory(error);
    bytes_reset(&resource);
    bytes_reset(&scope);
    return status;
}

static void otlp_reset(struct heap_writer *writer)
{
    struct otlp_file *file = (struct otlp_file *) writer;
    bytes_reset(&file->dictionary);
    for (int i = 0; i < KINDS; i++)
        bytes_reset(&file->profiles[i]);
    bytes_reset(&file->part);
    bytes_reset(&file->inner);
    bytes_reset(&file->value);
    step_buffer_reset(&file->name);
    heap_sites_reset(&file->locations);
    id_table_reset(&file->functions);
    id_table_reset(&file->attributes);
    id_table_reset(&file->stacks);
}

static const struct heap_writer_operations otlp_writer = {
    .put = otlp_put,
    .reset = otlp_reset,
    .size_bytes = sizeof(struct otlp_file),
};

static const struct format_options *const options_of[] = {&heap_moment_options, NULL};

const struct trace_format format_otlp = {
    .name = "otlp",
    .ending = ".otlp",
    .help = "OpenTelemetry (experimental)",
    .needs = FORMAT_NEEDS_HEAP,
    .packs_by_ending = true,
    .post_type = "application/x-protobuf",
    .options = options_of,
    .sink = &heap_sink_operations,
    .heap_writer = &otlp_writer,
};
