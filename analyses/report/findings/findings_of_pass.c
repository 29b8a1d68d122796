/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `steptrace stats`: collected in its pass, made from its trace. */
#include <stdlib.h>

#include "analyses/report/findings/findings.h"
#include "converter/containers/no_memory.h"
#include "converter/statistics/findings_maker.h"

struct findings_of_pass {
    const struct event_source *source; /* borrowed */
    struct findings_pass pass;
    struct findings findings;
};

static void findings_close(void *maker)
{
    struct findings_of_pass *made = maker;
    if (made != NULL)
        findings_pass_reset(&made->pass);
    free(made);
}

static void *findings_open(const struct event_source *source)
{
    struct findings_of_pass *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->source = source;
    if (findings_pass_init(&made->pass, source))
        return made;
    findings_close(made);
    return NULL;
}

static enum step_status findings_put(void *maker, const struct trace_event *events, size_t count,
                                     struct step_error *error)
{
    struct findings_of_pass *made = maker;
    return findings_pass_put(&made->pass, events, count, error);
}

static enum step_status findings_finish(void *maker, const char *path, uint64_t not_probed,
                                        struct step_error *error)
{
    struct findings_of_pass *made = maker;
    enum step_status status = findings_pass_finish(&made->pass, error);
    const struct findings_evidence evidence = {
        .source = made->source,
        .pass = &made->pass,
        .path = made->source->content == TRACE_OF_GRAPHS ? path : NULL,
        .not_probed = not_probed};
    if (status == STEP_STATUS_OK && !findings_make(&evidence, &made->findings))
        status = no_memory(error);
    return status;
}

static void print(const void *maker, const char *path)
{
    const struct findings_of_pass *made = maker;
    findings_print(&made->findings, path);
}

static void put_json(const void *maker, struct json_output *json)
{
    const struct findings_of_pass *made = maker;
    findings_put_json(&made->findings, json);
}

const struct findings_maker findings_of_pass = {.open = findings_open,
                                                .put = findings_put,
                                                .finish = findings_finish,
                                                .print = print,
                                                .put_json = put_json,
                                                .close = findings_close};
