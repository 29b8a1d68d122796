/* SPDX-License-Identifier: Apache-2.0 */
/* Parses lines of the text format strictly: accepts only what the formatter can write. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/core/utf8.h"
#include "format/text/text_kinds.h"
#include "steptrace/show.h"

/* ---- names: decoding UTF-8 with surrogates, and escaping what a line cannot contain ---- */

/* Classes of bytes in names. */
enum text_byte {
    TEXT_BYTE_PLAIN,  /* an ASCII character that stands for itself */
    TEXT_BYTE_ESCAPE, /* always escaped: `:` `\` LF CR */
    TEXT_BYTE_MULTI   /* part of a multi-byte character, or invalid UTF-8 */
};

static inline bool text_is_high_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static inline bool text_is_low_surrogate(uint32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

#define FOUR(x) x, x, x, x
#define SIXTEEN(x) FOUR(x), FOUR(x), FOUR(x), FOUR(x)
static const uint8_t text_byte_class[256] = {
    ['\n'] = TEXT_BYTE_ESCAPE,         ['\r'] = TEXT_BYTE_ESCAPE,
    [':'] = TEXT_BYTE_ESCAPE,          ['\\'] = TEXT_BYTE_ESCAPE,
    [0x80] = SIXTEEN(TEXT_BYTE_MULTI), [0x90] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xa0] = SIXTEEN(TEXT_BYTE_MULTI), [0xb0] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xc0] = SIXTEEN(TEXT_BYTE_MULTI), [0xd0] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xe0] = SIXTEEN(TEXT_BYTE_MULTI), [0xf0] = SIXTEEN(TEXT_BYTE_MULTI),
};

static size_t put_escape(char *out, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'u';
    for (unsigned i = 0; i < 4; i++)
        out[2 + i] = hex[code >> (12 - 4 * i) & 0xf];
    return 6;
}

/* Escapes the multi-byte character at `*in` and moves on.  Returns 0 if it is invalid. */
static size_t escape_multi(const uint8_t **in, const uint8_t *end, char *out)
{
    uint32_t code;
    size_t length = step_utf8_decode(*in, (size_t) (end - *in), &code);
    if (length == 0)
        return 0;
    const uint8_t *from = *in;
    *in += length;
    if (!step_utf8_is_surrogate(code)) {
        memcpy(out, from, length);
        return length;
    }
    uint32_t low;
    if (text_is_high_surrogate(code) && *in < end &&
        step_utf8_decode(*in, (size_t) (end - *in), &low) == 3 && text_is_low_surrogate(low)) {
        *in += 3;
        return step_utf8_encode((uint8_t *) out,
                                0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    }
    return put_escape(out, code);
}

bool step_text_escape(struct step_bytes name, char *out, size_t *length)
{
    const uint8_t *in = name.data;
    char *start = out;
    if (name.length == 0)
        return false;
    for (const uint8_t *end = in + name.length; in < end;) {
        uint8_t byte = *in;
        if (text_byte_class[byte] == TEXT_BYTE_PLAIN) {
            *out++ = (char) byte;
            in++;
        } else if (text_byte_class[byte] == TEXT_BYTE_ESCAPE) {
            out += put_escape(out, byte);
            in++;
        } else {
            size_t put = escape_multi(&in, end, out);
            if (put == 0)
                return false;
            out += put;
        }
    }
    *length = (size_t) (out - start);
    return true;
}

/* State of the parser.  `end` is at the line feed, which exists, so reading one byte is always
 * safe. */
struct scan {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    uint8_t *scratch;   /* free space for names with escapes */
    const char *reason; /* of the first fault, whose position is `at` */
};

static bool text_parse_refuse(struct scan *scan, const uint8_t *at, const char *reason)
{
    scan->at = at;
    scan->reason = reason;
    return false;
}

static bool scan_kind(struct scan *scan, enum step_text_kind *kind)
{
    if (scan->end - scan->at >= 2) {
        for (unsigned i = 0; i < STEP_TEXT_KIND_COUNT; i++) {
            if (memcmp(scan->at, text_kinds[i].name, 2) == 0 &&
                (scan->at[2] == ':' || scan->at + 2 == scan->end)) {
                *kind = (enum step_text_kind) i;
                scan->at += 2;
                return true;
            }
        }
    }
    return text_parse_refuse(scan, scan->at, "unknown event type");
}

static bool scan_colon(struct scan *scan)
{
    if (scan->at == scan->end)
        return text_parse_refuse(scan, scan->at, "too few fields");
    if (*scan->at != ':')
        return text_parse_refuse(scan, scan->at, "a colon is missing");
    scan->at++;
    return true;
}

static bool scan_number(struct scan *scan, uint64_t *value)
{
    const uint8_t *first = scan->at;
    uint64_t sum = 0;
    const uint8_t *at = first;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t) (*at - '0');
        if (at - first >= 19 && sum > (UINT64_MAX - digit) / 10)
            return text_parse_refuse(scan, first, "the number is too large");
        sum = sum * 10 + digit;
    }
    if (*at != ':' && at != scan->end)
        return text_parse_refuse(scan, at, "not a decimal number");
    if (at == first)
        return text_parse_refuse(scan, at, "a number is missing");
    if (*first == '0' && at - first > 1)
        return text_parse_refuse(scan, first, "the number has leading zeros");
    scan->at = at;
    *value = sum;
    return true;
}

