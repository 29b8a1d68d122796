/* SPDX-License-Identifier: Apache-2.0 */
/* An open trace in Python: its tables, properties, and scans. */
#include "converter/files/trace_gap.h"
#include "python/extension/extension.h"

#include <stdlib.h>

struct trace {
    PyObject_HEAD struct shared_tables *shared;
};

static struct trace *of(PyObject *self)
{
    return (struct trace *) self;
}

static PyObject *trace_create(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct shared_tables *shared = NULL;
    PyObject *path = NULL;
    enum step_status status;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&", names, PyUnicode_FSConverter,
                                     &path))
        return NULL;
    char *text = NULL;
    if (PyBytes_AsStringAndSize(path, &text, NULL) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = shared_tables_open(text, &shared, &error);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != STEP_STATUS_OK)
        return extension_raise(extension_state_of(type), &error);
    struct trace *trace = PyObject_New(struct trace, type);
    if (trace == NULL)
        shared_tables_release(shared);
    else
        trace->shared = shared;
    return (PyObject *) trace;
}

static void trace_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    shared_tables_release(of(self)->shared);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Locks the trace for this thread, waiting without the GIL. */
static struct tables *lock(PyObject *self)
{
    struct tables *tables;
    Py_BEGIN_ALLOW_THREADS tables = shared_tables_lock(of(self)->shared);
    Py_END_ALLOW_THREADS return tables;
}

/* ---- what there is ---- */

static PyObject *columns_of(const struct table *table)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        PyObject *item =
            Py_BuildValue("(sssNs)", column->name, table_type_name(column->type), column->unit,
                          PyBool_FromLong(column->nullable), column->doc);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *tables_list(PyObject *self, PyObject *unused)
{
    const struct tables *tables = shared_tables_borrow(of(self)->shared);
    PyObject *list = PyList_New(0);
    (void) unused;
    for (size_t i = 0; list != NULL && i < tables_count(tables); i++) {
        const struct table *table = tables_at(tables, i);
        PyObject *columns = columns_of(table);
        PyObject *item =
            columns != NULL ? Py_BuildValue("(ssN)", table->name, table->doc, columns) : NULL;
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static const struct table *trace_find(PyObject *self, const char *name)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct table *table = NULL;
    if (tables_find(shared_tables_borrow(of(self)->shared), name, &table, &error) != STEP_STATUS_OK)
        extension_raise(extension_state_of(Py_TYPE(self)), &error);
    return table;
}

static PyObject *find_column(PyObject *self, PyObject *arguments)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const char *name, *column_name;
    size_t column = 0;
    if (!PyArg_ParseTuple(arguments, "ss", &name, &column_name))
        return NULL;
    const struct table *table = trace_find(self, name);
    if (table == NULL)
        return NULL;
    if (table_find_column(table, column_name, &column, &error) != STEP_STATUS_OK)
        return extension_raise(extension_state_of(Py_TYPE(self)), &error);
    return PyLong_FromSize_t(column);
}

static PyObject *row_count(PyObject *self, PyObject *name)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    const struct table *table = text != NULL ? trace_find(self, text) : NULL;
    if (table == NULL)
        return NULL;
    uint64_t rows = table_row_count(lock(self), table);
    shared_tables_unlock(of(self)->shared);
    return PyLong_FromUnsignedLongLong(rows);
}

/* ---- what the trace says of itself ---- */

static PyObject *properties(PyObject *self, PyObject *unused)
{
    const struct step_reader *reader = tables_borrow_reader(shared_tables_borrow(of(self)->shared));
    PyObject *all = PyDict_New();
    (void) unused;
    for (size_t i = 0; all != NULL && i < step_reader_property_count(reader); i++) {
        PyObject *value = extension_str(step_text(step_reader_property_value(reader, i)));
        if (value == NULL ||
            PyDict_SetItemString(all, step_reader_property_key(reader, i), value) < 0)
            Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

static PyObject *summary(PyObject *self, PyObject *unused)
{
    const struct tables *tables = lock(self);
    const struct step_reader *reader = tables_borrow_reader(tables);
    (void) unused;
    PyObject *out =
        Py_BuildValue("{s:K,s:N,s:N,s:K,s:K,s:K}", "file_bytes",
                      (unsigned long long) step_reader_file_size(reader), "whole",
                      PyBool_FromLong(trace_reaches_end(reader)), "running",
                      PyBool_FromLong(step_reader_is_running(reader)), "recovered",
                      (unsigned long long) step_reader_recovered_count(reader), "blocks",
                      (unsigned long long) step_reader_block_count(reader), "start_time_ns",
                      (unsigned long long) tables_start_time_ns(tables));
    shared_tables_unlock(of(self)->shared);
    return out;
}

/* Number of records of each type, from the index. */
static PyObject *records(PyObject *self, PyObject *unused)
{
    const struct step_reader *reader = tables_borrow_reader(lock(self));
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint64_t *counts = calloc(definition->record_count + 1, sizeof *counts);
    (void) unused;
    for (size_t i = 0; counts != NULL && i < step_reader_block_count(reader); i++) {
        const struct step_block_info *info = step_reader_block_info(reader, i);
        for (size_t k = 0; k < info->type_count; k++)
            counts[info->counts[k].record] += info->counts[k].count;
    }
    shared_tables_unlock(of(self)->shared);
    PyObject *all = counts != NULL ? PyDict_New() : PyErr_NoMemory();
    for (size_t i = 0; all != NULL && i < definition->record_count; i++) {
        if (counts[i] == 0)
            continue;
        PyObject *count = PyLong_FromUnsignedLongLong(counts[i]);
        if (count == NULL || PyDict_SetItemString(all, definition->records[i].name, count) < 0)
            Py_CLEAR(all);
        Py_XDECREF(count);
    }
    free(counts);
    return all;
}

static PyObject *damage(PyObject *self, PyObject *unused)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    (void) unused;
    enum step_status status = tables_damage(lock(self), &error);
    shared_tables_unlock(of(self)->shared);
    return status == STEP_STATUS_OK ? Py_NewRef(Py_None) : extension_text(&error);
}

static PyObject *no_class(PyObject *self, PyObject *glob)
{
    char text[TABLES_CLASS_TEXT], *pattern = NULL;
    PyObject *bytes = PyUnicode_AsUTF8String(glob);
    if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &pattern, NULL) < 0) {
        Py_XDECREF(bytes);
        return NULL;
    }
    bool found = tables_have_class(lock(self), pattern, text);
    shared_tables_unlock(of(self)->shared);
    Py_DECREF(bytes);
    return found ? Py_NewRef(Py_None)
                 : PyUnicode_DecodeUTF8(text, (Py_ssize_t) strlen(text), "replace");
}

