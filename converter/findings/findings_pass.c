/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what findings are made from. */
#include "converter/findings/findings.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/sites/advice.h"

bool findings_pass_init(struct findings_pass *pass, const struct event_source *source)
{
    const struct simulation_options options = SIMULATION_OPTIONS_DEFAULT;
    *pass = (struct findings_pass){.has_lives = true};
    site_lives_init(&pass->lives);
    pass->lives.path = source->path;
    pass->lives.within = ADVICE_WITHIN_DEFAULT;
    pass->lives.is_native = source->content == TRACE_OF_ALLOCATIONS;
    bool ok = leak_tracker_init(&pass->leaks, source, false, NULL);
    pass->simulation = malloc(sizeof *pass->simulation);
    if (pass->simulation == NULL)
        return false;
    ok = simulation_init(pass->simulation, &options) && ok;
    pass->simulation->path = source->path;
    pass->simulation->frees_are_exact = pass->lives.is_native;
    return ok;
}

static void end_simulation(struct findings_pass *pass)
{
    if (pass->simulation != NULL)
        simulation_reset(pass->simulation);
    free(pass->simulation);
    pass->simulation = NULL;
}

/* Sizes that cannot be added up end a part of the evidence, not the pass. */
static bool ends(enum step_status *status, struct step_error *error)
{
    if (*status != STEP_STATUS_CORRUPT)
        return false;
    *error = (struct step_error){.offset = STEP_NO_OFFSET};
    *status = STEP_STATUS_OK;
    return true;
}

enum step_status findings_pass_put(struct findings_pass *pass, const struct trace_event *events,
                                   size_t count, struct step_error *error)
{
    enum step_status status = leak_tracker_put(&pass->leaks, events, count, error);
    if (status == STEP_STATUS_OK && pass->has_lives) {
        status = site_lives_put(&pass->lives, events, count, error);
        pass->has_lives = !ends(&status, error);
    }
    if (status == STEP_STATUS_OK && pass->simulation != NULL) {
        status = simulation_put(pass->simulation, events, count, error);
        if (ends(&status, error))
            end_simulation(pass);
    }
    return status;
}

enum step_status findings_pass_finish(struct findings_pass *pass, struct step_error *error)
{
    if (pass->has_lives)
        site_lives_finish(&pass->lives);
    if (pass->simulation != NULL)
        simulation_finish(pass->simulation);
    return heap_tracker_finish(&pass->leaks.heap, error);
}

void findings_pass_reset(struct findings_pass *pass)
{
    end_simulation(pass);
    site_lives_reset(&pass->lives);
    leak_tracker_reset(&pass->leaks);
}
