/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a trace, what is known of it, and loading its data blocks. */
#include "steptrace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "reader_internal.h"

enum { MAX_DAMAGE = 10000, MAX_PROPERTIES = 65536 };
#define MAX_COUNTS_MEMORY (UINT64_C(1) << 30)
#define MAX_PROPERTY_BYTES (UINT64_C(64) << 20)

static enum step_status no_memory(const struct step_reader *reader, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, reader->name, STEP_NO_OFFSET,
                          "out of memory");
}

enum step_status step_reader_note(struct step_reader *reader, uint64_t offset, uint64_t length,
                                  const char *format, ...)
{
    if (reader->damage_count == MAX_DAMAGE)
        return STEP_STATUS_OK; /* enough to know that the file is no good */
    if (reader->damage_count == reader->damage_capacity) {
        size_t capacity = reader->damage_capacity * 2 + 8;
        struct step_damage *damage = realloc(reader->damage, capacity * sizeof *damage);
        if (damage == NULL)
            return STEP_STATUS_NO_MEMORY;
        reader->damage = damage;
        reader->damage_capacity = capacity;
    }
    struct step_damage *damage = &reader->damage[reader->damage_count++];
    damage->offset = offset;
    damage->length = length;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(damage->message, sizeof damage->message, format, arguments);
    va_end(arguments);
    return STEP_STATUS_OK;
}

enum step_status step_reader_payload(struct step_reader *reader, const struct step_source *source,
                                     uint64_t offset, const struct step_block_header *header,
                                     struct step_payload *payload, struct step_error *error)
{
    uint64_t place = source->base + offset;
    enum step_status status =
        step_source_read(source, offset + STEP_BLOCK_HEADER_BYTES, header->payload_bytes,
                         &reader->payload, &payload->bytes, error);
    if (status != STEP_STATUS_OK)
        return status;
    payload->header = header;
    payload->offset = place + STEP_BLOCK_HEADER_BYTES;
    payload->file = source->name;
    if (step_checksum(payload->bytes, (size_t) header->payload_bytes) != header->payload_checksum)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, payload->offset,
                              "the block's checksum does not agree with its contents");
    return STEP_STATUS_OK;
}

