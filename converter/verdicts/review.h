/* SPDX-License-Identifier: Apache-2.0 */
/* The files and annotations that show verdicts to those who review a change (docs/start/ci.md). */
#ifndef CONVERTER_VERDICTS_REVIEW_H
#define CONVERTER_VERDICTS_REVIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "converter/cli/arguments.h"
#include "steptrace/status.h"

struct verdict_list;

/* The files to write; NULL: not wanted. */
struct verdict_files {
    const char *junit, *sarif, *code_quality, *markdown;
};

#define REVIEW_ROWS(files)                                                                           \
    {"sarif",   0,                                                                                   \
     "FILE",    "write what is to be reviewed as SARIF 2.1.0 (docs/start/ci.md)",                    \
     take_text, &(files)->sarif},                                                                    \
        {"code-quality",        0, "FILE", "write it as a code quality report of GitLab", take_text, \
         &(files)->code_quality},                                                                    \
    {                                                                                                \
        "markdown", 0, "FILE", "write it as Markdown, for a comment", take_text,                     \
            &(files)->markdown                                                                       \
    }

/* Writes the files.  Under GitHub Actions also prints annotations on stderr, and appends the
 * Markdown to the summary of the job.  Reports errors. */
enum step_status verdicts_show(struct verdict_list *list, const struct verdict_files *files);

/* ---- the writers; each is passed to output_file_print() with a list ---- */

bool junit_xml_print(const void *list, FILE *out);
bool sarif_log_print(const void *list, FILE *out);
bool code_quality_print(const void *list, FILE *out);
bool verdict_markdown_print(const void *list, FILE *out);
/* Prints annotations, as commands of a workflow. */
void github_job_annotate(const struct verdict_list *list, FILE *out);

#endif
