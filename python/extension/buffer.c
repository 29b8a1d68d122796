/* SPDX-License-Identifier: Apache-2.0 */
/* A Python object with the buffer protocol for the memory of a column. */
#include "python/extension/extension.h"

#include <stdlib.h>

struct buffer {
    PyObject_HEAD void *memory;
    Py_ssize_t length;
};

static struct buffer *buffer_of(PyObject *self)
{
    return (struct buffer *) self;
}

PyObject *buffer_create(struct extension_state *state, void *memory, size_t length)
{
    struct buffer *buffer = PyObject_New(struct buffer, state->buffer_type);
    if (buffer == NULL) {
        free(memory);
        return NULL;
    }
    buffer->memory = memory;
    buffer->length = memory != NULL ? (Py_ssize_t) length : 0;
    return (PyObject *) buffer;
}

static void buffer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free(buffer_of(self)->memory);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int get(PyObject *self, Py_buffer *view, int flags)
{
    static char nothing[8];
    void *memory = buffer_of(self)->memory != NULL ? buffer_of(self)->memory : nothing;
    return PyBuffer_FillInfo(view, self, memory, buffer_of(self)->length, 0, flags);
}

static Py_ssize_t length(PyObject *self)
{
    return buffer_of(self)->length;
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *) buffer_dealloc},
    {Py_tp_doc, (void *) "Memory of a column."},
    {Py_bf_getbuffer, (void *) get},
    {Py_sq_length, (void *) length},
    {0, NULL},
};

PyType_Spec buffer_spec = {"steptrace._tables.Buffer", sizeof(struct buffer), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
