/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace help: prints the list of verbs, and what is made of their tables of options: completion
 * scripts for bash, zsh and fish, and man pages, to which scripts/make-manuals.sh adds the verb's
 * text from steptrace(1). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "converter/formats/format_table.h"

VERB(help);

/* The verb whose options are printed. */
static const struct verb *shown_verb;

/* Makes the verb print its option table with `print` instead of its help. */
static void explain_verb(const struct verb *verb, arguments_printer print)
{
    static char word[] = "--help";
    char *arguments[] = {word, NULL};
    shown_verb = verb;
    arguments_print_with(print);
    verb->run(1, arguments);
    arguments_print_with(arguments_print_help);
}

/* ---- completion ---- */

static const char names_files[] = " IN OUT FILE PATH DIRECTORY ";

/* Returns true if this placeholder of an operand or a value stands for a file name. */
static bool is_file(const char *word)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %.*s ", (int) strcspn(word, " ["), word);
    return strstr(names_files, wanted) != NULL;
}

/* Prints a text in single quotes.  Omits or replaces characters that end the quotes, or a message
 * of zsh. */
static void print_quoted(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*at == '[' ? '(' : *at == ']' ? ')' : *at == ':' ? ',' : *at);
}

/* ---- options with known values ---- */

#define KNOWN_ROOM 1024

static const struct {
    const char *verb; /* NULL: all verbs */
    const char *option;
    const char *words; /* NULL: the names of the formats */
} known[] = {
    {NULL, "at", "peak end gc:"},
    {NULL, "alive-at", "peak end gc:"},
    {"heap", "by", "class site thread object class+site"},
    {"compare", "by", "class site thread method class+site all"},
    {"leaks", "by", "class site class+site"},
    {"watch", "by", "class site thread method"},
    {"convert", "to", NULL},
};
#define KNOWN_COUNT (sizeof known / sizeof known[0])

/* Values of row `i`, separated by blanks; `out` has KNOWN_ROOM bytes. */
static const char *known_words(size_t i, char *out)
{
    const char *from = known[i].words != NULL ? known[i].words : trace_format_names();
    size_t length = 0;
    for (; *from != '\0' && length + 1 < KNOWN_ROOM; from++)
        if (*from != ',')
            out[length++] = *from;
    out[length] = '\0';
    return out;
}

/* Returns NULL if the option's values are unknown. */
static const char *known_values(const char *verb, const char *option, char *out)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(known[i].option, option) == 0 &&
            (known[i].verb == NULL || strcmp(known[i].verb, verb) == 0))
            return known_words(i, out);
    return NULL;
}

/* ---- bash ---- */

static void print_bash_words(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        printf("--%s%s ", row->name, row->value != NULL ? "=" : "");
        if (row->letter != 0)
            printf("-%c ", row->letter);
    }
    fputs("--help", stdout);
}

/* Options whose values are not files have no completion. */
static void print_bash_values(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        if (row->value == NULL || is_file(row->value))
            continue;
        printf("--%s ", row->name);
        if (row->letter != 0)
            printf("-%c ", row->letter);
    }
}

static void print_bash_command(const struct arguments *arguments)
{
    printf("%s", arguments->stop_at_operand ? "1" : "");
}

static void print_bash_known(void)
{
    puts("_steptrace_known()\n{\n    case \"$1 $2\" in");
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        char words[KNOWN_ROOM];
        if (known[i].verb == NULL)
            printf("        *' --%s')", known[i].option);
        else
            printf("        '%s --%s')", known[i].verb, known[i].option);
        printf(" echo '%s' ;;\n", known_words(i, words));
    }
    puts("    esac\n}\n"
         "_steptrace_jvms()\n{\n    local process\n"
         "    for process in /proc/[0-9]*; do\n"
         "        [[ $(readlink \"$process/exe\" 2>/dev/null) == */java ]] && echo "
         "\"${process#/proc/}\"\n"
         "    done\n}");
}

