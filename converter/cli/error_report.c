/* SPDX-License-Identifier: Apache-2.0 */
/* Prints messages and names. */
#include "converter/cli/error_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "steptrace/show.h"

void report_text(const char *format, va_list values)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, values);
    print_shown_text(text, stderr);
}

void report_line(const char *format, ...)
{
    va_list values;
    fputs("steptrace: ", stderr);
    va_start(values, format);
    report_text(format, values);
    va_end(values);
    fputc('\n', stderr);
}

const char *report_name(const char *path)
{
    bool is_copy = strncmp(path, COPY_PATH_START, sizeof COPY_PATH_START - 1) == 0;
    return is_copy ? STANDARD_INPUT_NAME : path;
}

void report_no_stacks(const char *path)
{
    report_line("%s: has no call stacks; `steptrace record --stack=16 java ...` records them (the "
                "agent's option stack=16), of native programs `steptrace record-malloc --stack=16`",
                report_name(path));
}

enum step_status report_error(const struct step_error *error)
{
    char text[900];
    struct step_error shown = *error;
    snprintf(shown.file, sizeof shown.file, "%s", report_name(error->file));
    step_error_print(&shown, text, sizeof text);
    report_line("%s", text);
    return error->status;
}

enum step_status report_unfit(const char *path, const char *reason)
{
    struct step_error error;
    step_error_set(&error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET, "%s", reason);
    return report_error(&error);
}

enum step_status report_no_memory(void)
{
    struct step_error error;
    step_no_memory(&error, NULL);
    return report_error(&error);
}

void report_damage(const char *path, const struct step_damage *damage)
{
    char place[40] = "", passed[48] = "";
    if (damage->offset != STEP_NO_OFFSET)
        snprintf(place, sizeof place, "offset %" PRIu64 ": ", damage->offset);
    if (damage->length > 0)
        snprintf(passed, sizeof passed, " (%" PRIu64 " bytes skipped)", damage->length);
    report_line("%s: %s%s%s", report_name(path), place, damage->message, passed);
}

void report_damage_left(const char *path, size_t count)
{
    if (count > REPORT_DAMAGE_MOST)
        report_line("%s: and %zu more such places", report_name(path), count - REPORT_DAMAGE_MOST);
}

enum step_status report_damaged_blocks(const struct step_reader *reader, const char *path)
{
    size_t count = step_reader_damage_count(reader);
    for (size_t i = 0; i < count && i < REPORT_DAMAGE_MOST; i++)
        report_damage(path, step_reader_damage(reader, i));
    report_damage_left(path, count);
    return count > 0 ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}

static void print_shown_part(struct step_bytes text, FILE *out)
{
    for (size_t i = 0; i < text.length;) {
        size_t plain = 0, length;
        while (i + plain < text.length &&
               (length = step_show_length(text.data + i + plain, text.length - i - plain)) > 0)
            plain += length;
        if (plain > 0)
            fwrite(text.data + i, 1, plain, out);
        i += plain;
        if (i < text.length)
            fprintf(out, "\\x%02x", text.data[i++]);
    }
}

/* GitHub's runners take commands out of what a step prints: `::` must begin a line, as no name in a
 * message does, but `##[` may stand anywhere.  Returns the length of the text before it. */
static size_t before_command(struct step_bytes text)
{
    static int is_runner = -1;
    if (is_runner < 0) {
        const char *actions = getenv("GITHUB_ACTIONS");
        is_runner = actions != NULL && strcmp(actions, "true") == 0;
    }
    const void *found =
        is_runner > 0 && text.length > 0 ? memmem(text.data, text.length, "##[", 3) : NULL;
    return found != NULL ? (size_t) ((const uint8_t *) found - text.data) : text.length;
}

void print_shown(struct step_bytes text, FILE *out)
{
    size_t length;
    while ((length = before_command(text)) < text.length) {
        print_shown_part((struct step_bytes){text.data, length}, out);
        fputs("\\x23", out);
        text = (struct step_bytes){text.data + length + 1, text.length - length - 1};
    }
    print_shown_part(text, out);
}

char *shown_copy(struct step_bytes text)
{
    char *copy = NULL;
    size_t length;
    FILE *out = open_memstream(&copy, &length);
    if (out == NULL)
        return NULL;
    print_shown(text, out);
    if (fclose(out) == 0)
        return copy;
    free(copy);
    return NULL;
}

void print_shown_text(const char *text, FILE *out)
{
    print_shown((struct step_bytes){(const uint8_t *) text, strlen(text)}, out);
}

void print_shown_label(const char *label, FILE *out)
{
    char text[256];
    step_show((struct step_bytes){(const uint8_t *) label, strlen(label)}, text, sizeof text);
    fprintf(out, "%-14s ", text);
}

void print_shown_lines(const char *text, FILE *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n\t");
        print_shown((struct step_bytes){(const uint8_t *) text, length}, out);
        text += length;
        if (*text != '\0')
            fputc(*text++, out);
    }
}

void print_shown_word(const char *word, FILE *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%";
    bool is_plain = word[strspn(word, plain)] == '\0';
    fputs(is_plain ? "" : "'", out);
    while (*word != '\0') {
        size_t length = strcspn(word, "'");
        print_shown((struct step_bytes){(const uint8_t *) word, length}, out);
        word += length;
        if (*word == '\'') {
            fputs("'\\''", out);
            word++;
        }
    }
    fputs(is_plain ? "" : "'", out);
}
