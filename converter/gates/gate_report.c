/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts for people, and as JUnit's XML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/files/output_file.h"
#include "converter/gates/gate_options.h"
#include "converter/gates/gate_verdict.h"
#include "converter/open/input.h"

/* A place: the innermost frame, and who called it. */
static void print_row(const struct measures *measures, const struct gate_top *top, FILE *out)
{
    print_shown(measures_text(measures, top->axis, top->row), out);
    if (top->axis != AXIS_SITE)
        return;
    unsigned depth = 1;
    for (uint32_t at = measures_parent(measures, top->row); at != 0 && depth < 4; depth++) {
        fputs(" <- ", out);
        print_shown(measures_text(measures, AXIS_SITE, at), out);
        at = measures_parent(measures, at);
    }
}

static void print_measured(const struct metric *metric, const struct measured *measured, FILE *out)
{
    fputs(metric_quantity(metric, measured->median).text, out);
    if (measured->runs > 1)
        fprintf(out, " (%s to %s in %zu runs)", metric_quantity(metric, measured->least).text,
                metric_quantity(metric, measured->most).text, measured->runs);
}

static void print_value(const struct gate_verdict *verdict, FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    if (!rule->is_change) {
        print_measured(rule->metric, &verdict->after, out);
        return;
    }
    fputs(metric_change(rule->metric, verdict->value).text, out);
    if (verdict->before.median > 0)
        fprintf(out, " (%+.1f %%)", 100 * verdict->value / verdict->before.median);
    fputs(", from ", out);
    print_measured(rule->metric, &verdict->before, out);
    fputs(" to ", out);
    print_measured(rule->metric, &verdict->after, out);
}

static void print_limit(const struct gate_verdict *verdict, FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    if (rule->is_percent)
        fprintf(out, "%+.10g %%, which is %s", rule->limit,
                metric_change(rule->metric, verdict->limit).text);
    else
        fputs(rule->is_change ? metric_change(rule->metric, verdict->limit).text
                              : metric_quantity(rule->metric, verdict->limit).text,
              out);
}

static void print_details(const struct gate_verdict *verdict, const struct measures *measures,
                          FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    fputs("  measured  ", out);
    print_value(verdict, out);
    fputs("\n  limit     ", out);
    print_limit(verdict, out);
    fputc('\n', out);
    if (verdict->row != 0) {
        fprintf(out, "  %-9s ", axis_names[rule->axis]);
        print_row(measures, &(struct gate_top){rule->axis, verdict->row, 0}, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < verdict->top_count; i++) {
        const struct gate_top *top = &verdict->top[i];
        fprintf(out, "  %-9s %10s  ", axis_names[top->axis],
                rule->is_change ? metric_change(rule->metric, top->value).text
                                : metric_quantity(rule->metric, top->value).text);
        print_row(measures, top, out);
        fputc('\n', out);
    }
}

static void tell(const struct gate_verdict *verdict, const char *verb,
                 const struct measures *measures)
{
    const struct gate_rule *rule = verdict->rule;
    const char *what = verdict->fails          ? "the gate fails"
                       : verdict->is_noise     ? "not more than runs differ"
                       : verdict->matched == 0 ? "nothing has such a name"
                                               : NULL;
    if (what == NULL)
        return;
    fprintf(stderr, "steptrace %s: %s: ", verb, what);
    print_shown_text(rule->text, stderr);
    if (rule->origin[0] != '\0') {
        fputs(" (", stderr);
        print_shown_text(rule->origin, stderr);
        fputc(')', stderr);
    }
    fputc('\n', stderr);
    if (verdict->fails || verdict->is_noise)
        print_details(verdict, measures, stderr);
}

/* ---- XML ---- */

static void put_xml(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) text[i];
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c < ' ' && c != '\n' && c != '\t')
            fputc('?', out);
        else
            fputc(c, out);
    }
}

/* The details as text; NULL: out of memory. */
static char *details_text(const struct gate_verdict *verdict, const struct measures *measures,
                          size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (stream == NULL)
        return NULL;
    print_details(verdict, measures, stream);
    return fclose(stream) == 0 ? text : NULL;
}

static bool put_case(const struct gate_verdict *verdict, const char *verb,
                     const struct measures *measures, FILE *out)
{
    fprintf(out, "  <testcase classname=\"steptrace.%s\" name=\"", verb);
    put_xml(verdict->rule->text, strlen(verdict->rule->text), out);
    if (!verdict->fails) {
        fputs("\"/>\n", out);
        return true;
    }
    size_t length = 0;
    char *text = details_text(verdict, measures, &length);
    if (text == NULL)
        return false;
    size_t first = strcspn(text, "\n");
    fputs("\">\n    <failure message=\"", out);
    put_xml(text + strspn(text, " "), first - strspn(text, " "), out);
    fputs("\">", out);
    put_xml(text, length, out);
    fputs("</failure>\n  </testcase>\n", out);
    free(text);
    return true;
}

static enum step_status write_junit(const char *path, const char *verb,
                                    const struct measures *measures,
                                    const struct gate_verdict *verdicts, size_t count,
                                    size_t failed)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct output_file file;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    bool ok = stream != NULL;
    if (ok)
        fprintf(stream,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuite name=\"steptrace %s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
                verb, count, failed);
    for (size_t i = 0; ok && i < count; i++)
        ok = put_case(&verdicts[i], verb, measures, stream);
    if (ok)
        fputs("</testsuite>\n", stream);
    ok = stream != NULL && fclose(stream) == 0 && ok;
    enum step_status status = ok ? output_file_open(&file, path, &error) : no_memory(&error);
    if (status == STEP_STATUS_OK) {
        status = output_file_write(&file, text, length, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(&file, &error);
        output_file_abort(&file);
    }
    free(text);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

enum step_status gates_judge(const struct gates *gates, const char *verb,
                             const struct measures *measures, size_t *failed)
{
    struct gate_verdict *verdicts = calloc(gates->count + 1, sizeof *verdicts);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    *failed = 0;
    if (verdicts == NULL) {
        no_memory(&error);
        return report_error(&error);
    }
    for (size_t i = 0; i < gates->count; i++) {
        gate_judge(&gates->rules[i], measures, &verdicts[i]);
        *failed += verdicts[i].fails;
        tell(&verdicts[i], verb, measures);
    }
    enum step_status status = STEP_STATUS_OK;
    if (gates->junit != NULL)
        status = write_junit(gates->junit, verb, measures, verdicts, gates->count, *failed);
    free(verdicts);
    return status;
}
