/* SPDX-License-Identifier: Apache-2.0 */
/* A class file while it is rewritten: its bytes, its constant pool and the additions.
 *
 * Functions return false after they have stored the fault in the class file's `result` and
 * `error`. */
#ifndef AGENT_REWRITER_CLASS_FILE_H
#define AGENT_REWRITER_CLASS_FILE_H

#include "agent/rewriter/class_bytes.h"
#include "agent/rewriter/rewrite.h"
#include "format/core/arena.h"

#define VERSION_FRAMES 50 /* the first that has StackMapTable */
#define CLASS_FILE_MEMORY                                                                          \
    (UINT64_C(256) << 20) /* limit of the arena: real classes need far less                        \
                           */

enum {
    CONSTANT_UTF8 = 1,
    CONSTANT_INTEGER = 3,
    CONSTANT_FLOAT = 4,
    CONSTANT_LONG = 5,
    CONSTANT_DOUBLE = 6,
    CONSTANT_CLASS = 7,
    CONSTANT_STRING = 8,
    CONSTANT_FIELD = 9,
    CONSTANT_METHOD = 10,
    CONSTANT_INTERFACE_METHOD = 11,
    CONSTANT_NAME_AND_TYPE = 12
};

enum { ACCESS_STATIC = 0x0008 };

/* Bytes inside the class file; as text it is modified UTF-8. */
struct class_text {
    const uint8_t *bytes;
    size_t length;
};

/* A class that stack map frames name. */
struct added_class {
    const struct added_class *next;
    struct class_text name; /* in the class file */
    uint32_t index;
};

/* An instruction that pushes a number. */
struct code_push {
    uint8_t bytes[3];
    uint32_t size;
};

/* Cached data of stores.c about a field or method constant. */
struct store_site {
    struct code_push push; /* of the field's number */
    uint8_t kind, call;
};

struct class_file {
    const struct rewrite_request *request;
    const uint8_t *bytes;
    size_t size;
    struct step_arena arena;
    enum rewrite_result result;
    struct rewrite_error error;

    uint16_t version;
    uint32_t constant_count;
    uint32_t *constants;       /* offset of each constant's tag; 0: no constant */
    uint8_t *callee_kinds;     /* of method constants: see alloc_call.c; 0: not looked up yet */
    struct store_site *stores; /* by constant; NULL: none was looked up */
    size_t pool_end;

    uint16_t this_class;
    struct class_text name;

    struct class_output added; /* constants */
    uint32_t added_count;
    uint16_t probe_class; /* indices in the new pool; 0: not added yet */
    uint16_t probes[PROBES_CALLED];
    uint16_t throwable;
    const struct added_class *added_classes;
    uint16_t frames_name; /* "StackMapTable" */

    struct class_output output;          /* the part after the constant pool */
    size_t copied;                       /* the input up to here is in the output */
    struct class_output probes_measured; /* see code_measure() */
};

/* Keeps the first fault. Always returns false. */
bool class_fault(struct class_file *file, enum rewrite_result result, size_t offset,
                 const char *message);
static inline bool class_malformed(struct class_file *file, const uint8_t *at, const char *message)
{
    return class_fault(file, REWRITE_MALFORMED, (size_t) (at - file->bytes), message);
}

/* class_rewrite.c: going through a class file. */
struct class_cursor {
    struct class_file *file;
    const uint8_t *at, *end;
};
/* `member`: the field's or method's start; NULL: the attribute is of the class. The attribute's
 * length is checked. */
typedef bool class_visitor(void *context, const uint8_t *member, const uint8_t *attribute);
/* Reads everything before the fields. */
bool class_open(struct class_cursor *cursor, struct class_file *file);
/* Reads all fields or all methods, or a list of attributes, and calls `visit`, which may be NULL,
 * for each attribute. */
bool class_members(struct class_cursor *cursor, class_visitor *visit, void *context);
bool class_attributes(struct class_cursor *cursor, const uint8_t *member, class_visitor *visit,
                      void *context);

/* constant_pool.c */
bool pool_parse(struct class_file *file);
/* Returns the bytes after the tag of a constant of kind `tag`, or NULL if `index` is not one. */
const uint8_t *pool_constant(const struct class_file *file, uint32_t index, uint32_t tag);
/* Sets the text of a Utf8 constant. */
bool pool_text(struct class_file *file, uint32_t index, struct class_text *text);
bool pool_class_name(struct class_file *file, uint32_t index, struct class_text *name);

struct class_callee {
    struct class_text owner, name, descriptor;
};
/* Reads a method or interface method. */
bool pool_callee(struct class_file *file, uint32_t index, struct class_callee *callee);
bool pool_field(struct class_file *file, uint32_t index, struct class_callee *field);
/* Returns true if `is_wanted` accepts any method or interface method of a class file's constant
 * pool. Returns false if the constant pool is malformed. */
bool class_has_callee(const uint8_t *bytes, size_t size_bytes,
                      bool (*is_wanted)(void *context, const struct class_callee *callee),
                      void *context);
bool text_is(struct class_text text, const char *wanted);
/* Copies owner, name and descriptor with terminating 0s into the file's arena. Returns false if out
 * of memory; the fault is set. */
bool callee_texts(struct class_file *file, const struct class_callee *callee, char *texts[3]);
/* Advances *at over a type of a descriptor. Returns its first letter, or 0 if there is none. */
uint32_t type_next(struct class_text descriptor, size_t *at);

/* Name and descriptor of each probe. */
extern const struct probe_method {
    const char *name, *descriptor;
} probe_methods[PROBES_CALLED];

/* Constants for a new file: write the tag, a text, a class, and a member of a class of the new
 * file. They return the index, or 0 if the pool is full (REWRITE_UNSUPPORTED is set). */
uint32_t pool_add(struct class_file *file, uint32_t tag);
uint32_t pool_add_text(struct class_file *file, const char *text);
uint32_t pool_add_class(struct class_file *file, const char *name);
uint32_t pool_add_member(struct class_file *file, uint32_t tag, uint32_t owner, const char *name,
                         const char *descriptor);

/* Constants for the new file, each added once. They return 0 if the pool is full
 * (REWRITE_UNSUPPORTED is set). */
uint32_t pool_probe(struct class_file *file, enum probe probe);
uint32_t pool_throwable(struct class_file *file);
uint32_t pool_frames_name(struct class_file *file);
/* Makes the instruction that pushes the number. Returns false if there is no room for its
 * constant. */
bool pool_push(struct class_file *file, uint32_t number, struct code_push *push);
/* Returns the file's own constant of that class if it has one, otherwise a new one. */
uint32_t pool_class(struct class_file *file, struct class_text name);

#endif
