/* SPDX-License-Identifier: Apache-2.0 */
/* The definition that a user gives (--definition=FILE) for a STEP trace that has lost its own. */
#ifndef CONVERTER_BASE_GIVEN_DEFINITION_H
#define CONVERTER_BASE_GIVEN_DEFINITION_H

#include <stdbool.h>

#include "steptrace/reader.h"

/* An option's value: a file of STEP-DL, which may include others. */
bool take_definition(void *unused, const char *value, const char **fault);
/* step_reader_open_defined() with what was given, if it was. */
enum step_status open_with_given_definition(const char *path, struct step_reader **reader,
                                            struct step_error *error);

#define DEFINITION_ROW                                                                             \
    {                                                                                              \
        "definition", 0, "FILE", "definition of a STEP trace that has lost its own",               \
            take_definition, NULL                                                                  \
    }

#endif
