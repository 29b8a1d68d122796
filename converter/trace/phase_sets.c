/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the sets of open phases. */
#include "converter/trace/phase_sets.h"

#include <stdlib.h>
#include <string.h>

void phase_sets_init(struct phase_sets *sets)
{
    *sets = (struct phase_sets){.version = 1};
    id_table_init(&sets->threads, sizeof(struct thread_phases));
}

void phase_sets_reset(struct phase_sets *sets)
{
    struct thread_phases *thread;
    for (uint32_t i = 0; (thread = id_table_next(&sets->threads, &i)) != NULL; i++)
        free(thread->open);
    thread = id_table_find(&sets->threads, UINT32_MAX); /* which is skipped */
    if (thread != NULL)
        free(thread->open);
    id_table_reset(&sets->threads);
    name_index_reset(&sets->nodes);
}

/* ---- begins and ends ---- */

static uint32_t open_names_find(const struct open_names *open, uint32_t number)
{
    uint32_t at = 0;
    while (at < open->count && open->numbers[at] != number)
        at++;
    return at;
}

static enum step_status open_names_add(struct open_names *open, uint32_t number)
{
    uint32_t at = open_names_find(open, number);
    if (at == PHASE_SET_MOST)
        return STEP_STATUS_CORRUPT;
    if (at == open->count) {
        open->numbers[at] = number;
        open->times[at] = 0;
        open->count++;
    }
    open->times[at]++;
    return STEP_STATUS_OK;
}

/* An end without its begin, which was lost, is ignored. */
static void open_names_remove(struct open_names *open, uint32_t number)
{
    uint32_t at = open_names_find(open, number);
    if (at == open->count || --open->times[at] > 0)
        return;
    open->count--;
    memmove(&open->numbers[at], &open->numbers[at + 1], (open->count - at) * sizeof(uint32_t));
    memmove(&open->times[at], &open->times[at + 1], (open->count - at) * sizeof(uint32_t));
}

/* Returns what is open in the thread or the program, whose sets are then to be found anew. */
static struct open_names *phase_sets_change(struct phase_sets *sets, uint32_t thread_id,
                                            bool of_program)
{
    if (of_program) {
        sets->version++;
        return &sets->program;
    }
    struct thread_phases *thread = id_table_get(&sets->threads, thread_id);
    if (thread == NULL)
        return NULL;
    if (thread->open == NULL)
        thread->open = calloc(1, sizeof *thread->open);
    thread->version = 0;
    return thread->open;
}

enum step_status phase_sets_put(struct phase_sets *sets, uint32_t thread_id, uint32_t number,
                                bool of_program, bool begins)
{
    struct open_names *open = phase_sets_change(sets, thread_id, of_program);
    if (open == NULL)
        return STEP_STATUS_NO_MEMORY;
    if (begins)
        return open_names_add(open, number);
    open_names_remove(open, number);
    return STEP_STATUS_OK;
}

/* ---- sets ---- */

static bool phase_sets_extend(struct phase_sets *sets, uint32_t *set, uint32_t number)
{
    bool is_new;
    *set = name_index_put(&sets->nodes, *set,
                          (struct step_bytes){(const uint8_t *) &number, sizeof number}, &is_new);
    return *set != 0;
}

bool phase_sets_now(struct phase_sets *sets, uint32_t thread_id, uint32_t *set)
{
    struct thread_phases *thread = id_table_get(&sets->threads, thread_id);
    const struct open_names *program = &sets->program;
    *set = 0;
    if (thread == NULL)
        return false;
    if (thread->version == sets->version) {
        *set = thread->set;
        return true;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < program->count; i++)
        ok = phase_sets_extend(sets, set, program->numbers[i]);
    for (uint32_t i = 0; ok && thread->open != NULL && i < thread->open->count; i++)
        if (open_names_find(program, thread->open->numbers[i]) == program->count)
            ok = phase_sets_extend(sets, set, thread->open->numbers[i]);
    thread->set = *set;
    thread->version = sets->version;
    return ok;
}

uint32_t phase_sets_take(const struct phase_sets *sets, uint32_t *set)
{
    const struct name_index_entry *node = &sets->nodes.entries[*set];
    uint32_t number;
    memcpy(&number, node->text.data, sizeof number);
    *set = (uint32_t) node->number;
    return number;
}
