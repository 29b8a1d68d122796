/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as it is made: nothing is kept but the depth. */
#ifndef FORMAT_JSON_JSON_OUTPUT_H
#define FORMAT_JSON_JSON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "steptrace/value.h"

#define JSON_DEPTH_MAX 16u

struct json_output {
    FILE *file;      /* borrowed; its errors are the caller's to look at */
    bool is_compact; /* no line feeds and blanks; to be set after json_init() */
    bool is_in_html; /* "<" is escaped, so that no text ends a script element; the same */
    unsigned depth;
    bool has_items[JSON_DEPTH_MAX];
};

void json_init(struct json_output *json, FILE *file);

/* `key` is NULL within an array and at the top. */
void json_begin_object(struct json_output *json, const char *key);
void json_end_object(struct json_output *json);
void json_begin_array(struct json_output *json, const char *key);
void json_end_array(struct json_output *json);
void json_text(struct json_output *json, const char *key, const char *value);
/* Unpaired surrogates are escaped; what is no UTF-8 becomes U+FFFD. */
void json_bytes(struct json_output *json, const char *key, struct step_bytes value);
/* Bytes that are no text: {"hex":"6162"}. */
void json_hex(struct json_output *json, const char *key, struct step_bytes value);
void json_number(struct json_output *json, const char *key, uint64_t value);
/* A whole number exactly, any other to six digits or three places; null if it is none. */
void json_real(struct json_output *json, const char *key, double value);
/* A number as it is to stand there. */
void json_literal(struct json_output *json, const char *key, const char *text);
void json_bool(struct json_output *json, const char *key, bool value);
void json_null(struct json_output *json, const char *key);
/* The line feed at the end. */
void json_finish(struct json_output *json);

#endif
