/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace help: prints the list of verbs. */
#include <stdio.h>
#include <string.h>

#include "converter/verbs/explain_verbs.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    "help", "[VERB] [OPTION]...",
    "Lists the commands, or explains one. To complete command lines in bash, put this\n"
    "line into ~/.bashrc: source <(steptrace help --completion=bash)\n"};

static void list_verbs(FILE *out)
{
    fprintf(out, "usage: steptrace VERB [ARGUMENT]...\n\n");
    for (size_t i = 0; i < verb_count; i++)
        fprintf(out, "  %-13s  %s\n", verbs[i].name, verbs[i].summary);
    fprintf(out, "\n`steptrace VERB --help` explains one.\n");
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; name != NULL && i < verb_count; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

enum step_status verb_help(int argc, char **argv)
{
    const char *shell = NULL;
    bool as_manual = false;
    const struct option_row rows[] = {
        {"completion", 0, "SHELL", "print the completion script for bash, zsh or fish", take_text,
         &shell},
        {"manual", 0, NULL, "print a man page made of the options", take_flag, &as_manual}};
    struct arguments arguments = {.help = &help, .rows = rows, .row_count = 2};
    if (argv == NULL) { /* called without a verb */
        list_verbs(stderr);
        return STEP_STATUS_OK;
    }
    enum step_status status;
    if (!arguments_read(&arguments, argc, argv, 0, 1, &status))
        return status;
    const char *name = arguments.operand_count > 0 ? arguments.operands[0] : NULL;
    const struct verb *verb = find_verb(name);
    if (shell != NULL && !completion_print(shell))
        return arguments_fault(&arguments, "--completion=%s: bash, zsh or fish is expected", shell);
    if ((as_manual || name != NULL) && verb == NULL)
        return arguments_fault(&arguments, "there is no verb '%s'", name != NULL ? name : "");
    if (as_manual)
        manual_print(verb);
    else if (verb != NULL)
        explain_verb(verb, arguments_print_help);
    else if (shell == NULL)
        list_verbs(stdout);
    return STEP_STATUS_OK;
}
