/* SPDX-License-Identifier: Apache-2.0 */
/* Prints verdicts as commands of a GitHub workflow, which annotate lines of files. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "converter/cli/utf8_text.h"
#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"
#include "format/core/bytes.h"

#define ANNOTATIONS_MOST 10u /* GitHub shows no more of a step */

/* A command is one line; a property ends at a comma or colon. */
static void github_job_text(struct step_bytes text, bool is_property, FILE *out)
{
    struct step_buffer valid = {0};
    bool ok = utf8_append(&valid, text);
    for (size_t i = 0; ok && i < valid.length; i++) {
        uint8_t byte = valid.data[i];
        if (strchr("%\n\r", byte) != NULL || (is_property && strchr(":,", byte) != NULL))
            fprintf(out, "%%%02X", byte);
        else
            fputc(byte < ' ' || byte == 0x7f ? '?' : byte, out);
    }
    step_buffer_reset(&valid);
}

static void github_job_command(const struct verdict *verdict, FILE *out)
{
    char path[PATH_MAX];
    fputs(verdict->state == VERDICT_ADVICE ? "::notice " : "::error ", out);
    if (verdict->file != NULL) {
        verdict_path(verdict, path, sizeof path);
        fputs("file=", out);
        github_job_text(step_text(path), true, out);
        fprintf(out, ",line=%" PRIu64 ",", verdict->line != 0 ? verdict->line : 1);
    }
    fputs("title=", out);
    github_job_text(step_text(verdict->name), true, out);
    fputs("::", out);
    github_job_text(step_text(verdict->text != NULL ? verdict->text : verdict->name), false, out);
    fputc('\n', out);
}

void github_job_annotate(const struct verdict_list *list, FILE *out)
{
    unsigned put = 0;
    for (size_t i = 0; i < list->count && put < ANNOTATIONS_MOST; i++)
        if (verdict_is_shown(&list->items[i])) {
            github_job_command(&list->items[i], out);
            put++;
        }
}
