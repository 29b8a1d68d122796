/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a STEP-DL definition (STEP paper, section 2 and Appendix A): packages of records
 * with single inheritance, fields, arrays and grouped attributes.
 *
 * Two producers make the same structs: step_definition_parse() at run time (it reads the text that
 * is embedded in every trace) and the C code that `stepc --c` generates (static const tables).  All
 * pointers inside a definition are owned by it and live as long as it does.  A definition never
 * changes once made and may be shared by threads.
 */
#ifndef STEPTRACE_DEFINITION_H
#define STEPTRACE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)

enum step_type_kind {
    STEP_TYPE_INT,    /* up to 64 bits; signed unless a property or encoding says unsigned */
    STEP_TYPE_STRING, /* bytes in the field's charset, UTF-8 by default */
    STEP_TYPE_DATA,   /* arbitrary bytes */
    STEP_TYPE_RECORD  /* a value of a user record */
};

/* One `<group:"value">`.  Attributes stand in order of precedence: the last dominates (paper,
 * Appendix A, notes).  `line` and `column` are 1-based places in the definition text, 0 if
 * unknown. */
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

/* A modifier of a sub-field: `~x.length <...>`.  `path` is what follows the field's own name
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
    const char *name;        /* absolute, packages with dots: "java.ObjectAlloc" */
    const char *label;       /* NULL if none */
    const char *description; /* NULL if none */
    uint32_t parent;         /* index of a record that stands before this one, or STEP_NO_RECORD */
    struct step_attributes attributes; /* effective: inherited first, unless `extends !` */
    const struct step_field *fields;   /* all of them: inherited first, in the parent's order */
    size_t field_count;
};

/* `text` is the definition as it is embedded in a trace, NUL-terminated; what it includes is put in
 * its place. */
struct step_definition {
    const struct step_record *records;
    size_t record_count;
    const char *text;
    size_t text_length;
    const uint32_t *by_name; /* the records' numbers in the order of their names; NULL: not made */
};

/* Parses `length` bytes of STEP-DL.  `name` stands for the text in messages.  On success `*out`
 * is a new definition, to be destroyed by the caller; on failure it is NULL and `error` holds the
 * first fault as "line:column: message".  `report`, when not NULL, is called for every fault. */
typedef void (*step_fault_report)(void *user, const char *name, uint32_t line, uint32_t column,
                                  const char *message);
enum step_status step_definition_parse(const char *text, size_t length, const char *name,
                                       step_fault_report report, void *user,
                                       struct step_definition **out, struct step_error *error);
void step_definition_destroy(struct step_definition *definition);

/* A fault of a text, with the line that it is in. */
struct step_fault {
    const char *name; /* of the file, an included one perhaps */
    uint32_t line;
    uint32_t column; /* in bytes, from 1 */
    const char *message;
    const char *text; /* of the line, without its line feed; not NUL-terminated */
    size_t text_length;
    uint32_t text_column; /* of the fault in `text`, from 1 */
};
typedef void (*step_fault_visit)(void *user, const struct step_fault *fault);

/* How a text is read.  Zero-initialised does. */
struct step_definition_options {
    const char
        *name; /* of the text; included files are looked for beside it.  NULL: "definition" */
    step_fault_visit report; /* called for every fault; may be NULL */
    void *user;
    bool includes; /* may `include "file";` read files?  Never for a text out of a trace. */
    const char *const *directories; /* where these are looked for as well, in order */
    size_t directory_count;
};

/* Like step_definition_parse(), with options. */
enum step_status step_definition_read(const char *text, size_t length,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error);
/* The same for a file, which is the name in messages; it may include others. */
enum step_status step_definition_load(const char *path,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error);

/* Index of the record with that absolute name, or STEP_NO_RECORD. */
uint32_t step_definition_find(const struct step_definition *definition, const char *name);

/* Index of the field in the record, or SIZE_MAX. */
size_t step_record_find_field(const struct step_record *record, const char *name);

/* True if `record` is `ancestor` or extends it, directly or not. */
bool step_record_extends(const struct step_definition *definition, uint32_t record,
                         uint32_t ancestor);

/* The last value of a comma-separated rule in a group: for group "encoding" and key "delta" in
 * `<encoding:"size=4,delta=32768">` this gives "32768" (length 5).  A rule without '=' gives
 * length 0.  Returns false if no attribute of the group has it. */
bool step_attributes_rule(const struct step_attributes *attributes, const char *group,
                          const char *key, const char **value, size_t *length);

/* Does the field hold, or do the innermost elements of its arrays, numbers of dictionary entries?
 * (An int, string or data with `<encoding:"identifier">` holds its value.) */
bool step_field_is_identifier(const struct step_field *field);

/* Is a record held in place, its fields' slots among those of the record that holds it? */
bool step_field_is_nested(const struct step_field *field);

/* Are the field's ints, or those in its arrays, unsigned? */
bool step_field_is_unsigned(const struct step_field *field);

/* How many slots a value of the record takes in the slot arrays of writer.h and reader.h. */
size_t step_record_slot_count(const struct step_definition *definition, uint32_t record);

/* The slot of the record's first field that is a single value and has that property ("time",
 * "thread"), or STEP_NO_PROPERTY_SLOT. */
#define STEP_NO_PROPERTY_SLOT SIZE_MAX
size_t step_record_find_property(const struct step_definition *definition, uint32_t record,
                                 const char *property);

#pragma GCC visibility pop

#endif