/* A copy with a NUL after it. */
static char *copy_text(const uint8_t *bytes, size_t length)
{
    char *text = malloc(length + 1);
    if (text == NULL)
        return NULL;
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

static enum step_status set_property(struct step_reader *reader, char *key, char *value)
{
    if (key == NULL || value == NULL)
        goto fail;
    for (size_t i = 0; i < reader->property_count; i++) {
        if (strcmp(reader->properties[2 * i], key) != 0)
            continue;
        free(key);
        free(reader->properties[2 * i + 1]);
        reader->properties[2 * i + 1] = value;
        return STEP_STATUS_OK;
    }
    char **properties =
        realloc(reader->properties, (reader->property_count + 1) * 2 * sizeof(char *));
    if (properties == NULL)
        goto fail;
    reader->properties = properties;
    properties[2 * reader->property_count] = key;
    properties[2 * reader->property_count + 1] = value;
    reader->property_count++;
    return STEP_STATUS_OK;
fail:
    free(key);
    free(value);
    return STEP_STATUS_NO_MEMORY;
}

static enum step_status load_properties(struct step_reader *reader,
                                        const struct step_payload *payload,
                                        struct step_error *error)
{
    reader->bytes.length = 0;
    enum step_status status = step_block_decode_bytes(&reader->blocks, payload, MAX_PROPERTY_BYTES,
                                                      &reader->bytes, error);
    struct step_cursor cursor = step_cursor_of(reader->bytes.data, reader->bytes.length);
    while (status == STEP_STATUS_OK && step_cursor_left(&cursor) > 0) {
        uint64_t key_length;
        uint64_t value_length;
        const uint8_t *key;
        const uint8_t *value;
        if (!step_cursor_varint(&cursor, &key_length) ||
            !step_cursor_bytes(&cursor, key_length, &key) ||
            !step_cursor_varint(&cursor, &value_length) ||
            !step_cursor_bytes(&cursor, value_length, &value) ||
            reader->property_count == MAX_PROPERTIES)
            return step_error_set(error, STEP_STATUS_CORRUPT, payload->file, payload->offset,
                                  "the properties are damaged");
        status = set_property(reader, copy_text(key, (size_t) key_length),
                              copy_text(value, (size_t) value_length));
        if (status != STEP_STATUS_OK)
            return no_memory(reader, error);
    }
    return status;
}

/* Where blocks were found by the index, a block's own header may be damaged: its contents need not
 * be.  Returns true where damage was noted. */
static bool note_header(struct step_reader *reader, const struct step_source *source,
                        uint64_t offset, const struct step_block_header *header)
{
    const uint8_t *bytes;
    uint8_t expected[STEP_BLOCK_HEADER_BYTES];
    if (step_source_read(source, offset, sizeof expected, &reader->head, &bytes, NULL) !=
        STEP_STATUS_OK)
        return false;
    step_block_header_pack(header, expected);
    if (memcmp(bytes, expected, sizeof expected) == 0)
        return false;
    step_reader_note(reader, source->base + offset, sizeof expected,
                     "the block's header is damaged; its contents are read all the same");
    return true;
}

/* True where the reader can go on with the next block. */
static bool is_damage(enum step_status status)
{
    return status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT ||
           status == STEP_STATUS_UNSUPPORTED || status == STEP_STATUS_LIMIT;
}

static enum step_status load_now(struct step_reader *reader, const struct step_source *source,
                                 uint64_t offset, const struct step_block_header *header,
                                 struct step_error *error)
{
    struct step_error local = {.offset = source->base + offset};
    struct step_payload payload;
    note_header(reader, source, offset, header);
    enum step_status status = step_reader_payload(reader, source, offset, header, &payload, &local);
    if (status == STEP_STATUS_OK && header->kind == STEP_BLOCK_PROPERTY)
        status = load_properties(reader, &payload, &local);
    else if (status == STEP_STATUS_OK && header->kind == STEP_BLOCK_DICTIONARY)
        status = step_dictionary_load(reader, &payload, &local);
    if (is_damage(status))
        return step_reader_note(reader, local.offset,
                                STEP_BLOCK_HEADER_BYTES + header->payload_bytes, "%.140s",
                                local.message);
    if (status != STEP_STATUS_OK && error != NULL)
        *error = local;
    return status;
}

static enum step_status add_entry(struct step_reader *reader, const struct step_source *source,
                                  uint64_t offset, const struct step_block_header *header,
                                  const struct step_summary *summary)
{
    if (reader->entry_count == reader->entry_capacity) {
        size_t capacity = reader->entry_capacity * 2 + 16;
        struct step_block_entry *entries = realloc(reader->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return STEP_STATUS_NO_MEMORY;
        reader->entries = entries;
        reader->entry_capacity = capacity;
    }
    int limited = 0;
    size_t types = reader->definition->record_count;
    uint64_t *counts = step_arena_take(&reader->counts, types, sizeof *counts, &limited);
    if (counts == NULL)
        return limited ? STEP_STATUS_LIMIT : STEP_STATUS_NO_MEMORY;
    memset(counts, 0, types * sizeof *counts);
    step_summary_counts(summary, counts);
    struct step_block_entry *entry = &reader->entries[reader->entry_count++];
    *entry = (struct step_block_entry){
        .info = {.offset = source->base + offset,
                 .stored_bytes = STEP_BLOCK_HEADER_BYTES + header->payload_bytes,
                 .stream = header->stream,
                 .first_record = header->first_record,
                 .record_count = header->record_count,
                 .time_min = header->time_min,
                 .time_max = header->time_max,
                 .thread_min = header->thread_min,
                 .thread_max = header->thread_max,
                 .counts_by_record = counts},
        .header = *header,
        .source = source,
        .offset = offset,
    };
    return STEP_STATUS_OK;
}

enum step_status step_reader_visit(struct step_reader *reader, const struct step_source *source,
                                   uint64_t offset, const struct step_block_header *header,
                                   const uint8_t *summary, struct step_error *error)
{
    const char *fault;
    struct step_summary parsed;
    enum step_status status = STEP_STATUS_OK;
    switch (header->kind) {
    case STEP_BLOCK_PROPERTY:
    case STEP_BLOCK_DICTIONARY:
    case STEP_BLOCK_INDEX:
        return load_now(reader, source, offset, header, error);
    case STEP_BLOCK_DATA:
        if (!step_summary_parse(summary, header, reader->definition->record_count, &parsed, &fault))
            return step_reader_note(reader, source->base + offset,
                                    STEP_BLOCK_HEADER_BYTES + header->payload_bytes,
                                    "a block cannot be used: %s", fault);
        status = add_entry(reader, source, offset, header, &parsed);
        break;
    default: /* the definition, which is loaded already, and kinds of later versions */
        break;
    }
    if (status == STEP_STATUS_LIMIT)
        step_error_set(error, status, reader->name, offset, "the file has too many blocks");
    else if (status != STEP_STATUS_OK)
        no_memory(reader, error);
    return status;
}

/* The block after the file header must be the definition. */
static enum step_status load_definition(struct step_reader *reader, struct step_error *error)
{
    const uint8_t *bytes;
    struct step_block_header header;
    struct step_payload payload;
    enum step_status status =
        step_source_read(&reader->file, STEP_FILE_HEADER_BYTES, STEP_BLOCK_HEADER_BYTES,
                         &reader->head, &bytes, error);
    if (status == STEP_STATUS_CUT)
        return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, reader->file.size,
                              "the file is cut before its definition");
    if (status != STEP_STATUS_OK)
        return status;
    if (!step_block_header_unpack(bytes, &header) || header.kind != STEP_BLOCK_DEFINITION)
        return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, STEP_FILE_HEADER_BYTES,
                              "the header of the definition is damaged");
    status = step_reader_payload(reader, &reader->file, STEP_FILE_HEADER_BYTES, &header, &payload,
                                 error);
    reader->bytes.length = 0;
    if (status == STEP_STATUS_OK)
        status = step_block_decode_bytes(&reader->blocks, &payload, STEP_MAX_DEFINITION_BYTES,
                                         &reader->bytes, error);
    if (status == STEP_STATUS_OK)
        status = step_definition_parse((const char *) reader->bytes.data, reader->bytes.length,
                                       "definition", NULL, NULL, &reader->definition, error);
    if (status == STEP_STATUS_OK)
        status = step_plan_create(reader->definition, &reader->plan, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO)
        return status;
    step_error_prefix(error, "the definition cannot be read");
    if (error != NULL) {
        error->status = STEP_STATUS_CORRUPT;
        snprintf(error->file, sizeof error->file, "%s", reader->name);
        error->offset = error->offset == STEP_NO_OFFSET ? STEP_FILE_HEADER_BYTES : error->offset;
    }
    return STEP_STATUS_CORRUPT;
}