static void print_bash(void)
{
    puts("# bash completion of steptrace; made by `steptrace help --completion=bash`\n"
         "_steptrace()\n{\n"
         "    local known cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
         "verb=${COMP_WORDS[1]-}\n"
         "    local options= values= command= word\n"
         "    COMPREPLY=()\n"
         "    if ((COMP_CWORD == 1)); then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (size_t i = 0; i < verb_count; i++)
        printf("%s ", verbs[i].name);
    puts("--help --version' -- \"$cur\"))\n        return\n    fi\n    case $verb in");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        %s) options='", verbs[i].name);
        explain_verb(&verbs[i], print_bash_words);
        fputs("' values='", stdout);
        explain_verb(&verbs[i], print_bash_values);
        fputs("' command=", stdout);
        explain_verb(&verbs[i], print_bash_command);
        puts(" ;;");
    }
    fputs("    esac\n"
          "    if [[ $verb == help ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options ",
          stdout);
    for (size_t i = 0; i < verb_count; i++)
        printf("%s ", verbs[i].name);
    puts("\" -- \"$cur\"))\n"
         "    elif [[ $cur == -* && $cur != *=* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace 2>/dev/null\n"
         "    elif [[ $prev == = || $cur == = ]]; then # bash has cut --name=value at the =\n"
         "        word=${COMP_WORDS[COMP_CWORD-1]}\n"
         "        [[ $word == = ]] && word=${COMP_WORDS[COMP_CWORD-2]}\n"
         "        known=$(_steptrace_known \"$verb\" \"$word\")\n"
         "        if [[ -n $known ]]; then\n"
         "            COMPREPLY=($(compgen -W \"$known\" -- \"${cur#=}\"))\n"
         "        elif [[ \" $values \" != *\" $word \"* ]]; then\n"
         "            COMPREPLY=($(compgen -f -- \"${cur#=}\"))\n"
         "        fi\n"
         "    elif [[ -n $prev && \" $values \" == *\" $prev \"* ]]; then\n"
         "        known=$(_steptrace_known \"$verb\" \"$prev\")\n"
         "        COMPREPLY=($(compgen -W \"$known\" -- \"$cur\"))\n"
         "    elif [[ $verb == attach || ($verb == watch && $cur != *[^0-9]*) ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$(_steptrace_jvms)\" -- \"$cur\"))\n"
         "        [[ $verb == watch ]] && COMPREPLY+=($(compgen -f -X '!*.step' -- \"$cur\"))\n"
         "    elif [[ -n $command && $prev != -o ]]; then\n"
         "        COMPREPLY=($(compgen -c -- \"$cur\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "        compopt -o filenames 2>/dev/null\n"
         "    fi\n"
         "}\n"
         "complete -F _steptrace steptrace");
    print_bash_known();
}

/* ---- zsh ---- */

/* A colon would end the list. */
static void print_zsh_values(const struct option_row *row)
{
    char words[KNOWN_ROOM];
    const char *at = known_values(shown_verb->name, row->name, words);
    if (at == NULL) {
        printf(":%s", is_file(row->value) ? "_files" : "");
        return;
    }
    fputs(":(", stdout);
    for (; *at != '\0'; at++)
        printf("%s%c", *at == ':' ? "\\" : "", *at);
    putchar(')');
}

static void print_zsh_options(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        for (int pass = 0; pass < 1 + (row->letter != 0); pass++) {
            if (pass == 0)
                printf("            '*--%s%s[", row->name, row->value != NULL ? "=" : "");
            else
                printf("            '*-%c%s[", row->letter, row->value != NULL ? "+" : "");
            print_quoted(row->help);
            putchar(']');
            if (row->value != NULL) {
                putchar(':');
                print_quoted(row->value);
                print_zsh_values(row);
            }
            fputs("' \\\n", stdout);
        }
    }
    printf("            '--help[print help]' '%s' && return ;;\n",
           arguments->stop_at_operand ? "*::command:_normal" : "*:file:_files");
}

static void print_zsh(void)
{
    puts("#compdef steptrace\n# made by `steptrace help --completion=zsh`\n"
         "_steptrace() {\n"
         "    local -a verbs=(");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        '%s:", verbs[i].name);
        print_quoted(verbs[i].summary);
        puts("'");
    }
    puts("    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe verb verbs && return\n"
         "    fi\n"
         "    local verb=$words[2]\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $verb in");
    for (size_t i = 0; i < verb_count; i++) {
        printf("        %s) _arguments \\\n", verbs[i].name);
        explain_verb(&verbs[i], print_zsh_options);
    }
    puts("    esac\n}\n_steptrace \"$@\"");
}

/* ---- fish ---- */

static void print_fish_options(const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        printf("complete -c steptrace -n '__fish_seen_subcommand_from %s' -l %s", shown_verb->name,
               row->name);
        if (row->letter != 0)
            printf(" -s %c", row->letter);
        if (row->value != NULL)
            printf(" -r%s", is_file(row->value) ? "F" : "f");
        char words[KNOWN_ROOM];
        if (row->value != NULL && known_values(shown_verb->name, row->name, words) != NULL)
            printf(" -a '%s'", words);
        fputs(" -d '", stdout);
        print_quoted(row->help);
        puts("'");
    }
}

