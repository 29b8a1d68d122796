/* SPDX-License-Identifier: Apache-2.0 */
/* Formats call stacks for all verbs: "a/B.c:10 <- d/E.f:11 <- ...", innermost frame first. */
#ifndef CONVERTER_CLI_STACK_TEXT_H
#define CONVERTER_CLI_STACK_TEXT_H

#include <stdio.h>

#include "format/json/json_output.h"
#include "steptrace/value.h"

#define FRAME_TEXT 1024u

/* A position in a method: a line number (0: unknown), or else 1 + a bytecode index (0: unknown). */
struct frame_place {
    uint64_t line, bytecode;
    struct step_bytes file;      /* "HashMap.java", in which the line is; empty: unknown */
    struct step_bytes directory; /* "java/util/" if not that of the class's package */
};

/* Writes ":702", "@17" (a bytecode index) or "", without the file.  Returns the length. */
size_t frame_place_text(struct frame_place place, char *out, size_t out_size);
/* Writes "java/util/HashMap.resize(HashMap.java:702)", the form that development environments turn
 * into links, or "java/util/HashMap.resize:702" without a file, truncated to `out_size`.  Returns
 * the length.  A native function has an empty class name. */
size_t frame_text(struct step_bytes class_name, struct step_bytes method, struct frame_place place,
                  char *out, size_t out_size);

/* Returns the text of frame `*frame`, which may be stored in `room`, and sets `*frame` to its
 * caller (0: it is the outermost). */
typedef struct step_bytes stack_frame(const void *frames, uint64_t *frame, char room[FRAME_TEXT]);

struct stack_text {
    stack_frame *frame_of;
    const void *frames; /* borrowed; first argument of `frame_of` */
    uint64_t innermost; /* 0: the stack is empty */
    uint64_t depth;     /* maximum number of frames to print; 0: all */
};

/* Calls `put` with each part of the text: frames, arrows, and "..." for omitted frames. */
void stack_text_parts(struct stack_text stack, void (*put)(struct step_bytes part, void *user),
                      void *user);
/* Print a stack, escaped as by print_shown() and step_show(). */
void stack_print(struct stack_text stack, FILE *out);
size_t stack_show(struct stack_text stack, char *out, size_t out_size);
/* Machine-readable forms: a JSON array of all frames; a quoted CSV field of all frames,
 * separated by ";". */
void stack_put_json(struct stack_text stack, struct json_output *json, const char *key);
void stack_put_csv(struct stack_text stack, FILE *out);

#endif
