/* SPDX-License-Identifier: Apache-2.0 */
/* The option --definition=FILE: the STEP-DL definition for a STEP trace that has lost its own. */
#ifndef CONVERTER_BASE_GIVEN_DEFINITION_H
#define CONVERTER_BASE_GIVEN_DEFINITION_H

#include <stdbool.h>

#include "steptrace/reader.h"

/* Parser of the option's value, the path of a STEP-DL file, which may include other files. */
bool take_definition(void *unused, const char *value, const char **fault);
/* Opens a trace with the definition that was given, or else with its own.  Every verb opens a STEP
 * trace here: a sampled one is refused if something needs all objects (sampled_trace.h). */
enum step_status open_with_given_definition(const char *path, const char *needs_all,
                                            struct step_reader **reader, struct step_error *error);

#define DEFINITION_ROW                                                                             \
    {                                                                                              \
        "definition", 0, "FILE", "definition of a STEP trace that has lost its own",               \
            take_definition, NULL                                                                  \
    }

#endif
