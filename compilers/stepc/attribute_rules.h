/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the attribute groups that StepTrace knows: where each is allowed, and its values. */
#ifndef COMPILERS_STEPC_ATTRIBUTE_RULES_H
#define COMPILERS_STEPC_ATTRIBUTE_RULES_H

#include <stdbool.h>

#include "format/core/rule.h"
#include "steptrace/definition.h"

/* Places where an attribute is allowed, as a bit set. */
enum {
    AT_INT = 1,
    AT_STRING = 2,
    AT_DATA = 4,
    AT_ENTRY = 8,   /* numbers of a dictionary's entries */
    AT_VALUE = 16,  /* records by value */
    AT_LENGTH = 32, /* of a string, data or an array */
    AT_RECORD = 64, /* the definition of a record */
    AT_ARRAY = 128  /* together with the places of the array's elements */
};

enum attribute_value {
    VALUE_NONE,
    VALUE_COUNT,     /* an optional number, not negative */
    VALUE_NUMBER,    /* an optional number */
    VALUE_SIZE,      /* "4", "4..", "4+", "creep" */
    VALUE_CHARSET,   /* a supported charset */
    VALUE_TYPE,      /* variable, default, constant */
    VALUE_FIELD,     /* an earlier field of the record */
    VALUE_RECORD,    /* a record */
    VALUE_OF_RECORD, /* a field of a record */
    VALUE_LINKS      /* fields of the record, and a field of a record, joined by + */
};

struct attribute_rule {
    const char *group;
    const char *key;
    unsigned places;
    enum attribute_value value;
    bool required;
    unsigned long long least, most; /* limits of a VALUE_COUNT */
};

/* Finds the rule.  Returns false if it is unknown; `nearest` is then the most similar key, or
 * NULL. */
bool attribute_rule_find(const char *group, const struct step_rule *rule,
                         struct attribute_rule *known, const char **nearest);
/* Returns true if StepTrace, or a definition that it ships, uses the group. */
bool attribute_group_is_known(const char *group, const char **nearest);

/* Returns NULL, or the fault of a value that can be checked without its context. */
const char *attribute_value_fault(const struct attribute_rule *known, const struct step_rule *rule);

/* Checks that stepc makes beyond the language; see docs/formats/step-dl.md, "Faults". */

/* Checks attributes, maps that readers could not follow, and constructs that writers refuse.
 * Returns an exit code.  `path` is used in messages without a place. */
int check_definition(const struct step_definition *definition, const char *path, bool strict);

#endif
