/* SPDX-License-Identifier: Apache-2.0 */
/* A list, by path. */
#include "converter/sql/open_traces.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"

enum step_status open_traces_take(struct open_traces *traces, const char *path,
                                  struct open_trace **out, struct step_error *error)
{
    for (*out = traces->first; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0) {
            (*out)->uses++;
            return STEP_STATUS_OK;
        }
    struct open_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL || (trace->path = strdup(path)) == NULL) {
        free(trace);
        return no_memory(error);
    }
    enum step_status status = tables_open(path, &trace->tables, error);
    if (status != STEP_STATUS_OK) {
        free(trace->path);
        free(trace);
        return status;
    }
    trace->uses = 1;
    trace->next = traces->first;
    traces->first = trace;
    *out = trace;
    return STEP_STATUS_OK;
}

void open_traces_give_back(struct open_traces *traces, struct open_trace *trace)
{
    if (--trace->uses > 0)
        return;
    struct open_trace **at = &traces->first;
    while (*at != trace)
        at = &(*at)->next;
    *at = trace->next;
    tables_close(trace->tables);
    free(trace->path);
    free(trace);
}
