/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the definition from the command line. */
#include "converter/cli/given_definition.h"

#include <stddef.h>

static const char *given_path; /* NULL: none */

bool take_definition(void *unused, const char *value, const char **fault)
{
    (void) unused;
    *fault = "must not be empty";
    given_path = value;
    return value[0] != '\0';
}

const char *given_definition_path(void)
{
    return given_path;
}
