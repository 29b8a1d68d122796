/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON parser: reads tokens one by one from a file, which may be gzipped.  Keeps only the
 * depth and the text of the last token.  Strict: invalid JSON is an error with its byte offset.
 */
#ifndef FORMAT_JSON_JSON_INPUT_H
#define FORMAT_JSON_JSON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"

#define JSON_INPUT_DEPTH_MAX 512u              /* nested arrays and objects */
#define JSON_INPUT_TEXT_MAX ((size_t) 1 << 20) /* bytes of a string or number */

enum json_token {
    JSON_END, /* of the input */
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER, /* `text` is unchanged from the file */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

struct json_input;

enum step_status json_input_open(const char *path, struct json_input **out,
                                 struct step_error *error);
void json_input_close(struct json_input *input);

/* Reads the next token.  CUT: the input ends early; CORRUPT: invalid JSON.  After an error all
 * calls return it again. */
enum step_status json_input_next(struct json_input *input, enum json_token *token,
                                 struct step_error *error);
/* Returns the text of the last key, number or string (escapes resolved; an unpaired surrogate in
 * its three-byte form).  It is NUL-terminated, and lives until the next token. */
struct step_bytes json_input_text(const struct json_input *input);
/* Returns the offset of the last token in the decompressed input. */
uint64_t json_input_offset(const struct json_input *input);
/* Skips the rest of the value that `token` began. */
enum step_status json_input_skip(struct json_input *input, enum json_token token,
                                 struct step_error *error);

#endif
