/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates for `attach --dry-run`: what recording a JVM would cost it, by its number of classes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/recorders/attach.h"
#include "converter/recorders/recording.h"

#define TEXT_MOST ((size_t) 1 << 16)
#define GENTLE_CLASSES 2000u /* as OPTION_GENTLE_CLASSES of the agent */

/* The least and the most that was measured, for each class. */
struct range {
    double least, most;
};
static const struct range pause_gentle_us = {3, 10}, pause_once_us = {12, 30},
                          class_bytes = {8 * 1024, 20 * 1024};

/* The line is `Total Usage - 7 loaders, 3560 classes (547 shared):`. */
static bool count_classes(const char *text, uint64_t *classes)
{
    static const char total[] = "Total Usage ", loaders[] = " loaders, ";
    const char *line = strstr(text, total);
    const char *at = line != NULL ? strstr(line, loaders) : NULL;
    char *end = NULL;
    if (at == NULL || memchr(line, '\n', (size_t) (at - line)) != NULL)
        return false;
    at += sizeof loaders - 1;
    *classes = strtoull(at, &end, 10);
    return end != at && strncmp(end, " classes", 8) == 0;
}

static void print_forecast(uint64_t classes, const struct recording_options *options)
{
    double count = (double) classes;
    bool gentle = recording_has_pair(options, "gentle=yes") ||
                  (classes > GENTLE_CLASSES && !recording_has_pair(options, "gentle=no"));
    const struct range *pause = gentle ? &pause_gentle_us : &pause_once_us;
    printf("classes   %" PRIu64 " loaded; %s\n", classes,
           gentle ? "changed in slices (gentle)" : "changed at once (gentle=no)");
    printf("pauses    %s, the longest %.0f to %.0f ms, at the start and at the end\n",
           gentle ? "up to 17" : "two or three", count * pause->least / 1e3,
           count * pause->most / 1e3);
    printf("          %s\n",
           gentle && !recording_has_pair(options, "existing=yes")
               ? "no full collection; objects that exist already are left out"
           : recording_has_pair(options, "existing=no")
               ? "objects that exist already are left out"
               : "besides a full collection and a walk of the heap, which are not estimated");
    printf(
        "memory    %.0f to %.0f MiB in the JVM for changed classes, the buffers (buffer=, 64m),\n"
        "          and some 25 bytes for each object that lives or is not collected yet\n",
        count * class_bytes.least / 1048576, count * class_bytes.most / 1048576);
    printf("Estimates, measured with JDK 17 and 25 and 3,900 classes on an idle machine.\n"
           "Nothing was changed: no agent was loaded, no trace begun.\n");
}

enum step_status attach_forecast(const struct jvm_process *process,
                                 const struct recording_options *options)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    static char text[TEXT_MOST];
    uint64_t classes = 0;
    enum step_status status = attach_ask(process, "VM.metaspace", text, sizeof text, &error);
    if (status == STEP_STATUS_OK && !count_classes(text, &classes))
        status = step_error_set(&error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                "the JVM does not say how many classes it has loaded");
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    print_forecast(classes, options);
    return fflush(stdout) == 0 ? STEP_STATUS_OK : STEP_STATUS_IO;
}
