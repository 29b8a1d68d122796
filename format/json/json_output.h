/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer; keeps only the depth. */
#ifndef FORMAT_JSON_JSON_OUTPUT_H
#define FORMAT_JSON_JSON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "steptrace/value.h"

#define JSON_DEPTH_MAX 16u

struct json_output {
    FILE *file;      /* borrowed; the caller checks its errors */
    bool is_compact; /* no line feeds and blanks; set it after json_init() */
    bool is_in_html; /* escape "<", so that no text ends a script element; set it after
                        json_init() */
    unsigned depth;
    bool has_items[JSON_DEPTH_MAX];
};

void json_init(struct json_output *json, FILE *file);
/* Initialises it and begins an object; ends that object and writes the final line feed. */
void json_open(struct json_output *json, FILE *file);
void json_close(struct json_output *json);

/* Begins an object.  Here and below, `key` is NULL inside an array and at the top. */
void json_begin_object(struct json_output *json, const char *key);
void json_end_object(struct json_output *json);
void json_begin_array(struct json_output *json, const char *key);
void json_end_array(struct json_output *json);
void json_text(struct json_output *json, const char *key, const char *value);
/* Writes a string.  Unpaired surrogates are escaped; invalid UTF-8 becomes U+FFFD. */
void json_bytes(struct json_output *json, const char *key, struct step_bytes value);
/* Writes arbitrary bytes: {"hex":"6162"}. */
void json_hex(struct json_output *json, const char *key, struct step_bytes value);
void json_number(struct json_output *json, const char *key, uint64_t value);
/* Puts an array of `count` numbers, each `stride` bytes after the one before. */
void json_numbers(struct json_output *json, const char *key, const uint64_t *numbers, size_t count,
                  size_t stride);
/* Puts an array of these numbers. */
#define JSON_NUMBERS(json, key, ...)                                                               \
    json_numbers(json, key, (const uint64_t[]){__VA_ARGS__},                                       \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), sizeof(uint64_t))
/* Writes a whole number exactly, any other with six digits or three decimals; null if it is not a
 * number. */
void json_real(struct json_output *json, const char *key, double value);
/* Writes nanoseconds as microseconds with three decimals. */
void json_microseconds(struct json_output *json, const char *key, uint64_t ns);
/* Writes a number given as text. */
void json_literal(struct json_output *json, const char *key, const char *text);
void json_bool(struct json_output *json, const char *key, bool value);
void json_null(struct json_output *json, const char *key);

#endif
