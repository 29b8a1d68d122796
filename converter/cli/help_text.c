/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks texts into lines at blanks. */
#include "converter/cli/help_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_COLUMNS = 79 };

struct help_line {
    size_t indent;
    size_t used; /* columns; `indent` at its beginning */
};

static void break_line(struct help_line *line)
{
    printf("\n%*s", (int) line->indent, "");
    line->used = line->indent;
}

static void print_word(struct help_line *line, const char *word, size_t length)
{
    if (line->used > line->indent && line->used + 1 + length > LINE_COLUMNS)
        break_line(line);
    if (line->used > line->indent) {
        putchar(' ');
        line->used++;
    }
    fwrite(word, 1, length, stdout);
    line->used += length;
}

/* Prints the words of one line of the text. */
static void print_words(struct help_line *line, const char *at, const char *end)
{
    while (at < end) {
        size_t blanks = strspn(at, " ");
        size_t length = strcspn(at + blanks, " \n");
        if (length > 0)
            print_word(line, at + blanks, length);
        at += blanks + length;
    }
}

void help_print_text(const char *text, size_t indent)
{
    struct help_line line = {indent, indent};
    bool was_fixed = false;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        bool is_fixed = length == 0 || at[0] == ' ';
        if (at != text && (is_fixed || was_fixed))
            break_line(&line);
        if (is_fixed)
            fwrite(at, 1, length, stdout);
        else
            print_words(&line, at, at + length);
        was_fixed = is_fixed;
        at += length + (at[length] == '\n');
    }
    putchar('\n');
}
