/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, fields and sites of a graph by their names, as texts that are cut where they are too
 * long. */
#ifndef CONVERTER_GRAPH_KEEPER_NAMES_H
#define CONVERTER_GRAPH_KEEPER_NAMES_H

#include "converter/base/stack_text.h"
#include "converter/graph/graph_source.h"

struct keeper_name {
    char text[FRAME_TEXT];
};

/* "java/lang/String"; "?" where the trace does not know. */
void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name);
/* "java/util/HashMap.table". */
void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name);
/* "t/Main.main:10 <- t/Main.start:3": innermost first, at most `depth` frames; 0: all that fit. */
void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name);

#endif
