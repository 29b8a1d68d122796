/* SPDX-License-Identifier: Apache-2.0 */
/* Looks commands up in the table, and reports those that are not there. */
#include "converter/cli/verb.h"

#include <stdio.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "format/core/nearest_word.h"

int verb_exit_code; /* 0: success */

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

/* Commands that have become options of others. */
static const struct {
    const char *name, *now;
} former[] = {{"agent-path", "version --agent-path"}, {"snapshot", "attach --snapshot"}};

static const char *verb_name_at(const void *table, size_t i)
{
    return ((const struct verb *) table)[i].name;
}

enum step_status verb_unknown(const char *name)
{
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++)
        if (strcmp(former[i].name, name) == 0) {
            report_line("`steptrace %s` is now `steptrace %s`", name, former[i].now);
            return STEP_STATUS_INVALID;
        }
    for (size_t i = 0; verbs_left_out[i] != NULL; i++)
        if (strcmp(verbs_left_out[i], name) == 0) {
            report_line("this build has no command `%s`", name);
            return STEP_STATUS_INVALID;
        }
    const char *nearest = nearest_word_of(name, verb_name_at, verbs, verb_count);
    fputs("steptrace: unknown command '", stderr);
    print_shown_text(name, stderr);
    fputc('\'', stderr);
    if (nearest != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\n(`steptrace help` lists the commands)\n");
    return STEP_STATUS_INVALID;
}
