/* SPDX-License-Identifier: Apache-2.0 */
/* Writes verdicts as JUnit XML: a test case for each, which GitLab, Jenkins and others show. */
#include <string.h>

#include "converter/cli/utf8_text.h"
#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"
#include "format/core/bytes.h"

/* XML 1.0 has neither most control characters nor U+FFFE and U+FFFF, and in UTF-8 only. */
static size_t junit_xml_put(const uint8_t *at, size_t left, FILE *out)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    if (left >= 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe) {
        fputs(UTF8_REPLACEMENT, out);
        return 3;
    }
    if (*at < sizeof names / sizeof names[0] && names[*at] != NULL)
        fputs(names[*at], out);
    else if (*at == '\n')
        fputs("&#10;", out); /* a line feed in an attribute would become a blank */
    else
        fputc((*at < ' ' && *at != '\t') || *at == 0x7f ? '?' : *at, out);
    return 1;
}

static bool junit_xml_text(struct step_bytes text, FILE *out)
{
    struct step_buffer valid = {0};
    bool ok = utf8_append(&valid, text);
    for (size_t i = 0; ok && i < valid.length;)
        i += junit_xml_put(valid.data + i, valid.length - i, out);
    step_buffer_reset(&valid);
    return ok;
}

static bool junit_xml_case(const struct verdict *verdict, const char *verb, FILE *out)
{
    const char *tag = verdict->state == VERDICT_NOT_JUDGED ? "error" : "failure";
    fprintf(out, "  <testcase classname=\"steptrace.%s\" name=\"", verb);
    bool ok = junit_xml_text(step_text(verdict->name), out);
    if (verdict->state == VERDICT_PASSED) {
        fputs("\"/>\n", out);
        return ok;
    }
    fprintf(out, "\">\n    <%s message=\"", tag);
    ok = junit_xml_text(verdict_message(verdict), out) && ok;
    fputs("\">", out);
    ok = junit_xml_text(step_text(verdict->text != NULL ? verdict->text : ""), out) && ok;
    fprintf(out, "</%s>\n  </testcase>\n", tag);
    return ok;
}

bool junit_xml_print(const void *user, FILE *out)
{
    const struct verdict_list *list = user;
    bool ok = true;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"steptrace %s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
            list->verb, list->count, verdict_list_count(list, VERDICT_FAILED),
            verdict_list_count(list, VERDICT_NOT_JUDGED));
    for (size_t i = 0; ok && i < list->count; i++)
        ok = junit_xml_case(&list->items[i], list->verb, out);
    fputs("</testsuite>\n", out);
    return ok;
}
