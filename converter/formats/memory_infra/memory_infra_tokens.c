/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a file, and what an event keeps of them.  The first failure ends a pass: from then
 * on there are no more tokens. */
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/grow.h"

#define VALUES_MAX ((size_t) 1 << 26) /* limit for one dump */

enum json_token infra_next(struct infra_reading *reading)
{
    enum json_token token = JSON_END;
    if (reading->status == STEP_STATUS_OK)
        reading->status = json_input_next(reading->json, &token, reading->error);
    return reading->status == STEP_STATUS_OK ? token : JSON_END;
}

bool infra_next_item(struct infra_reading *reading, enum json_token *token)
{
    *token = infra_next(reading);
    return *token != JSON_ARRAY_END && *token != JSON_END;
}

void infra_skip(struct infra_reading *reading, enum json_token token)
{
    if (reading->status == STEP_STATUS_OK)
        reading->status = json_input_skip(reading->json, token, reading->error);
}

bool infra_text_is(const struct infra_reading *reading, const char *wanted)
{
    struct step_bytes text = json_input_text(reading->json);
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

size_t infra_keep_text(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    struct step_bytes text = json_input_text(reading->json);
    if (!STEP_MAKE_ROOM(event->texts, event->text_capacity, event->text_length + text.length + 2)) {
        infra_no_memory(reading);
        return 0;
    }
    if (event->text_length == 0)
        event->text_length = 1;
    size_t at = event->text_length;
    memcpy(event->texts + at, text.data, text.length);
    event->texts[at + text.length] = '\0';
    event->text_length += text.length + 1;
    return at;
}

void infra_take_text(struct infra_reading *reading, size_t *target)
{
    enum json_token token = infra_next(reading);
    if (target == NULL || (token != JSON_STRING && token != JSON_NUMBER))
        infra_skip(reading, token);
    else
        *target = infra_keep_text(reading);
}

bool infra_key_is(const struct infra_reading *reading, size_t key, const char *wanted)
{
    return strcmp(reading->event.texts + key, wanted) == 0;
}

void infra_each_member(struct infra_reading *reading,
                       void (*take)(struct infra_reading *reading, enum json_token token,
                                    size_t key))
{
    while (infra_next(reading) == JSON_KEY) {
        size_t key = infra_keep_text(reading);
        enum json_token token = infra_next(reading);
        if (reading->status == STEP_STATUS_OK)
            take(reading, token, key);
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

void infra_add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                    size_t name, size_t parent)
{
    struct infra_event *event = &reading->event;
    if (STEP_MAKE_ROOM(event->names, event->name_capacity, event->name_count + 1))
        event->names[event->name_count++] = (struct infra_name){kind, id, name, parent};
    else
        infra_no_memory(reading);
}

void infra_add_value(struct infra_reading *reading, const struct infra_value *value)
{
    struct infra_event *event = &reading->event;
    if (event->count >= VALUES_MAX)
        reading->status =
            step_error_set(reading->error, STEP_STATUS_LIMIT, reading->infra->path,
                           json_input_offset(reading->json), "a dump has too many entries");
    else if (STEP_MAKE_ROOM(event->values, event->capacity, event->count + 1))
        event->values[event->count++] = *value;
    else
        infra_no_memory(reading);
}
