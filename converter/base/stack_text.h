/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks as all verbs print them: "a/B.c:10 <- d/E.f:11 <- ...", the innermost frame first.
 */
#ifndef CONVERTER_BASE_STACK_TEXT_H
#define CONVERTER_BASE_STACK_TEXT_H

#include <stdio.h>

#include "format/json/json_output.h"
#include "steptrace/value.h"

#define FRAME_TEXT 1024u

/* Where a frame is: a line (0: unknown), else 1 + the index of a bytecode (0: unknown). */
struct frame_place {
    uint64_t line, bytecode;
};

/* ":702", "@17" (a bytecode index), or nothing.  Returns the length. */
size_t frame_place_text(struct frame_place place, char *out, size_t out_size);
/* "java/util/HashMap.resize:702", cut where it does not fit; a function has no class name. */
size_t frame_text(struct step_bytes class_name, struct step_bytes method, struct frame_place place,
                  char *out, size_t out_size);

/* Returns the text of a frame, which may be in `room`, and replaces the frame's number by that of
 * its caller (0: it is the outermost). */
typedef struct step_bytes stack_frame(const void *frames, uint64_t *frame, char room[FRAME_TEXT]);

struct stack_text {
    stack_frame *frame_of;
    const void *frames; /* borrowed: the first argument of `frame_of` */
    uint64_t innermost; /* 0: an empty stack */
    uint64_t depth;     /* frames to print, 0: all */
};

/* Calls `put` with each part of the text: frames, arrows, "..." where frames are left out. */
void stack_text_parts(struct stack_text stack, void (*put)(struct step_bytes part, void *user),
                      void *user);
/* As print_shown() and step_show(): what cannot be shown is escaped. */
void stack_print(struct stack_text stack, FILE *out);
size_t stack_show(struct stack_text stack, char *out, size_t out_size);
/* For programs: an array of all frames; a field of CSV in quotes, with ";" between all frames. */
void stack_put_json(struct stack_text stack, struct json_output *json, const char *key);
void stack_put_csv(struct stack_text stack, FILE *out);

#endif
