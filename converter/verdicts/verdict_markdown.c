/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes verdicts as Markdown, for the comment of a change and the summary of a job.  All texts
 * stand in blocks of HTML without blank lines, in which nothing is read as Markdown, and as code,
 * in which no name is a mention: so no name in a trace becomes a link, a command or a picture.
 */
#include <string.h>

#include "converter/cli/utf8_text.h"
#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"
#include "format/core/bytes.h"

#define MARKDOWN_BYTES_MOST 50000          /* GitHub takes comments of 65,536 characters */
#define MARKDOWN_TEXT_MOST ((size_t) 1000) /* bytes of a name, or of details */

static bool markdown_text(struct step_bytes text, FILE *out)
{
    struct step_buffer valid = {0};
    bool is_long = text.length > MARKDOWN_TEXT_MOST;
    text.length = is_long ? MARKDOWN_TEXT_MOST : text.length;
    bool ok = utf8_append(&valid, text);
    for (size_t i = 0; ok && i < valid.length; i++) {
        uint8_t byte = valid.data[i];
        if (strchr("&<>\"'\n\r", byte) != NULL)
            fprintf(out, "&#%u;", byte);
        else
            fputc(byte < ' ' || byte == 0x7f ? '?' : byte, out);
    }
    fputs(is_long ? "..." : "", out);
    step_buffer_reset(&valid);
    return ok;
}

static bool markdown_row(const struct verdict *verdict, FILE *out)
{
    static const char *const words[] = {[VERDICT_PASSED] = "passes",
                                        [VERDICT_FAILED] = "fails",
                                        [VERDICT_NOT_JUDGED] = "not judged",
                                        [VERDICT_ADVICE] = "advice"};
    fprintf(out, "<tr><td>%s</td><td><code>", words[verdict->state]);
    bool ok = markdown_text(step_text(verdict->name), out);
    fputs("</code></td><td><pre>", out);
    ok = markdown_text(step_text(verdict->text != NULL ? verdict->text : ""), out) && ok;
    fputs("</pre></td></tr>\n", out);
    return ok;
}

bool verdict_markdown_print(const void *user, FILE *out)
{
    const struct verdict_list *list = user;
    size_t passed = verdict_list_count(list, VERDICT_PASSED), shown = list->count - passed;
    size_t put = 0;
    bool ok = true;
    if (verdict_list_count(list, VERDICT_ADVICE) > 0)
        fprintf(out, "### steptrace %s: %zu\n\n", list->verb, shown);
    else
        fprintf(out, "### steptrace %s: %zu of %zu pass\n\n", list->verb, passed, list->count);
    if (shown == 0)
        return true;
    fputs("<table>\n", out);
    for (size_t i = 0; ok && i < list->count && ftell(out) < MARKDOWN_BYTES_MOST; i++)
        if (verdict_is_shown(&list->items[i])) {
            ok = markdown_row(&list->items[i], out);
            put++;
        }
    fputs("</table>\n\n", out);
    if (shown > put)
        fprintf(out, "… and %zu more\n\n", shown - put);
    return ok;
}
