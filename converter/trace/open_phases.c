/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the open phases of each thread, and of the program. */
#include "converter/trace/open_phases.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void open_phases_init(struct open_phases *phases, const struct selected_globs *globs)
{
    *phases = (struct open_phases){.globs = globs};
    for (unsigned i = 0; i < globs->count; i++)
        phases->asks = phases->asks || globs->items[i][0] != '!';
    id_table_init(&phases->names, sizeof(struct phase_counts));
    id_table_init(&phases->threads, sizeof(struct phase_counts));
}

void open_phases_reset(struct open_phases *phases)
{
    id_table_reset(&phases->names);
    id_table_reset(&phases->threads);
}

/* ---- names ---- */

static bool name_matches(const void *user, const char *glob)
{
    return fnmatch(glob, user, FNM_NOESCAPE) == 0;
}

uint32_t phase_name_mask(const struct selected_globs *globs, struct step_bytes name)
{
    char *text = malloc(name.length + 1);
    if (text == NULL)
        return 0;
    if (name.length > 0)
        memcpy(text, name.data, name.length);
    text[name.length] = '\0';
    uint32_t mask = selected_globs_mask(globs, name_matches, text);
    free(text);
    return mask;
}

bool open_phases_name(struct open_phases *phases, uint32_t number, struct step_bytes name)
{
    struct phase_counts *counts = id_table_get(&phases->names, number);
    if (counts == NULL)
        return false;
    uint32_t mask = phase_name_mask(phases->globs, name);
    for (unsigned i = 0; i < phases->globs->count; i++) {
        bool is_not = phases->globs->items[i][0] == '!';
        counts->wanted |= (mask >> i & 1) != 0 && !is_not;
        counts->unwanted |= (mask >> i & 1) != 0 && is_not;
    }
    return true;
}

/* ---- begins and ends ---- */

/* An end without its begin, which was lost, is ignored. */
static void open_phases_add(struct phase_counts *open, const struct phase_counts *one, bool begins)
{
    if (begins) {
        open->wanted += one->wanted;
        open->unwanted += one->unwanted;
    } else {
        open->wanted -= open->wanted > 0 ? one->wanted : 0;
        open->unwanted -= open->unwanted > 0 ? one->unwanted : 0;
    }
}

bool open_phases_put(struct open_phases *phases, uint32_t thread_id, uint32_t number,
                     bool of_program, bool begins)
{
    const struct phase_counts *one = id_table_find(&phases->names, number);
    if (one == NULL || (one->wanted == 0 && one->unwanted == 0))
        return true;
    struct phase_counts *open =
        of_program ? &phases->program : id_table_get(&phases->threads, thread_id);
    if (open == NULL)
        return false;
    open_phases_add(open, one, begins);
    return true;
}

bool open_phases_accept(const struct open_phases *phases, uint32_t thread_id)
{
    static const struct phase_counts none;
    const struct phase_counts *thread = id_table_find(&phases->threads, thread_id);
    if (thread == NULL)
        thread = &none;
    return (!phases->asks || phases->program.wanted + thread->wanted > 0) &&
           phases->program.unwanted + thread->unwanted == 0;
}