/* Where the file header is damaged but a definition follows, it is one of ours. */
static enum step_status check_file_header(struct step_reader *reader, struct step_error *error)
{
    const struct step_source *file = &reader->file;
    const uint8_t *bytes;
    uint64_t length = file->size < STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES
                          ? file->size
                          : STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES;
    enum step_status status = step_source_read(file, 0, length, &reader->head, &bytes, error);
    if (status != STEP_STATUS_OK)
        return status;
    enum step_file_header_fault fault = step_file_header_check(bytes, (size_t) length);
    struct step_block_header header;
    bool followed = length == STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES &&
                    step_block_header_unpack(bytes + STEP_FILE_HEADER_BYTES, &header) &&
                    header.kind == STEP_BLOCK_DEFINITION;
    switch (fault) {
    case STEP_FILE_HEADER_GOOD:
        return STEP_STATUS_OK;
    case STEP_FILE_HEADER_VERSION:
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, reader->name, 8,
                              "a trace of a later version of the format");
    case STEP_FILE_HEADER_FOREIGN:
    case STEP_FILE_HEADER_MANGLED:
        break;
    }
    if (followed)
        return step_reader_note(reader, 0, STEP_FILE_HEADER_BYTES, "the file header is damaged");
    if (fault == STEP_FILE_HEADER_FOREIGN)
        return step_error_set(error, STEP_STATUS_FORMAT, reader->name, 0,
                              length == 0 ? "the file is empty" : "not a STEP trace");
    return step_error_set(error, STEP_STATUS_CORRUPT, reader->name, 0,
                          length < STEP_FILE_HEADER_BYTES
                              ? "the file is cut in its header"
                              : "the file header is damaged: was the file transferred as text?");
}

