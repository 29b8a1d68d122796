/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON: commas, indentation and escapes. */
#include "format/json/json_output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "format/core/utf8.h"
#include "steptrace/show.h"

void json_init(struct json_output *json, FILE *file)
{
    *json = (struct json_output){.file = file};
}

static void new_line(struct json_output *json)
{
    if (json->is_compact)
        return;
    fputc('\n', json->file);
    for (unsigned i = 0; i < json->depth; i++)
        fputs("  ", json->file);
}

static struct step_bytes json_output_bytes_of(const char *text)
{
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

static void put_character(const struct json_output *json, uint32_t code, const uint8_t *bytes,
                          size_t length)
{
    FILE *file = json->file;
    static const char short_names[] = "\b\t\n\f\r";
    const char *found = code != 0 && code < 0x20 ? strchr(short_names, (int) code) : NULL;
    if (code == '"' || code == '\\')
        fprintf(file, "\\%c", (char) code);
    else if (found != NULL)
        fprintf(file, "\\%c", "btnfr"[found - short_names]);
    else if (step_show_is_control(code) || step_utf8_is_surrogate(code) ||
             (code == '<' && json->is_in_html))
        fprintf(file, "\\u%04x", (unsigned) code);
    else
        fwrite(bytes, 1, length, file);
}

static void json_output_put_string(struct json_output *json, struct step_bytes value)
{
    fputc('"', json->file);
    for (size_t at = 0; at < value.length;) {
        uint32_t code;
        size_t length = step_utf8_decode(value.data + at, value.length - at, &code);
        if (length == 0)
            fputs("\xef\xbf\xbd", json->file);
        else
            put_character(json, code, value.data + at, length);
        at += length == 0 ? 1 : length;
    }
    fputc('"', json->file);
}

/* Writes the start of an item: a comma, a line feed, its key. */
static void start_item(struct json_output *json, const char *key)
{
    if (json->depth > 0) {
        if (json->has_items[json->depth - 1])
            fputc(',', json->file);
        json->has_items[json->depth - 1] = true;
        new_line(json);
    }
    if (key != NULL) {
        json_output_put_string(json, json_output_bytes_of(key));
        fputs(json->is_compact ? ":" : ": ", json->file);
    }
}

static void json_output_begin(struct json_output *json, const char *key, char bracket)
{
    start_item(json, key);
    fputc(bracket, json->file);
    json->has_items[json->depth++] = false;
}

static void json_output_end(struct json_output *json, char bracket)
{
    json->depth--;
    if (json->has_items[json->depth])
        new_line(json);
    fputc(bracket, json->file);
}

void json_begin_object(struct json_output *json, const char *key)
{
    json_output_begin(json, key, '{');
}

void json_end_object(struct json_output *json)
{
    json_output_end(json, '}');
}

void json_begin_array(struct json_output *json, const char *key)
{
    json_output_begin(json, key, '[');
}

void json_end_array(struct json_output *json)
{
    json_output_end(json, ']');
}

void json_bytes(struct json_output *json, const char *key, struct step_bytes value)
{
    start_item(json, key);
    json_output_put_string(json, value);
}

void json_hex(struct json_output *json, const char *key, struct step_bytes value)
{
    json_begin_object(json, key);
    start_item(json, "hex");
    fputc('"', json->file);
    for (size_t i = 0; i < value.length; i++)
        fprintf(json->file, "%02x", value.data[i]);
    fputc('"', json->file);
    json_end_object(json);
}

void json_text(struct json_output *json, const char *key, const char *value)
{
    json_bytes(json, key, json_output_bytes_of(value));
}

void json_number(struct json_output *json, const char *key, uint64_t value)
{
    start_item(json, key);
    fprintf(json->file, "%" PRIu64, value);
}

void json_numbers(struct json_output *json, const char *key, const uint64_t *numbers, size_t count,
                  size_t stride)
{
    const char *at = (const char *) numbers;
    json_begin_array(json, key);
    for (size_t i = 0; i < count; i++, at += stride) {
        uint64_t number;
        memcpy(&number, at, sizeof number);
        json_number(json, NULL, number);
    }
    json_end_array(json);
}

/* All whole numbers below it are exact as a double. */
#define EXACT 9007199254740992.0

void json_real(struct json_output *json, const char *key, double value)
{
    start_item(json, key);
    if (!isfinite(value))
        fputs("null", json->file);
    else if (fabs(value) < EXACT && value == (double) (int64_t) value)
        fprintf(json->file, "%" PRId64, (int64_t) value);
    else
        fprintf(json->file, fabs(value) >= 1e5 && fabs(value) < EXACT ? "%.3f" : "%.6g", value);
}

void json_microseconds(struct json_output *json, const char *key, uint64_t ns)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 ".%03u", ns / 1000, (unsigned) (ns % 1000));
    json_literal(json, key, text);
}

void json_literal(struct json_output *json, const char *key, const char *text)
{
    start_item(json, key);
    fputs(text, json->file);
}

void json_bool(struct json_output *json, const char *key, bool value)
{
    start_item(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_null(struct json_output *json, const char *key)
{
    start_item(json, key);
    fputs("null", json->file);
}

void json_open(struct json_output *json, FILE *file)
{
    json_init(json, file);
    json_begin_object(json, NULL);
}

void json_close(struct json_output *json)
{
    json_end_object(json);
    fputc('\n', json->file);
}
