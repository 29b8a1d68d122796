/* SPDX-License-Identifier: Apache-2.0 */
/* Formats and parses HATF records as lines of text. */
#include <string.h>

#include "steptrace/hatf.h"
#include "steptrace/show.h"

static const struct {
    const char *name;
    size_t length;
} tags[HATF_COMMENT] = {
#define TAG(number, text) [number] = {text, sizeof text - 1}
    TAG(HATF_ALLOC, "alloc"),
    TAG(HATF_FREE, "free"),
    TAG(HATF_REALLOC_NO_ALLOC, "realloc/none"),
    TAG(HATF_REALLOC_ALLOC_FREE, "realloc/both"),
    TAG(HATF_REALLOC_ALLOC, "realloc/alloc"),
    TAG(HATF_REALLOC_FREE, "realloc/free"),
    TAG(HATF_CREATE_HEAP, "createHeap"),
    TAG(HATF_DESTROY_HEAP, "destroyHeap"),
    TAG(HATF_CREATE_THREAD, "createThread"),
    TAG(HATF_DESTROY_THREAD, "destroyThread"),
#undef TAG
};

enum { COLUMNS = 6 };

/* Stores the numbers in the order of the line. */
static void hatf_line_gather(const struct hatf_record *record, uint64_t *numbers)
{
    bool is_realloc = record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE;
    numbers[0] = hatf_tag_has(record->tag, HATF_ADDRESS) ? record->address : 0;
    numbers[1] = hatf_tag_has(record->tag, HATF_SIZE) ? record->size : 0;
    numbers[2] = is_realloc ? record->new_address : 0;
    numbers[3] = record->thread;
    numbers[4] = hatf_tag_has(record->tag, HATF_HEAP) ? record->heap : 0;
    numbers[5] = record->time;
}

static char *hatf_line_put_number(char *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char) ('0' + value % 10);
    while ((value /= 10) > 0);
    memcpy(out, digits + at, sizeof digits - at);
    return out + (sizeof digits - at);
}

static char *hatf_line_put_bytes(char *out, struct step_bytes bytes, bool with_blanks)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.length;) {
        uint8_t byte = bytes.data[i];
        size_t length = step_show_length(bytes.data + i, bytes.length - i);
        if (byte == '\\') {
            *out++ = '\\';
            *out++ = '\\';
        } else if (length == 0 || (byte == ' ' && !with_blanks)) {
            *out++ = '\\';
            *out++ = 'x';
            *out++ = hex[byte >> 4];
            *out++ = hex[byte & 15];
        } else {
            memcpy(out, bytes.data + i, length);
            out += length;
        }
        i += length > 0 ? length : 1;
    }
    return out;
}

static size_t format_comment(struct step_bytes text, char *out)
{
    if (text.length > HATF_COMMENT_MAX)
        return 0;
    char *at = out;
    *at++ = '#';
    *at++ = ' ';
    at = hatf_line_put_bytes(at, text, true);
    *at++ = '\n';
    return (size_t) (at - out);
}

size_t hatf_line_format(const struct hatf_record *record, char *out)
{
    uint64_t numbers[COLUMNS];
    if (record->tag == HATF_COMMENT)
        return format_comment(record->comment, out);
    if ((unsigned) record->tag > HATF_COMMENT || record->attributes.length > HATF_ATTRIBUTES_MAX)
        return 0;
    hatf_line_gather(record, numbers);
    size_t count = COLUMNS;
    while (count > 0 && numbers[count - 1] == 0 && record->attributes.length == 0)
        count--;
    memcpy(out, tags[record->tag].name, tags[record->tag].length);
    char *at = out + tags[record->tag].length;
    for (size_t i = 0; i < count; i++) {
        *at++ = ' ';
        at = hatf_line_put_number(at, numbers[i]);
    }
    if (record->attributes.length > 0) {
        *at++ = ' ';
        at = hatf_line_put_bytes(at, record->attributes, false);
    }
    *at++ = '\n';
    return (size_t) (at - out);
}

/* ---- reading ---- */

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static const char *parse_bytes(const char *at, const char *end, uint8_t *bytes,
                               struct step_bytes *out)
{
    size_t length = 0;
    while (at < end) {
        if (*at != '\\') {
            bytes[length++] = (uint8_t) *at++;
            continue;
        }
        if (end - at >= 2 && at[1] == '\\') {
            bytes[length++] = '\\';
            at += 2;
            continue;
        }
        int high = end - at >= 4 && at[1] == 'x' ? hex_digit(at[2]) : -1;
        int low = high >= 0 ? hex_digit(at[3]) : -1;
        if (low < 0)
            return "a backslash that begins neither \\\\ nor \\xHH";
        bytes[length++] = (uint8_t) (high << 4 | low);
        at += 4;
    }
    *out = (struct step_bytes){length > 0 ? bytes : NULL, length};
    return NULL;
}

static const char *parse_comment(const char *at, const char *end, struct hatf_record *record,
                                 uint8_t *bytes)
{
    record->tag = HATF_COMMENT;
    at += at < end && *at == ' ';
    const char *fault = parse_bytes(at, end, bytes, &record->comment);
    return fault == NULL && record->comment.length > HATF_COMMENT_MAX ? "the comment is too long"
                                                                      : fault;
}

static bool parse_tag(const char *line, size_t length, enum hatf_tag *tag)
{
    for (unsigned i = 0; i < HATF_COMMENT; i++)
        if (tags[i].length == length && memcmp(tags[i].name, line, length) == 0) {
            *tag = (enum hatf_tag) i;
            return true;
        }
    return false;
}

/* Parses digits up to a blank or the end.  Returns NULL if there are none, or too many. */
static const char *parse_number(const char *at, const char *end, uint64_t *value)
{
    const char *start = at;
    uint64_t number = 0;
    for (; at < end && *at != ' '; at++) {
        unsigned digit = (unsigned) (uint8_t) *at - '0';
        if (digit > 9 || __builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return NULL;
    }
    *value = number;
    return at > start ? at : NULL;
}

static const char *take_numbers(struct hatf_record *record, const uint64_t *numbers)
{
    uint64_t back[COLUMNS];
    record->address = numbers[0];
    record->size = numbers[1];
    record->new_address = numbers[2];
    record->thread = numbers[3];
    record->heap = numbers[4];
    record->time = numbers[5];
    hatf_line_gather(record, back);
    return memcmp(back, numbers, sizeof back) == 0
               ? NULL
               : "a number in a column that the tag does not have";
}

const char *hatf_line_parse(const char *line, size_t length, struct hatf_record *record,
                            uint8_t *bytes)
{
    const char *end = line + length;
    uint64_t numbers[COLUMNS] = {0};
    *record = (struct hatf_record){.tag = HATF_ALLOC};
    if (length > 0 && *line == '#')
        return parse_comment(line + 1, end, record, bytes);
    const char *at = memchr(line, ' ', length);
    if (at == NULL)
        at = end;
    if (!parse_tag(line, (size_t) (at - line), &record->tag))
        return "unknown tag";
    for (size_t i = 0; i < COLUMNS && at < end; i++) {
        at = parse_number(at + 1, end, &numbers[i]);
        if (at == NULL)
            return "a number is expected";
    }
    const char *fault = take_numbers(record, numbers);
    if (fault != NULL || at == end)
        return fault;
    if (memchr(at + 1, ' ', (size_t) (end - at - 1)) != NULL)
        return "too many columns";
    fault = parse_bytes(at + 1, end, bytes, &record->attributes);
    return fault == NULL && record->attributes.length > HATF_ATTRIBUTES_MAX
               ? "the attributes are too long"
               : fault;
}