static enum step_status load_file(struct step_reader *reader, struct step_error *error)
{
    enum step_status status = step_block_reader_init(&reader->blocks, NULL);
    if (status != STEP_STATUS_OK)
        return no_memory(reader, error);
    step_arena_clear(&reader->counts, MAX_COUNTS_MEMORY);
    status = check_file_header(reader, error);
    if (status == STEP_STATUS_OK)
        status = load_definition(reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    reader->blocks.plan = reader->plan;
    reader->dictionaries = calloc(reader->definition->record_count, sizeof *reader->dictionaries);
    if (reader->dictionaries == NULL)
        return no_memory(reader, error);
    if (step_reader_use_index(reader, &status, error))
        reader->whole = true;
    else
        status = step_reader_walk(reader, &reader->file, STEP_FILE_HEADER_BYTES, error);
    if (status == STEP_STATUS_OK)
        step_dictionary_finish(reader);
    return status;
}

static struct step_reader *make_reader(const char *name)
{
    struct step_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    reader->file.file = -1;
    reader->live.file = -1;
    reader->name = strdup(name);
    if (reader->name != NULL)
        return reader;
    free(reader);
    return NULL;
}

enum step_status step_reader_open(const char *path, struct step_reader **out,
                                  struct step_error *error)
{
    *out = NULL;
    struct step_reader *reader = make_reader(path);
    if (reader == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    enum step_status status = step_source_open(reader->name, &reader->file, error);
    if (status == STEP_STATUS_OK)
        status = load_file(reader, error);
    if (status == STEP_STATUS_OK && !reader->whole)
        status = step_reader_recover(reader, error);
    if (status != STEP_STATUS_OK) {
        step_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return status;
}

/* From what is not a file: there is no live mapping beside it. */
static enum step_status open_source(const struct step_source *source, const char *name,
                                    struct step_reader **out, struct step_error *error)
{
    *out = NULL;
    struct step_reader *reader = make_reader(name);
    if (reader == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, name, STEP_NO_OFFSET, "out of memory");
    reader->file = *source;
    reader->file.name = reader->name;
    enum step_status status = load_file(reader, error);
    if (status != STEP_STATUS_OK) {
        step_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return status;
}

enum step_status step_reader_open_memory(const void *data, size_t length, const char *name,
                                         struct step_reader **out, struct step_error *error)
{
    static const uint8_t nothing[1] = {0};
    const struct step_source source = {
        .file = -1, .memory = data != NULL ? data : nothing, .size = length};
    return open_source(&source, name, out, error);
}

enum step_status step_reader_open_input(const struct step_input *input, const char *name,
                                        struct step_reader **out, struct step_error *error)
{
    const struct step_source source = {.file = -1, .input = *input, .size = input->size_bytes};
    return open_source(&source, name, out, error);
}

void step_reader_destroy(struct step_reader *reader)
{
    if (reader == NULL)
        return;
    step_dictionaries_destroy(reader);
    step_block_reader_reset(&reader->blocks);
    step_plan_destroy(reader->plan);
    step_definition_destroy(reader->definition);
    step_source_close(&reader->file);
    step_arena_reset(&reader->counts);
    for (size_t i = 0; i < 2 * reader->property_count; i++)
        free(reader->properties[i]);
    free(reader->properties);
    free(reader->entries);
    free(reader->damage);
    step_buffer_reset(&reader->live_bytes);
    step_buffer_reset(&reader->head);
    step_buffer_reset(&reader->payload);
    step_buffer_reset(&reader->bytes);
    free(reader->name);
    free(reader);
}

const struct step_definition *step_reader_borrow_definition(const struct step_reader *reader)
{
    return reader->definition;
}

const char *step_reader_property(const struct step_reader *reader, const char *key)
{
    for (size_t i = 0; i < reader->property_count; i++)
        if (strcmp(reader->properties[2 * i], key) == 0)
            return reader->properties[2 * i + 1];
    return NULL;
}

size_t step_reader_property_count(const struct step_reader *reader)
{
    return reader->property_count;
}

const char *step_reader_property_key(const struct step_reader *reader, size_t i)
{
    return i < reader->property_count ? reader->properties[2 * i] : NULL;
}

const char *step_reader_property_value(const struct step_reader *reader, size_t i)
{
    return i < reader->property_count ? reader->properties[2 * i + 1] : NULL;
}

bool step_reader_is_whole(const struct step_reader *reader)
{
    return reader->whole;
}

uint64_t step_reader_recovered_count(const struct step_reader *reader)
{
    return reader->recovered;
}

uint64_t step_reader_file_size(const struct step_reader *reader)
{
    return reader->file.size;
}

size_t step_reader_block_count(const struct step_reader *reader)
{
    return reader->entry_count;
}

const struct step_block_info *step_reader_block_info(const struct step_reader *reader, size_t i)
{
    return i < reader->entry_count ? &reader->entries[i].info : NULL;
}

size_t step_reader_damage_count(const struct step_reader *reader)
{
    return reader->damage_count;
}

const struct step_damage *step_reader_damage(const struct step_reader *reader, size_t i)
{
    return i < reader->damage_count ? &reader->damage[i] : NULL;
}

static void note_load(struct step_reader *reader, struct step_block_entry *entry,
                      const struct step_block_gap *gap, enum step_status status,
                      const struct step_error *error)
{
    if (entry->damage_noted)
        return;
    if (is_damage(status)) {
        entry->damage_noted = true;
        step_reader_note(reader, error->offset, entry->info.stored_bytes, "%.140s", error->message);
    } else if (status == STEP_STATUS_OK && gap->records > 0) {
        entry->damage_noted = true;
        step_reader_note(reader, entry->info.offset, 0, "%" PRIu64 " records passed over: %.100s",
                         gap->records, gap->message);
    }
}

enum step_status step_reader_load(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error)
{
    if (i >= reader->entry_count)
        return step_error_set(error, STEP_STATUS_INVALID, reader->name, STEP_NO_OFFSET,
                              "the trace has no block %zu", i);
    if (*block == NULL)
        *block = calloc(1, sizeof **block);
    if (*block == NULL)
        return no_memory(reader, error);
    (*block)->record_count = 0;
    (*block)->at = 0;
    struct step_block_entry *entry = &reader->entries[i];
    struct step_error local = {.offset = entry->info.offset};
    struct step_payload payload;
    struct step_block_gap gap = {0};
    if (!entry->damage_noted)
        entry->damage_noted = note_header(reader, entry->source, entry->offset, &entry->header);
    enum step_status status =
        step_reader_payload(reader, entry->source, entry->offset, &entry->header, &payload, &local);
    if (status == STEP_STATUS_OK)
        status = step_block_decode(&reader->blocks, &payload, wanted, STEP_MAX_BLOCK_MEMORY, *block,
                                   &gap, &local);
    note_load(reader, entry, &gap, status, &local);
    if (status == STEP_STATUS_CUT) /* the file shrank since it was opened */
        status = local.status = STEP_STATUS_CORRUPT;
    if (status != STEP_STATUS_OK && error != NULL)
        *error = local;
    return status;
}