static void print_fish(void)
{
    puts("# fish completion of steptrace; made by `steptrace help --completion=fish`");
    for (size_t i = 0; i < verb_count; i++) {
        printf("complete -c steptrace -f -n __fish_use_subcommand -a %s -d '", verbs[i].name);
        print_quoted(verbs[i].summary);
        puts("'");
        explain_verb(&verbs[i], print_fish_options);
    }
}

static bool completion_print(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return true;
        }
    return false;
}

/* ---- man pages ---- */

/* Escapes text of a line for troff. */
static void print_troff(const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
}

/* Lines that begin with two spaces are a table and are printed unchanged. */
static void print_paragraphs(const char *text)
{
    bool is_table = false;
    for (const char *at = text; *at != '\0'; at += strspn(at, "\n")) {
        size_t length = strcspn(at, "\n");
        bool in_table = at[0] == ' ';
        if (in_table != is_table)
            puts(in_table ? ".Bd -literal" : ".Ed");
        is_table = in_table;
        print_troff(at, length);
        putchar('\n');
        at += length;
    }
    if (is_table)
        puts(".Ed");
}

static void print_manual(const struct arguments *arguments)
{
    char title[64];
    size_t length = (size_t) snprintf(title, sizeof title, "STEPTRACE-%s", shown_verb->name);
    for (size_t i = 0; i < length && i < sizeof title; i++)
        title[i] = (char) toupper((unsigned char) title[i]);
    printf(".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made of the table of options.\n"
           ".Dd $Mdocdate$\n.Dt %s 1\n.Os StepTrace\n.Sh NAME\n.Nm steptrace-%s\n.Nd %s\n"
           ".Sh SYNOPSIS\n.Nm steptrace %s\n",
           title, shown_verb->name, shown_verb->summary, shown_verb->name);
    print_troff(arguments->help->operands, strlen(arguments->help->operands));
    puts("\n.Sh DESCRIPTION");
    print_paragraphs(arguments->help->text);
    puts(".Sh OPTIONS\n.Bl -tag -width indent");
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        fputs(".It ", stdout);
        if (row->letter != 0)
            printf("Fl %c , ", row->letter);
        printf("Fl \\-%s", row->name);
        if (row->value != NULL)
            printf(" Ns = Ns Ar %s", row->value);
        putchar('\n');
        print_troff(row->help, strlen(row->help));
        putchar('\n');
    }
    puts(".It Fl h , Fl \\-help\nprint help\n.El");
}

/* ---- the verb ---- */

static const struct verb_help help = {
    "help", "[COMMAND] [OPTION]...",
    "Lists the commands, or explains one. To complete command lines in bash, put this\n"
    "line into ~/.bashrc: source <(steptrace help --completion=bash)\n"};

static void list_verbs(FILE *out)
{
    static const char *const titles[VERB_GROUPS] = {[VERBS_RECORD] = "Record:",
                                                    [VERBS_LOOK] = "Look at a trace:",
                                                    [VERBS_COMPARE] = "Compare and check:",
                                                    [VERBS_CONVERT] = "Convert:",
                                                    [VERBS_STUDY] = "Study:",
                                                    [VERBS_OTHER] = "Other:"};
    fprintf(out, "usage: steptrace COMMAND [ARGUMENT]...\n");
    for (size_t i = 0; i < verb_count; i++) {
        if (i == 0 || verbs[i].group != verbs[i - 1].group)
            fprintf(out, "\n%s\n", titles[verbs[i].group]);
        fprintf(out, "  %-13s  %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(out, "\n`steptrace COMMAND --help` explains one.\n");
}

enum step_status verb_help(int argc, char **argv)
{
    const char *shell = NULL;
    bool as_manual = false;
    const struct option_row rows[] = {
        {"completion", 0, "SHELL", "print the completion script for bash, zsh or fish", take_text,
         &shell},
        {"manual", 0, NULL, "print a man page made of the options", take_flag, &as_manual}};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (argv == NULL) { /* called without a verb */
        list_verbs(stderr);
        return STEP_STATUS_OK;
    }
    if (!arguments_read(&arguments, argc, argv, 0, 1))
        return arguments.status;
    const char *name = arguments.operand_count > 0 ? arguments.operands[0] : NULL;
    const struct verb *verb = name != NULL ? verb_find(name) : NULL;
    if (shell != NULL && !completion_print(shell))
        return arguments_fault(&arguments, "--completion=%s: bash, zsh or fish is expected", shell);
    if (name != NULL && verb == NULL)
        return verb_unknown(name);
    if (as_manual && verb == NULL)
        return arguments_fault(&arguments, "--manual needs a command");
    if (as_manual)
        explain_verb(verb, print_manual);
    else if (verb != NULL)
        explain_verb(verb, arguments_print_help);
    else if (shell == NULL)
        list_verbs(stdout);
    return STEP_STATUS_OK;
}
