/* SPDX-License-Identifier: Apache-2.0 */
/* The option --definition=FILE: the STEP-DL definition for a STEP trace that has lost its own. */
#ifndef CONVERTER_CLI_GIVEN_DEFINITION_H
#define CONVERTER_CLI_GIVEN_DEFINITION_H

#include <stdbool.h>

/* Parser of the option's value, the path of a STEP-DL file, which may include other files. */
bool take_definition(void *unused, const char *value, const char **fault);
/* Returns that path, or NULL. */
const char *given_definition_path(void);

#define DEFINITION_ROW                                                                             \
    {                                                                                              \
        "definition", 0, "FILE", "definition of a STEP trace that has lost its own",               \
            take_definition, NULL                                                                  \
    }

#endif
