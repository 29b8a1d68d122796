/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace help, steptrace version. */
#include <stdio.h>
#include <string.h>

#include "converter/verbs/verb.h"

static void list_verbs(FILE *out)
{
    fprintf(out, "usage: steptrace VERB [ARGUMENT]...\n\n");
    for (size_t i = 0; i < verb_count; i++)
        fprintf(out, "  %-13s  %s\n", verbs[i].name, verbs[i].summary);
    fprintf(out, "\n`steptrace VERB --help` tells about one.\n");
}

enum step_status verb_help(int argc, char **argv)
{
    static char help[] = "--help";
    char *arguments[] = {help, NULL};
    for (size_t i = 0; argc > 0 && i < verb_count; i++)
        if (strcmp(verbs[i].name, argv[0]) == 0 && verbs[i].run != verb_help)
            return verbs[i].run(1, arguments);
    list_verbs(argv == NULL ? stderr : stdout);
    return STEP_STATUS_OK;
}

enum step_status verb_version(int argc, char **argv)
{
    static const struct verb_help about = {"version", "", "Prints the version.\n"};
    struct arguments arguments = {.help = &about};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status == STEP_STATUS_OK && !arguments.help_wanted)
        status = arguments_expect(&arguments, 0, 0);
    if (status == STEP_STATUS_OK && !arguments.help_wanted)
        printf("steptrace %s\n", STEPTRACE_VERSION);
    return status;
}
