/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of a trace that have the name of another one, as classes of two loaders do.  Rows of
 * a table show them with the loader, so that they can be told apart.  Memory is that of their
 * names.
 */
#ifndef CONVERTER_TRACE_CLASS_TWINS_H
#define CONVERTER_TRACE_CLASS_TWINS_H

#include "converter/trace/names.h"

struct class_twins {
    const struct trace_names *names; /* borrowed */
    struct id_table texts;           /* char *, of classes that share their name */
};

/* Looks at all classes that the names have now.  Without memory, rows of one name look alike. */
void class_twins_find(struct class_twins *twins, const struct trace_names *names);
void class_twins_reset(struct class_twins *twins);

/* Returns the class's name, or, if it shares it, the name with its loader: "a/X (loader 3)", or
 * with its number, if the loader is the same.  The result lives as long as both. */
struct step_bytes class_twins_name(const struct class_twins *twins, uint32_t id);

#endif
