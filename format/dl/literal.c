/* SPDX-License-Identifier: Apache-2.0 */
/* String literals, and the places of characters in the text. */
#include "syntax.h"

void step_dl_advance(struct step_dl_parse *parse, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char) text[i];
        if (byte == '\n') {
            parse->place.line++;
            parse->place.column = 1;
        } else if ((byte & 0xc0) != 0x80) { /* not a further byte of a UTF-8 character */
            parse->place.column++;
        }
    }
}

/* Bytes of the UTF-8 character at `text`, 0 if it is none. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    if (length == 0 || length > left || text[0] == 0)
        return 0;
    uint32_t code = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

size_t step_dl_utf8_prefix(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        size_t step = utf8_length((const unsigned char *) text + i, length - i);
        if (step == 0)
            break;
        i += step;
    }
    return i;
}

static size_t put_utf8(uint32_t code, char *out)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    if (length == 1) {
        out[0] = (char) code;
        return 1;
    }
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char) (0x80 | (code & 0x3f));
    out[0] = (char) ((length == 2 ? 0xc0 : 0xe0) | code);
    return length;
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

/* After `\u`: four hexadecimal digits of a character that is not NUL and no surrogate. */
static bool read_unicode(const char *text, size_t left, uint32_t *code)
{
    *code = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < left ? hex_digit(text[i]) : -1;
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t) digit;
    }
    return *code != 0 && (*code < 0xd800 || *code >= 0xe000);
}

/* Reads the escape behind a backslash; gives the bytes read, 0 if it is none. */
static size_t read_escape(const char *text, size_t left, char *out, size_t *out_length)
{
    static const char from[] = "\"\\'nrtbf";
    static const char to[] = "\"\\'\n\r\t\b\f";
    uint32_t code;
    if (left > 0 && text[0] == 'u' && read_unicode(text + 1, left - 1, &code)) {
        *out_length = put_utf8(code, out);
        return 5;
    }
    for (size_t i = 0; from[i] != '\0' && left > 0; i++) {
        if (text[0] == from[i]) {
            out[0] = to[i];
            *out_length = 1;
            return 1;
        }
    }
    return 0;
}

const char *step_dl_unquote(struct step_dl_parse *parse, const char *text, size_t length,
                            struct step_dl_place place)
{
    text++;
    length -= 2;
    if (step_dl_utf8_prefix(text, length) != length)
        step_dl_fault(parse, place, "a string that is not UTF-8, or has a NUL in it");
    char *value = step_dl_pool_text(parse->model, text, length);
    if (value == NULL)
        return step_dl_no_memory(parse, parse->model);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            value[used++] = text[i];
            continue;
        }
        size_t made = 0;
        size_t read = read_escape(text + i + 1, length - i - 1, value + used, &made);
        if (read == 0)
            step_dl_fault(parse, place, "an unknown escape in a string; there are "
                                        "\\\" \\\\ \\' \\n \\r \\t \\b \\f and \\uXXXX");
        used += made;
        i += read;
    }
    value[used] = '\0';
    return value;
}
