/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes, fields and sites of a graph as text, truncated to the buffer. */
#ifndef CONVERTER_GRAPH_KEEPER_NAMES_H
#define CONVERTER_GRAPH_KEEPER_NAMES_H

#include "converter/base/stack_text.h"
#include "converter/graph/graph_source.h"

struct keeper_name {
    char text[FRAME_TEXT];
};

/* Writes "java/lang/String", or "?" for an unknown class. */
void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name);
/* Writes "java/util/HashMap.table". */
void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name);
/* Writes "t/Main.main:10 <- t/Main.start:3", innermost frame first; at most `depth` frames; 0:
 * all that fit. */
void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name);

#endif
