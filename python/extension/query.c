/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a query from Python: (columns, ranges, threads, class glob, part). */
#include "python/extension/extension.h"

/* Converts a sequence to an array and sets its length.  Returns NULL with an exception, or for
 * None. */
static void *take_items(PyObject *sequence, size_t item_bytes, size_t *count)
{
    *count = 0;
    if (sequence == Py_None)
        return NULL;
    Py_ssize_t size = PySequence_Size(sequence);
    if (size < 0)
        return NULL;
    *count = (size_t) size;
    void *items = PyMem_Calloc(*count + 1, item_bytes);
    if (items == NULL)
        PyErr_NoMemory();
    return items;
}

static bool query_take_number(PyObject *number, uint64_t *out)
{
    *out = number != NULL ? PyLong_AsUnsignedLongLongMask(number) : 0;
    return number != NULL && PyErr_Occurred() == NULL;
}

/* Reads a tuple of three numbers. */
static bool take_three(PyObject *tuple, unsigned long long out[3])
{
    return tuple != NULL && PyTuple_Check(tuple) &&
           PyArg_ParseTuple(tuple, "KKK", &out[0], &out[1], &out[2]);
}

static bool take_columns(PyObject *given, struct parsed_query *out)
{
    uint64_t column;
    out->columns = take_items(given, sizeof *out->columns, &out->query.column_count);
    for (size_t i = 0; out->columns != NULL && i < out->query.column_count; i++) {
        PyObject *item = PySequence_GetItem(given, (Py_ssize_t) i);
        bool good = query_take_number(item, &column);
        Py_XDECREF(item);
        if (!good)
            return false;
        out->columns[i] = (size_t) column;
    }
    out->query.columns = out->columns;
    return PyErr_Occurred() == NULL;
}

static bool take_ranges(PyObject *given, const struct table *table, struct parsed_query *out)
{
    unsigned long long of[3];
    out->ranges = take_items(given, sizeof *out->ranges, &out->query.range_count);
    for (size_t i = 0; out->ranges != NULL && i < out->query.range_count; i++) {
        PyObject *item = PySequence_GetItem(given, (Py_ssize_t) i);
        bool good = take_three(item, of);
        Py_XDECREF(item);
        if (!good)
            return false;
        bool is_signed = of[0] < table->column_count && table->columns[of[0]].type == TABLE_INT;
        out->ranges[i] = (struct table_range){(size_t) of[0], of[1], of[2], is_signed};
    }
    out->query.ranges = out->ranges;
    return PyErr_Occurred() == NULL;
}

static bool take_threads(PyObject *given, struct parsed_query *out)
{
    out->threads = take_items(given, sizeof *out->threads, &out->query.thread_count);
    for (size_t i = 0; out->threads != NULL && i < out->query.thread_count; i++) {
        PyObject *item = PySequence_GetItem(given, (Py_ssize_t) i);
        bool good = query_take_number(item, &out->threads[i]);
        Py_XDECREF(item);
        if (!good)
            return false;
    }
    out->query.threads = out->threads;
    return PyErr_Occurred() == NULL;
}

static bool query_take_class(PyObject *given, struct parsed_query *out)
{
    if (given == Py_None)
        return true;
    out->class_bytes = PyUnicode_AsUTF8String(given);
    char *text = NULL;
    if (out->class_bytes == NULL || PyBytes_AsStringAndSize(out->class_bytes, &text, NULL) < 0)
        return false;
    out->query.class_glob = text;
    return true;
}

static bool query_take_part(PyObject *given, struct parsed_query *out)
{
    unsigned long long of[3];
    if (given == Py_None)
        return true;
    if (!take_three(given, of))
        return false;
    out->part = (struct table_part){(size_t) of[0], (size_t) of[1], of[2]};
    out->query.part = &out->part;
    return true;
}

bool query_parse(PyObject *tuple, const struct table *table, struct parsed_query *out)
{
    *out = (struct parsed_query){0};
    PyObject *columns, *ranges, *threads, *glob, *part;
    if (PyArg_ParseTuple(tuple, "OOOOO", &columns, &ranges, &threads, &glob, &part) &&
        take_columns(columns, out) && take_ranges(ranges, table, out) &&
        take_threads(threads, out) && query_take_class(glob, out) && query_take_part(part, out))
        return true;
    if (PyErr_Occurred() == NULL)
        PyErr_SetString(PyExc_TypeError, "a query is of numbers");
    query_reset(out);
    return false;
}

void query_reset(struct parsed_query *parsed)
{
    PyMem_Free(parsed->columns);
    PyMem_Free(parsed->ranges);
    PyMem_Free(parsed->threads);
    Py_CLEAR(parsed->class_bytes);
}
