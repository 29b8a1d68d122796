/* SPDX-License-Identifier: Apache-2.0 */
/* A scan of a table: rows as buffers, or as an Arrow stream. */
#include "python/extension/extension.h"

#include <stdlib.h>

#include "analyses/tables/arrow_stream.h"

struct scan {
    PyObject_HEAD struct column_reader *reader; /* NULL: a stream owns it */
};

static struct scan *scan_of(PyObject *self)
{
    return (struct scan *) self;
}

PyObject *scan_create(struct extension_state *state, struct column_reader *reader)
{
    struct scan *scan = PyObject_New(struct scan, state->scan_type);
    if (scan == NULL)
        column_reader_destroy(reader);
    else
        scan->reader = reader;
    return (PyObject *) scan;
}

static void scan_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct column_reader *reader = scan_of(self)->reader;
    /* another thread may hold the lock of the trace */
    Py_BEGIN_ALLOW_THREADS column_reader_destroy(reader);
    Py_END_ALLOW_THREADS PyObject_Free(self);
    Py_DECREF(type);
}

static bool has_reader(PyObject *self)
{
    if (scan_of(self)->reader == NULL)
        PyErr_SetString(PyExc_ValueError, "the scan was handed over, or is in use");
    return scan_of(self)->reader != NULL;
}

/* ---- rows ---- */

/* Wraps the memory in an object. */
static PyObject *scan_give(struct extension_state *state, void **memory, size_t length)
{
    void *given = *memory;
    *memory = NULL;
    return buffer_create(state, given, length);
}

static PyObject *names_of(const struct whole_column *column)
{
    const int32_t *ends = (const int32_t *) (const void *) column->name_ends.data;
    PyObject *names = PyTuple_New((Py_ssize_t) column->name_count);
    for (size_t i = 0; names != NULL && i < column->name_count; i++) {
        PyObject *name = PyUnicode_DecodeUTF8((const char *) column->names.data + ends[i],
                                              ends[i + 1] - ends[i], "replace");
        if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t) i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

/* Returns (values, validity or None, names, bytes or None); the last two for names and texts. */
static PyObject *column_of(struct extension_state *state, struct whole_column *column, size_t rows)
{
    void *validity = column->validity;
    void *bytes = column->bytes.data;
    bool has_nulls = column->null_count > 0;
    column->validity = NULL;
    column->bytes.data = NULL;
    if (!has_nulls) {
        free(validity);
        validity = NULL;
    }
    PyObject *values = scan_give(state, &column->values, whole_column_bytes(column->type, rows));
    PyObject *valid = has_nulls ? buffer_create(state, validity, rows / 8 + 1) : Py_NewRef(Py_None);
    PyObject *names = names_of(column);
    PyObject *text = buffer_create(state, bytes, column->bytes.length);
    if (values == NULL || valid == NULL || names == NULL || text == NULL) {
        Py_XDECREF(values);
        Py_XDECREF(valid);
        Py_XDECREF(names);
        Py_XDECREF(text);
        return NULL;
    }
    return Py_BuildValue("(NNNN)", values, valid, names, text);
}

static PyObject *rows_of(struct extension_state *state, struct whole_columns *columns)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < columns->column_count; i++) {
        PyObject *column = column_of(state, &columns->columns[i], columns->row_count);
        if (column == NULL || PyList_Append(list, column) < 0)
            Py_CLEAR(list);
        Py_XDECREF(column);
    }
    return list != NULL ? Py_BuildValue("(nN)", (Py_ssize_t) columns->row_count, list) : NULL;
}

static PyObject *read_rows(PyObject *self, PyObject *argument)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct whole_columns columns;
    unsigned long long most = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred() != NULL || !has_reader(self))
        return NULL;
    struct extension_state *state = extension_state_of(Py_TYPE(self));
    struct column_reader *reader = scan_of(self)->reader;
    enum step_status status;
    scan_of(self)->reader = NULL; /* no other thread may use it meanwhile */
    Py_BEGIN_ALLOW_THREADS status = column_reader_next(reader, most, &columns, &error);
    Py_END_ALLOW_THREADS scan_of(self)->reader = reader;
    if (status == STEP_STATUS_END)
        return Py_NewRef(Py_None);
    if (status != STEP_STATUS_OK)
        return extension_raise(state, &error);
    PyObject *rows = rows_of(state, &columns);
    whole_columns_reset(&columns);
    return rows;
}

static PyObject *work(PyObject *self, PyObject *unused)
{
    (void) unused;
    if (!has_reader(self))
        return NULL;
    struct table_scan_work done = column_reader_work(scan_of(self)->reader);
    return Py_BuildValue("(KK)", (unsigned long long) done.blocks_read,
                         (unsigned long long) done.blocks_passed);
}

/* ---- Arrow ---- */

/* Called without the GIL. */
static void warn(const struct step_error *damage)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("steptrace._tables");
    PyObject *type = module != NULL ? PyObject_GetAttrString(module, "DamageWarning") : NULL;
    char text[1024];
    step_error_print(damage, text, sizeof text);
    if (type == NULL || PyErr_WarnEx(type, text, 1) < 0)
        PyErr_WriteUnraisable(module);
    Py_XDECREF(type);
    Py_XDECREF(module);
    PyGILState_Release(gil);
}

static void destroy_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL && stream->release != NULL)
        stream->release(stream);
    free(stream);
}

static PyObject *arrow_stream(PyObject *self, PyObject *argument)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    unsigned long long rows = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred() != NULL || !has_reader(self))
        return NULL;
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return PyErr_NoMemory();
    struct column_reader *reader = scan_of(self)->reader;
    scan_of(self)->reader = NULL;
    if (arrow_stream_create(reader, rows, warn, stream, &error) != STEP_STATUS_OK) {
        free(stream);
        return extension_raise(extension_state_of(Py_TYPE(self)), &error);
    }
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_capsule);
    if (capsule == NULL) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

static PyMethodDef methods[] = {
    {"read", read_rows, METH_O,
     "read(most) -> (rows, [(values, validity, names, bytes), ...]) or None at the end"},
    {"work", work, METH_NOARGS, "work() -> (blocks read, blocks passed over)"},
    {"arrow_stream", arrow_stream, METH_O,
     "arrow_stream(batch rows) -> capsule of an ArrowArrayStream, which the scan becomes"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *) scan_dealloc},
    {Py_tp_doc, (void *) "Rows of a table, piece by piece."},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec scan_spec = {"steptrace._tables.Scan", sizeof(struct scan), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