PyObject *extension_stats(PyObject *module, PyObject *path)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    PyObject *bytes = NULL;
    char *text = NULL, *name = NULL;
    size_t length = 0;
    enum step_status status;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (PyBytes_AsStringAndSize(bytes, &name, NULL) < 0) {
        Py_DECREF(bytes);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = trace_stats_json(name, &text, &length, &error);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    PyObject *json = status == STEP_STATUS_OK
                         ? PyUnicode_DecodeUTF8(text, (Py_ssize_t) length, "replace")
                         : extension_raise(PyModule_GetState(module), &error);
    free(text);
    return json;
}

/* ---- scans ---- */

static PyObject *parts_list(const struct table_part *parts, size_t count)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *part = Py_BuildValue("(KKK)", (unsigned long long) parts[i].first_block,
                                       (unsigned long long) parts[i].end_block,
                                       (unsigned long long) parts[i].rows);
        if (part == NULL || PyList_Append(list, part) < 0)
            Py_CLEAR(list);
        Py_XDECREF(part);
    }
    return list;
}

static PyObject *parts(PyObject *self, PyObject *arguments)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct parsed_query parsed;
    struct table_part *found = NULL;
    size_t count = 0;
    const char *name;
    PyObject *query;
    unsigned long long rows;
    if (!PyArg_ParseTuple(arguments, "sOK", &name, &query, &rows))
        return NULL;
    const struct table *table = trace_find(self, name);
    if (table == NULL || !query_parse(query, table, &parsed))
        return NULL;
    enum step_status status =
        table_parts(lock(self), table, &parsed.query, rows, &found, &count, &error);
    shared_tables_unlock(of(self)->shared);
    query_reset(&parsed);
    PyObject *list = status == STEP_STATUS_OK
                         ? parts_list(found, count)
                         : extension_raise(extension_state_of(Py_TYPE(self)), &error);
    free(found);
    return list;
}

static PyObject *scan(PyObject *self, PyObject *arguments)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct extension_state *state = extension_state_of(Py_TYPE(self));
    struct parsed_query parsed;
    struct column_reader *reader = NULL;
    const char *name;
    PyObject *query;
    enum step_status status = STEP_STATUS_INVALID;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &query))
        return NULL;
    const struct table *table = trace_find(self, name);
    if (table == NULL || !query_parse(query, table, &parsed))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        column_reader_create(of(self)->shared, table, &parsed.query, &reader, &error);
    Py_END_ALLOW_THREADS query_reset(&parsed);
    return status == STEP_STATUS_OK ? scan_create(state, reader) : extension_raise(state, &error);
}

static PyMethodDef methods[] = {
    {"tables", tables_list, METH_NOARGS,
     "tables() -> [(name, doc, [(name, type, unit, nullable, doc), ...]), ...]"},
    {"find_column", find_column, METH_VARARGS, "find_column(table, column) -> place"},
    {"row_count", row_count, METH_O, "row_count(table) -> rows by the index; 0: not known"},
    {"properties", properties, METH_NOARGS, "properties() -> {key: value}"},
    {"summary", summary, METH_NOARGS, "summary() -> what the file's end and index tell"},
    {"records", records, METH_NOARGS, "records() -> {record type: count}, by the index"},
    {"damage", damage, METH_NOARGS, "damage() -> what is damaged so far, or None"},
    {"no_class", no_class, METH_O, "no_class(glob) -> None, or that no class matches it"},
    {"parts", parts, METH_VARARGS, "parts(table, query, rows) -> [(first block, end, rows), ...]"},
    {"scan", scan, METH_VARARGS, "scan(table, query) -> Scan"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *) trace_create},
    {Py_tp_dealloc, (void *) trace_dealloc},
    {Py_tp_doc, (void *) "Trace(path): an opened trace."},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec trace_spec = {"steptrace._tables.Trace", sizeof(struct trace), 0, Py_TPFLAGS_DEFAULT,
                          slots};
