/* SPDX-License-Identifier: Apache-2.0 */
/* The module steptrace._tables: its types and exceptions. */
#include "python/extension/extension.h"

#include <string.h>

PyMODINIT_FUNC PyInit__tables(void);

struct extension_state *extension_state_of(PyTypeObject *type)
{
    PyObject *module = PyType_GetModule(type);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

PyObject *extension_str(struct step_bytes text)
{
    return PyUnicode_DecodeUTF8((const char *) text.data, (Py_ssize_t) text.length, "replace");
}

PyObject *extension_text(const struct step_error *error)
{
    char text[1024];
    step_error_print(error, text, sizeof text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t) strlen(text), "replace");
}

PyObject *extension_raise(struct extension_state *state, const struct step_error *error)
{
    PyObject *type = error->status == STEP_STATUS_NOT_FOUND ? state->unknown_name
                     : error->status == STEP_STATUS_IO      ? PyExc_OSError
                     : error->status == STEP_STATUS_INVALID ? PyExc_ValueError
                                                            : state->error;
    if (error->status == STEP_STATUS_NO_MEMORY)
        return PyErr_NoMemory();
    PyObject *text = extension_text(error);
    if (text != NULL)
        PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

static PyObject *add_exception(PyObject *module, const char *name, const char *doc, PyObject *base)
{
    char full[64];
    PyOS_snprintf(full, sizeof full, "steptrace.%s", name);
    PyObject *type = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    if (type != NULL && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return type;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *) type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *) type;
}

static int module_fill(PyObject *module)
{
    struct extension_state *state = PyModule_GetState(module);
    state->error = add_exception(module, "Error", "A trace that cannot be read.", NULL);
    state->unknown_name =
        add_exception(module, "UnknownName",
                      "There is no table or column of that name; the message has those there are.",
                      PyExc_LookupError);
    state->damage_warning = add_exception(
        module, "DamageWarning", "The trace is cut or damaged: the rows are those that are whole.",
        PyExc_UserWarning);
    state->buffer_type = add_type(module, &buffer_spec);
    state->scan_type = add_type(module, &scan_spec);
    state->trace_type = add_type(module, &trace_spec);
    return state->error != NULL && state->unknown_name != NULL && state->damage_warning != NULL &&
                   state->buffer_type != NULL && state->scan_type != NULL &&
                   state->trace_type != NULL
               ? 0
               : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct extension_state *state = PyModule_GetState(module);
    Py_VISIT(state->error);
    Py_VISIT(state->unknown_name);
    Py_VISIT(state->damage_warning);
    Py_VISIT(state->trace_type);
    Py_VISIT(state->scan_type);
    Py_VISIT(state->buffer_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    struct extension_state *state = PyModule_GetState(module);
    Py_CLEAR(state->error);
    Py_CLEAR(state->unknown_name);
    Py_CLEAR(state->damage_warning);
    Py_CLEAR(state->trace_type);
    Py_CLEAR(state->scan_type);
    Py_CLEAR(state->buffer_type);
    return 0;
}

static PyMethodDef functions[] = {
    {"stats", extension_stats, METH_O,
     "stats(path) -> what `steptrace stats --json --top=0` prints"},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *) module_fill}, {0, NULL}};

struct PyModuleDef extension_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "steptrace._tables",
    .m_doc = "The compiled part of steptrace.",
    .m_size = sizeof(struct extension_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__tables(void)
{
    return PyModuleDef_Init(&extension_module);
}
