/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steptrace._tables, the compiled part of the Python package: traces as tables, rows as buffers.
 * What people use is python/steptrace; this has no more than what that needs.
 *
 * Limited API of Python 3.11, no headers of numpy.  The GIL is free while blocks are decoded.
 */
#ifndef PYTHON_EXTENSION_EXTENSION_H
#define PYTHON_EXTENSION_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "converter/tables/column_reader.h"

/* Of the module. */
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

/* Raises what a status is in Python; returns NULL. */
PyObject *extension_raise(struct extension_state *state, const struct step_error *error);
/* The error as text; NULL with an exception. */
PyObject *extension_text(const struct step_error *error);
/* Text of a trace, whatever bytes it has. */
PyObject *extension_str(struct step_bytes text);

extern PyType_Spec buffer_spec, scan_spec, trace_spec;

/* Bytes of malloc(), which the object takes over also on failure.  NULL memory gives an empty one.
 */
PyObject *buffer_create(struct extension_state *state, void *memory, size_t length);

/* A scan; `reader` becomes the object's, also on failure. */
PyObject *scan_create(struct extension_state *state, struct column_reader *reader);

/* (columns, ranges, threads, class glob, part) as a query; its arrays are of PyMem_Malloc(). */
struct parsed_query {
    struct table_query query;
    struct table_part part;
    size_t *columns;
    struct table_range *ranges;
    uint64_t *threads;
    PyObject *class_bytes; /* what the glob points to */
};
/* False with an exception; the query may be reset then. */
bool query_parse(PyObject *tuple, const struct table *table, struct parsed_query *out);
void query_reset(struct parsed_query *parsed);

/* stats(path): as JSON. */
PyObject *extension_stats(PyObject *module, PyObject *path);
/* What `steptrace stats --json --top=0` prints, of malloc(). */
enum step_status trace_stats_json(const char *path, char **out, size_t *length,
                                  struct step_error *error);

#endif
