/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a method's StackMapTable, read one after the other. */
#ifndef AGENT_REWRITER_STACK_MAP_H
#define AGENT_REWRITER_STACK_MAP_H

#include "agent/rewriter/method_code.h"

enum frame_kind {
    FRAME_FIRST_LONG = 128,
    FRAME_EARLY_LARVAL = 246, /* since class file version 72: a prefix of another frame */
    FRAME_ONE_STACK = 247,
    FRAME_CHOP_3 = 248,
    FRAME_SAME = 251,
    FRAME_FULL = 255
};

enum { TYPE_EARLY_THIS = 6, TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

/* A frame; short forms have the kind of their long ones. Types are as in the file. */
struct map_frame {
    uint32_t kind, offset;
    const uint8_t *unset; /* of an early larval frame: the number of strict fields that are not set
                           * yet, and their indices; NULL: as in the previous frame */
    const uint8_t *locals, *stack; /* locals: new ones (append) or all (full) */
    uint32_t local_count, stack_count;
};

struct map_reader {
    const uint8_t *at, *end, *fault;
    uint32_t left, next, length;
};

/* Opens the table of a method. Returns false if it is cut off. */
bool map_reader_open(struct map_reader *reader, const struct method_code *method);
/* Reads the next frame. Returns false at the end and at a fault. */
bool map_reader_next(struct map_reader *reader, struct map_frame *frame);
/* Sets the fault. Always returns false. */
bool map_reader_fault(struct map_reader *reader, struct method_code *method);
/* Returns true if all frames were read. */
bool map_reader_done(const struct map_reader *reader);

#endif