/* Returns the value of four lower-case hexadecimal digits, or UINT32_MAX. */
static uint32_t hex_value(const uint8_t *at)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (at[i] >= '0' && at[i] <= '9')
            value = value << 4 | (uint32_t) (at[i] - '0');
        else if (at[i] >= 'a' && at[i] <= 'f')
            value = value << 4 | (uint32_t) (at[i] - 'a' + 10);
        else
            return UINT32_MAX;
    }
    return value;
}

/* `steptrace dump` escapes these for terminals, too; a tab has no escape. */
static bool may_be_escaped(uint32_t code)
{
    return step_utf8_is_surrogate(code) ||
           (code < 0x80 && text_byte_class[code] == TEXT_BYTE_ESCAPE) ||
           (code != '\t' && step_show_is_control(code));
}

/* Reads the escape at `scan->at`.  `high` is whether the previous character was a high surrogate;
 * it is updated. */
static bool scan_escape(struct scan *scan, bool *high)
{
    const uint8_t *at = scan->at;
    if (scan->end - at < 6 || at[1] != 'u')
        return text_parse_refuse(scan, at, "a backslash without uXXXX");
    uint32_t code = hex_value(at + 2);
    if (code == UINT32_MAX)
        return text_parse_refuse(scan, at, "an escape without four lower-case hexadecimal digits");
    if (!may_be_escaped(code))
        return text_parse_refuse(scan, at, "an escape of a character that needs none");
    if (*high && text_is_low_surrogate(code))
        return text_parse_refuse(scan, at, "a pair of surrogates written as escapes");
    *high = text_is_high_surrogate(code);
    scan->scratch += step_utf8_encode(scan->scratch, code);
    scan->at += 6;
    return true;
}

/* Skips the multi-byte character at `scan->at`. */
static bool scan_multi(struct scan *scan)
{
    uint32_t code;
    size_t length = step_utf8_decode(scan->at, (size_t) (scan->end - scan->at), &code);
    if (length == 0 || step_utf8_is_surrogate(code))
        return text_parse_refuse(scan, scan->at, "not valid UTF-8");
    scan->at += length;
    return true;
}

/* Skips plain bytes, up to an escape, a colon or the line's end. */
static bool scan_plain(struct scan *scan)
{
    for (;;) {
        while (text_byte_class[*scan->at] == TEXT_BYTE_PLAIN)
            scan->at++;
        if (text_byte_class[*scan->at] == TEXT_BYTE_ESCAPE)
            return true;
        if (!scan_multi(scan))
            return false;
    }
}

/* Reads the rest of a name from its first escape, at `scan->at`, to scratch. */
static bool scan_escaped_name(struct scan *scan, const uint8_t *first, struct step_bytes *name)
{
    uint8_t *copy = scan->scratch;
    bool high = false;
    memcpy(copy, first, (size_t) (scan->at - first));
    scan->scratch += scan->at - first;
    while (*scan->at == '\\') {
        if (!scan_escape(scan, &high))
            return false;
        const uint8_t *plain = scan->at;
        if (!scan_plain(scan))
            return false;
        size_t length = (size_t) (scan->at - plain);
        memcpy(scan->scratch, plain, length);
        scan->scratch += length;
        high = high && length == 0;
    }
    name->data = copy;
    name->length = (size_t) (scan->scratch - copy);
    return true;
}

static bool scan_name(struct scan *scan, struct step_bytes *name)
{
    const uint8_t *first = scan->at;
    if (!scan_plain(scan))
        return false;
    name->data = first;
    name->length = (size_t) (scan->at - first);
    if (*scan->at == '\\' && !scan_escaped_name(scan, first, name))
        return false;
    if (*scan->at == '\r')
        return text_parse_refuse(scan, scan->at, "a raw carriage return");
    if (name->length == 0)
        return text_parse_refuse(scan, scan->at, "a name is missing");
    return true;
}

static bool scan_field(struct scan *scan, char field, struct step_text_event *event)
{
    if (!scan_colon(scan))
        return false;
    switch (field) {
    case 'T':
        return scan_number(scan, &event->thread);
    case 'O':
        return scan_number(scan, &event->object);
    case 'C':
        return scan_name(scan, &event->class_name);
    default:
        return scan_name(scan, &event->method_name);
    }
}

static bool scan_line(struct scan *scan, struct step_text_event *event)
{
    if (!scan_kind(scan, &event->kind) || !scan_colon(scan) || !scan_number(scan, &event->time_ns))
        return false;
    for (const char *field = text_kinds[event->kind].fields; *field != '\0'; field++) {
        if (!scan_field(scan, *field, event))
            return false;
    }
    if (scan->at != scan->end)
        return text_parse_refuse(scan, scan->at,
                                 *scan->at == ':' ? "too many fields" : "a raw line feed");
    return true;
}

bool step_text_parse(const char *line, size_t length, uint8_t *scratch,
                     struct step_text_event *event, struct step_text_fault *fault)
{
    struct scan scan = {.start = (const uint8_t *) line, .scratch = scratch};
    memset(event, 0, sizeof *event);
    scan.at = scan.start;
    if (length > 0 && line[length - 1] == '\n') {
        scan.end = scan.start + length - 1;
        if (scan_line(&scan, event))
            return true;
    } else {
        text_parse_refuse(&scan, scan.start + length, "the line feed is missing");
    }
    if (fault != NULL) {
        fault->reason = scan.reason;
        fault->position = (size_t) (scan.at - scan.start);
    }
    return false;
}
