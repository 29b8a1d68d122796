/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance: reads blocks of properties, and returns their values by key.  A later value replaces
 * an earlier one, so a writer can state at the end what it did not know at the start. */
#include "steptrace/reader.h"

#include <stdlib.h>
#include <string.h>

#include "format/step/read/reader_internal.h"

/* Keys are found by a linear search, as a trace has some dozens.  The limit is for a hostile file,
 * in which the time to add them would grow with the square of their number. */
enum { MAX_PROPERTIES = 65536 };

enum step_status step_reader_set_property(struct step_reader *reader, char *key, char *value)
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

enum step_status step_reader_properties(struct step_reader *reader,
                                        const struct step_payload *payload,
                                        struct step_error *error)
{
    reader->bytes.length = 0;
    enum step_status status = step_block_decode_bytes(
        &reader->blocks, payload, STEP_MAX_PROPERTY_BYTES, &reader->bytes, error);
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
        status = step_reader_set_property(reader, strndup((const char *) key, (size_t) key_length),
                                          strndup((const char *) value, (size_t) value_length));
        if (status != STEP_STATUS_OK)
            return step_reader_no_memory(reader, error);
    }
    return status;
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
