/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a verb's man page from its option table; scripts/make-manuals.sh adds the verb's text from
 * steptrace(1). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "converter/verbs/explain_verbs.h"

static const struct verb *shown;

/* Escapes text of a line for troff. */
static void print_text(const char *text, size_t length)
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
        print_text(at, length);
        putchar('\n');
        at += length;
    }
    if (is_table)
        puts(".Ed");
}

static void print_page(const struct arguments *arguments)
{
    char title[64];
    size_t length = (size_t) snprintf(title, sizeof title, "STEPTRACE-%s", shown->name);
    for (size_t i = 0; i < length && i < sizeof title; i++)
        title[i] = (char) toupper((unsigned char) title[i]);
    printf(".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made of the table of options.\n"
           ".Dd $Mdocdate$\n.Dt %s 1\n.Os StepTrace\n.Sh NAME\n.Nm steptrace-%s\n.Nd %s\n"
           ".Sh SYNOPSIS\n.Nm steptrace %s\n",
           title, shown->name, shown->summary, shown->name);
    print_text(arguments->help->operands, strlen(arguments->help->operands));
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
        print_text(row->help, strlen(row->help));
        putchar('\n');
    }
    puts(".It Fl h , Fl \\-help\nprint help\n.El");
}

void manual_print(const struct verb *verb)
{
    shown = verb;
    explain_verb(verb, print_page);
}
