/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a STEP-DL definition (STEP paper, section 2 and Appendix A): packages of records
 * with single inheritance, fields, arrays and grouped attributes.
 *
 * Two producers make the same structs: step_definition_parse() at run time (it parses the text that
 * is embedded in every trace) and the C code that `stepc --c` generates (static const tables).  A
 * definition owns all that its pointers reach.  It never changes once made, and threads may share
 * it.
 */
#ifndef STEPTRACE_DEFINITION_H
#define STEPTRACE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum step_type_kind {
    STEP_TYPE_INT,    /* up to 64 bits; signed unless a property or encoding says unsigned */
    STEP_TYPE_STRING, /* bytes in the field's charset, UTF-8 by default */
    STEP_TYPE_DATA,   /* arbitrary bytes */
    STEP_TYPE_RECORD  /* a value of a user record */
};

/* One `<group:"value">`.  Attributes are in order of precedence; the last one wins (paper, Appendix
 * A, notes).  `line` and `column` are 1-based positions in the definition text, 0 if unknown. */
struct step_attribute {
    const char *group;
    const char *value;
    uint32_t line;
    uint32_t column;
};

struct step_attributes {
    const struct step_attribute *items;
    size_t count;
};

/* A modifier of a sub-field: `~x.length <...>`.  `path` is the part after the field's own name
 * ("length", "element", "element.length"). */
struct step_sub_attributes {
    const char *path;
    struct step_attributes attributes;
};

struct step_field {
    const char *name;
    const char *description;   /* NULL if none */
    enum step_type_kind kind;  /* of the innermost element */
    uint32_t record;           /* index in the definition's records, when kind is RECORD */
    uint32_t array_depth;      /* 0: a single value; 1: an array; 2: an array of arrays */
    uint32_t declaring_record; /* index of the record whose text declares it */
    bool modified;             /* a record other than the declaring one changed its attributes */
    struct step_attributes attributes; /* effective: the type's, then the field's, then modifiers */
    const struct step_sub_attributes *sub_attributes;
    size_t sub_attribute_count;
};

#define STEP_NO_RECORD UINT32_MAX

struct step_record {
    const char *name;                  /* absolute, with packages: "java.ObjectAlloc" */
    const char *label;                 /* NULL if none */
    const char *description;           /* NULL if none */
    uint32_t parent;                   /* index of an earlier record, or STEP_NO_RECORD */
    struct step_attributes attributes; /* effective: inherited first, unless `extends !` */
    const struct step_field *fields;   /* all fields: inherited ones first, in the parent's order */
    size_t field_count;
};

/* A definition.  `text` is the form that is embedded in a trace, NUL-terminated, with included
 * files expanded. */
struct step_definition {
    const struct step_record *records;
    size_t record_count;
    const char *text;
    size_t text_length;
    const uint32_t *by_name; /* indices of the records, sorted by name; NULL: not built */
};

/* Parses `length` bytes of STEP-DL.  `name` identifies the text in messages.  On success `*out` is
 * a new definition that the caller destroys.  On failure it is NULL, and `error` has the first
 * fault as "line:column: message".  `report`, if not NULL, is called for every fault. */
typedef void (*step_fault_report)(void *user, const char *name, uint32_t line, uint32_t column,
                                  const char *message);
enum step_status step_definition_parse(const char *text, size_t length, const char *name,
                                       step_fault_report report, void *user,
                                       struct step_definition **out, struct step_error *error);
void step_definition_destroy(struct step_definition *definition);

/* A fault in a definition text, with the line that contains it. */
struct step_fault {
    const char *name; /* of the file, possibly an included one */
    uint32_t line;
    uint32_t column; /* 1-based, in bytes */
    const char *message;
    const char *text; /* the line without its line feed; not NUL-terminated */
    size_t text_length;
    uint32_t text_column; /* 1-based position of the fault in `text` */
};
typedef void (*step_fault_visit)(void *user, const struct step_fault *fault);

/* Options for reading a definition.  Zero-initialise for the defaults. */
struct step_definition_options {
    const char
        *name; /* of the text; included files are searched beside it.  NULL means "definition" */
    step_fault_visit report; /* called for every fault; may be NULL */
    void *user;
    bool includes; /* allow `include "file";`; never set it for a text from a trace */
    const char *const *directories; /* further directories to search for included files, in order */
    size_t directory_count;
};

/* Parses like step_definition_parse(), with options. */
enum step_status step_definition_read(const char *text, size_t length,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error);
/* Parses a file, whose path is the name in messages.  It may include other files. */
enum step_status step_definition_load(const char *path,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error);

/* Returns the index of the record with that absolute name, or STEP_NO_RECORD. */
uint32_t step_definition_find(const struct step_definition *definition, const char *name);

/* Returns the index of the field in the record, or SIZE_MAX. */
size_t step_record_find_field(const struct step_record *record, const char *name);

/* Returns true if `record` is `ancestor` or extends it, directly or indirectly. */
bool step_record_extends(const struct step_definition *definition, uint32_t record,
                         uint32_t ancestor);

/* Finds the last value of a comma-separated rule in a group: for group "encoding" and key "delta"
 * in `<encoding:"size=4,delta=32768">` this gives "32768" (length 5).  A rule without '=' gives
 * length 0.  Returns false if no attribute of the group has the rule. */
bool step_attributes_rule(const struct step_attributes *attributes, const char *group,
                          const char *key, const char **value, size_t *length);

/* Returns true if the field, or the innermost elements of its arrays, are numbers of dictionary
 * entries.  (An int, string or data with `<encoding:"identifier">` holds its value.) */
bool step_field_is_identifier(const struct step_field *field);

/* Returns true if the field, or the innermost elements of its arrays, are records whose type may
 * extend the field's (`<encoding:"type=variable">`, `type=default`). */
bool step_field_is_variant(const struct step_field *field);

/* Returns true if the field is a record stored in place: its slots are among those of the
 * containing record. */
bool step_field_is_nested(const struct step_field *field);

/* Returns true if the field's ints, or those in its arrays, are unsigned. */
bool step_field_is_unsigned(const struct step_field *field);

/* Returns the number of slots of the record in the slot arrays of writer.h and reader.h. */
size_t step_record_slot_count(const struct step_definition *definition, uint32_t record);

/* Returns the slot of the record's first single-valued field with that property ("time", "thread"),
 * or STEP_NO_PROPERTY_SLOT. */
#define STEP_NO_PROPERTY_SLOT SIZE_MAX
size_t step_record_find_property(const struct step_definition *definition, uint32_t record,
                                 const char *property);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
