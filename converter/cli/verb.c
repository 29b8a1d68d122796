/* SPDX-License-Identifier: Apache-2.0 */
/* Looks commands up in the table. */
#include "converter/cli/verb.h"

#include <string.h>

#include "format/core/nearest_word.h"

int verb_exit_code; /* 0: success */

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

const char *verb_nearest(const char *typed)
{
    const char *nearest = NULL;
    size_t least = NEAREST_WORD_CHANGES + 1;
    for (size_t i = 0; i < verb_count; i++)
        if (nearest_word_improves(typed, verbs[i].name, &least))
            nearest = verbs[i].name;
    return nearest;
}
