/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates from the number of loaded classes, with factors that were measured on JDK 17 and 25
 * (docs/results/attach.md). */
#include "converter/verbs/attach_forecast.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "converter/attach/attach_protocol.h"
#include "format/core/no_memory.h"

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

static void print_forecast(FILE *out, uint64_t classes, const struct recording_options *options)
{
    double count = (double) classes;
    bool gentle = recording_has_pair(options, "gentle=yes") ||
                  (classes > GENTLE_CLASSES && !recording_has_pair(options, "gentle=no"));
    const struct range *pause = gentle ? &pause_gentle_us : &pause_once_us;
    fprintf(out, "classes   %" PRIu64 " loaded; %s\n", classes,
            gentle ? "changed in slices (gentle)" : "changed at once (gentle=no)");
    fprintf(out, "pauses    %.0f to %.0f ms the longest of %s, at the start and at the end\n",
            count * pause->least / 1e3, count * pause->most / 1e3,
            gentle ? "up to 17" : "two or three");
    fprintf(out, "          %s\n",
            gentle && !recording_has_pair(options, "existing=yes")
                ? "no full collection; objects that exist already are left out"
            : recording_has_pair(options, "existing=no")
                ? "objects that exist already are left out"
                : "besides a full collection and a walk of the heap, which are not estimated");
    fprintf(
        out,
        "memory    %.0f to %.0f MiB in the JVM for changed classes, the buffers (buffer=, 64m),\n"
        "          and some 25 bytes for each object that lives or is not collected yet\n",
        count * class_bytes.least / 1048576, count * class_bytes.most / 1048576);
    fprintf(out, "These are estimates, by what JDK 17 and 25 took with some 3,900 classes on an "
                 "idle machine.\nNothing was changed: no agent was loaded, no trace begun.\n");
}

enum step_status attach_forecast_print(FILE *out, const struct jvm_process *process,
                                       const struct recording_options *options,
                                       struct step_error *error)
{
    uint64_t classes = 0;
    char *text = malloc(TEXT_MOST);
    if (text == NULL)
        return step_no_memory(error, NULL);
    enum step_status status = attach_ask(process, "VM.metaspace", text, TEXT_MOST, error);
    if (status == STEP_STATUS_OK && !count_classes(text, &classes))
        status = step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                "the JVM does not say how many classes it has loaded");
    if (status == STEP_STATUS_OK)
        print_forecast(out, classes, options);
    free(text);
    return status;
}
