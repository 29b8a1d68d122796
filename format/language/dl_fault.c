/* SPDX-License-Identifier: Apache-2.0 */
/* Reports faults in a definition's text: locates and counts them. */
#include "format/language/dl_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void dl_fault_in(struct dl_parse *parse, const struct step_fault *fault)
{
    if (parse->fault_count++ == 0)
        step_error_set(parse->error, STEP_STATUS_INVALID, fault->name, STEP_NO_OFFSET, "%u:%u: %s",
                       fault->line, fault->column, fault->message);
    if (parse->options->report != NULL && parse->fault_count <= DL_FAULT_LIMIT)
        parse->options->report(parse->options->user, fault);
}

/* Finds the text of a line; empty if the line does not exist. */
static void dl_fault_find_line(const struct dl_expansion *expansion, uint32_t line,
                               struct step_fault *fault)
{
    const char *at = expansion->text;
    while (line > 1 && at != NULL) {
        at = strchr(at, '\n');
        at += at != NULL;
        line--;
    }
    fault->text = at != NULL ? at : "";
    fault->text_length = strcspn(fault->text, "\n");
}

/* Returns the segment of a line of the whole text, or NULL if there are none. */
static const struct dl_segment *find_segment(const struct dl_expansion *expansion, uint32_t line)
{
    size_t low = 0, high = expansion->segment_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (expansion->segments[middle].line <= line)
            low = middle;
        else
            high = middle;
    }
    return expansion->segment_count > 0 ? &expansion->segments[low] : NULL;
}

/* A definition may include any readable file.  Lines of an included file are shown only if it is a
 * regular file named *.step, not a link. */
static bool may_show(const char *name)
{
    static const char ending[] = ".step";
    struct stat about;
    size_t length = strlen(name);
    return length > sizeof ending - 1 && strcmp(name + length - (sizeof ending - 1), ending) == 0 &&
           lstat(name, &about) == 0 && S_ISREG(about.st_mode);
}

static void dl_fault_find_place(const struct dl_expansion *expansion, const char *name,
                                struct dl_place place, struct step_fault *fault)
{
    const struct dl_segment *segment = find_segment(expansion, place.line);
    fault->name = name;
    fault->line = place.line;
    fault->column = fault->text_column = place.column;
    if (segment != NULL) {
        fault->name = segment->name;
        fault->line = segment->first_line + (place.line - segment->line);
        fault->column += place.line == segment->line ? segment->first_column - 1 : 0;
        if (segment->name != expansion->segments[0].name && !may_show(segment->name))
            fault->text_length = 0;
    }
}

void dl_locate_in(const struct dl_expansion *expansion, const char *name, struct dl_place place,
                  struct step_fault *fault)
{
    dl_fault_find_line(expansion, place.line, fault);
    dl_fault_find_place(expansion, name, place, fault);
}

void dl_fault(struct dl_parse *parse, struct dl_place place, const char *format, ...)
{
    char message[400];
    struct step_fault fault = {.message = message};
    if (parse->fault_count > DL_FAULT_LIMIT)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    dl_locate_in(&parse->expansion, parse->name, place, &fault);
    dl_fault_in(parse, &fault);
}
