/* SPDX-License-Identifier: Apache-2.0 */
/* Formats events as lines of the text format, by the fields of each kind. */
#include <string.h>

#include "format/text/text_kinds.h"

const char *step_text_kind_name(enum step_text_kind kind)
{
    return (unsigned) kind < STEP_TEXT_KIND_COUNT ? text_kinds[kind].name : "?";
}

const char *step_text_kind_fields(enum step_text_kind kind)
{
    return (unsigned) kind < STEP_TEXT_KIND_COUNT ? text_kinds[kind].fields : "";
}

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

/* Writes two digits at a time, from the right. */
static char *text_format_put_number(char *out, uint64_t value)
{
    char digits[20];
    char *first = digits + sizeof digits;
    while (value >= 100) {
        first -= 2;
        memcpy(first, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        first -= 2;
        memcpy(first, digit_pairs + value * 2, 2);
    } else {
        *--first = (char) ('0' + value);
    }
    size_t length = (size_t) (digits + sizeof digits - first);
    memcpy(out, first, length);
    return out + length;
}

/* Returns NULL if the name cannot be escaped. */
static inline char *text_format_put_name(char *out, struct step_bytes name, bool escape)
{
    if (!escape) {
        if (name.length > 0)
            memcpy(out, name.data, name.length);
        return out + name.length;
    }
    size_t length;
    return step_text_escape(name, out, &length) ? out + length : NULL;
}

static inline char *text_format_put_field(char *out, const struct step_text_event *event,
                                          char field, bool escape)
{
    *out++ = ':';
    switch (field) {
    case 'T':
        return text_format_put_number(out, event->thread);
    case 'O':
        return text_format_put_number(out, event->object);
    case 'C':
        return text_format_put_name(out, event->class_name, escape);
    default:
        return text_format_put_name(out, event->method_name, escape);
    }
}

static inline size_t format_line(const struct step_text_event *event, char *out, bool escape)
{
    char *start = out;
    memcpy(out, text_kinds[event->kind].name, 2);
    out[2] = ':';
    out = text_format_put_number(out + 3, event->time_ns);
    for (const char *field = text_kinds[event->kind].fields; *field != '\0'; field++) {
        out = text_format_put_field(out, event, *field, escape);
        if (out == NULL)
            return 0;
    }
    *out++ = '\n';
    return (size_t) (out - start);
}

size_t step_text_format_escaped(const struct step_text_event *event, char *out)
{
    return format_line(event, out, false);
}

size_t step_text_format(const struct step_text_event *event, char *out)
{
    return format_line(event, out, true);
}
