/* SPDX-License-Identifier: Apache-2.0 */
/* Converts names of a definition to names in C. */
#include "compilers/c_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void c_names_of_record(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; name[i] != '\0' && used + 3 < size; i++) {
        unsigned char c = (unsigned char) name[i];
        bool after_lower =
            i > 0 && (islower((unsigned char) name[i - 1]) || isdigit((unsigned char) name[i - 1]));
        bool before_lower =
            i > 0 && isupper((unsigned char) name[i - 1]) && islower((unsigned char) name[i + 1]);
        if (isupper(c) && (after_lower || before_lower))
            out[used++] = '_';
        out[used++] = c == '.' ? '_' : (char) tolower(c);
    }
    out[used] = '\0';
}

void c_names_upper(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < size; i++)
        out[i] = (char) toupper((unsigned char) name[i]);
    out[i] = '\0';
}

const char *c_names_of_field(const struct step_field *field, char *out, size_t size)
{
    snprintf(out, size, "%s%s", field->name, c_names_is_reserved(field->name) ? "_" : "");
    return out;
}

/* Returns the field's own name, or, if that is reserved, the name with enough underscores to be
 * unique among the fields. */
const char *c_names_of_member(const struct step_record *record, size_t field, char *out,
                              size_t size)
{
    c_names_of_field(&record->fields[field], out, size);
    if (!c_names_is_reserved(record->fields[field].name))
        return out;
    while (step_record_find_field(record, out) != SIZE_MAX && strlen(out) + 2 < size)
        strcat(out, "_");
    return out;
}
