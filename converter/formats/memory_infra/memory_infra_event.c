/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tokens, and allocates memory for the parts of an event. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/grow.h"
#include "format/core/no_memory.h"

#define VALUES_MAX ((size_t) 1 << 26) /* limit for one dump */

void memory_infra_fault(struct memory_infra *infra, const char *format, ...)
{
    if (infra->fault_count < sizeof infra->first_faults / sizeof infra->first_faults[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(infra->first_faults[infra->fault_count], sizeof infra->first_faults[0], format,
                  arguments);
        va_end(arguments);
    }
    infra->fault_count++;
}

enum step_status infra_no_memory(struct infra_reading *reading)
{
    return step_no_memory(reading->error, reading->infra->path);
}

enum step_status infra_next(struct infra_reading *reading, enum json_token *token)
{
    return json_input_next(reading->json, token, reading->error);
}

enum step_status infra_skip(struct infra_reading *reading, enum json_token token)
{
    return json_input_skip(reading->json, token, reading->error);
}

bool infra_text_is(const struct infra_reading *reading, const char *wanted)
{
    struct step_bytes text = json_input_text(reading->json);
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

bool infra_make_room(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    if (count < *capacity)
        return true;
    void *grown = step_grown(*items, capacity, count + 1, item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    return true;
}

size_t infra_keep_text(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    struct step_bytes text = json_input_text(reading->json);
    size_t wanted = event->text_length + text.length + 2;
    if (wanted > event->text_capacity) {
        char *texts = step_grown(event->texts, &event->text_capacity, wanted, 1);
        if (texts == NULL)
            return 0;
        event->texts = texts;
    }
    if (event->text_length == 0)
        event->text_length = 1;
    size_t at = event->text_length;
    memcpy(event->texts + at, text.data, text.length);
    event->texts[at + text.length] = '\0';
    event->text_length += text.length + 1;
    return at;
}

enum step_status infra_take_text(struct infra_reading *reading, size_t *target)
{
    enum json_token token;
    enum step_status status = infra_next(reading, &token);
    if (status != STEP_STATUS_OK)
        return status;
    if (target == NULL || (token != JSON_STRING && token != JSON_NUMBER))
        return infra_skip(reading, token);
    *target = infra_keep_text(reading);
    return *target != 0 ? STEP_STATUS_OK : infra_no_memory(reading);
}

struct step_bytes infra_kept(const struct infra_reading *reading, size_t at)
{
    const char *text = reading->event.texts + at;
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

bool infra_key_is(const struct infra_reading *reading, size_t key, const char *wanted)
{
    return strcmp(reading->event.texts + key, wanted) == 0;
}

enum step_status infra_each_member(struct infra_reading *reading, infra_take_member take)
{
    enum json_token token;
    for (;;) {
        enum step_status status = infra_next(reading, &token);
        if (status != STEP_STATUS_OK || token == JSON_OBJECT_END)
            return status;
        size_t key = infra_keep_text(reading);
        if (key == 0)
            return infra_no_memory(reading);
        status = infra_next(reading, &token);
        if (status == STEP_STATUS_OK)
            status = take(reading, token, key);
        if (status != STEP_STATUS_OK)
            return status;
    }
}

bool infra_read_decimal(struct step_bytes text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned) text.data[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return text.length > 0;
}

enum step_status infra_add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                                size_t name, size_t parent)
{
    struct infra_event *event = &reading->event;
    if (!infra_make_room((void **) &event->names, &event->name_capacity, event->name_count,
                         sizeof *event->names))
        return infra_no_memory(reading);
    size_t *row = event->names[event->name_count++];
    row[0] = (size_t) kind;
    row[1] = id;
    row[2] = name;
    row[3] = parent;
    return STEP_STATUS_OK;
}

enum step_status infra_add_value(struct infra_reading *reading, const struct infra_value *value)
{
    struct infra_event *event = &reading->event;
    if (event->count >= VALUES_MAX)
        return step_error_set(reading->error, STEP_STATUS_LIMIT, reading->infra->path,
                              json_input_offset(reading->json), "a dump has too many entries");
    if (!infra_make_room((void **) &event->values, &event->capacity, event->count, sizeof *value))
        return infra_no_memory(reading);
    event->values[event->count++] = *value;
    return STEP_STATUS_OK;
}
