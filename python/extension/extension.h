/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steptrace._tables, the compiled part of the Python package: traces as tables, rows as buffers.
 * It provides only what python/steptrace, the public interface, needs.
 *
 * Limited API of Python 3.11, no headers of numpy.  The GIL is released while blocks are decoded.
 */
#ifndef PYTHON_EXTENSION_EXTENSION_H
#define PYTHON_EXTENSION_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "analyses/tables/column_reader.h"

/* State of the module. */
struct extension_state {
    PyObject *error;          /* steptrace.Error: a trace cannot be read */
    PyObject *unknown_name;   /* steptrace.UnknownName: no such table or column */
    PyObject *damage_warning; /* steptrace.DamageWarning */
    PyTypeObject *trace_type;
    PyTypeObject *scan_type;
    PyTypeObject *buffer_type;
};

extern struct PyModuleDef extension_module;

struct extension_state *extension_state_of(PyTypeObject *type);

/* Raises the exception for a status.  Returns NULL. */
PyObject *extension_raise(struct extension_state *state, const struct step_error *error);
/* Returns the error as text, or NULL with an exception. */
PyObject *extension_text(const struct step_error *error);
/* Converts text of a trace, whatever bytes it has. */
PyObject *extension_str(struct step_bytes text);

extern PyType_Spec buffer_spec, scan_spec, trace_spec;

/* Creates a buffer.  The memory, from malloc(), belongs to the object, also on failure.  NULL
 * memory gives an empty buffer. */
PyObject *buffer_create(struct extension_state *state, void *memory, size_t length);

/* Creates a scan.  `reader` belongs to the object, also on failure. */
PyObject *scan_create(struct extension_state *state, struct column_reader *reader);

/* A parsed (columns, ranges, threads, class glob, part); its arrays are from PyMem_Malloc(). */
struct parsed_query {
    struct table_query query;
    struct table_part part;
    size_t *columns;
    struct table_range *ranges;
    uint64_t *threads;
    PyObject *class_bytes; /* owner of the glob's bytes */
};
/* Returns false with an exception; the query is reset then. */
bool query_parse(PyObject *tuple, const struct table *table, struct parsed_query *out);
void query_reset(struct parsed_query *parsed);

/* stats(path), as JSON. */
PyObject *extension_stats(PyObject *module, PyObject *path);
/* Returns the output of `steptrace stats --json --top=0`, from malloc(). */
enum step_status trace_stats_json(const char *path, char **out, size_t *length,
                                  struct step_error *error);

#endif
