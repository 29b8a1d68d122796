/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the attribute groups that StepTrace knows: what they stand at, and their values. */
#ifndef COMPILERS_STEPC_ATTRIBUTE_RULES_H
#define COMPILERS_STEPC_ATTRIBUTE_RULES_H

#include <stdbool.h>

#include "format/core/rule.h"

/* What an attribute may stand at. */
enum {
    AT_INT = 1,
    AT_STRING = 2,
    AT_DATA = 4,
    AT_ENTRY = 8,   /* numbers of a dictionary's entries */
    AT_VALUE = 16,  /* records by value */
    AT_LENGTH = 32, /* of a string, data or an array */
    AT_RECORD = 64, /* the definition of a record */
    AT_ARRAY = 128  /* beside what its elements are */
};

enum attribute_value {
    VALUE_NONE,
    VALUE_COUNT,     /* perhaps a number, not negative */
    VALUE_NUMBER,    /* perhaps a number */
    VALUE_SIZE,      /* "4", "4..", "4+", "creep" */
    VALUE_CHARSET,   /* one that is checked */
    VALUE_TYPE,      /* variable, default, constant */
    VALUE_FIELD,     /* a field before in the record */
    VALUE_RECORD,    /* a record */
    VALUE_OF_RECORD, /* a record's field */
    VALUE_LINKS      /* fields of the record, and a record's field, with + between them */
};

struct attribute_rule {
    const char *group;
    const char *key;
    unsigned places;
    enum attribute_value value;
    bool required;
    unsigned long long least, most; /* of a COUNT */
};

/* False: there is none.  `nearest` gets the key that is most like it, or NULL. */
bool attribute_rule_find(const char *group, const struct step_rule *rule,
                         struct attribute_rule *known, const char **nearest);
/* Does StepTrace, or a definition that comes with it, use the group? */
bool attribute_group_is_known(const char *group, const char **nearest);

/* NULL, or what is wrong with a value that can be judged by itself. */
const char *attribute_value_fault(const struct attribute_rule *known, const struct step_rule *rule);

#endif
