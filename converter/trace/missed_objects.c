/* SPDX-License-Identifier: Apache-2.0 */
/* Looks in the property `options` for the methods whose calls are phases. */
#include "converter/trace/missed_objects.h"

#include <stdlib.h>
#include <string.h>

#include "converter/trace/open_phases.h"

#define MISSED_PATTERN_MOST 1024u

/* An item of phase=, as "threads:com.acme.Batch.run". */
static bool missed_item_names(const char *item, size_t length, struct step_bytes phase)
{
    static const char threads[] = "threads:";
    char glob[MISSED_PATTERN_MOST];
    if (length >= sizeof threads && strncmp(item, threads, sizeof threads - 1) == 0) {
        item += sizeof threads - 1;
        length -= sizeof threads - 1;
    }
    if (length == 0 || length >= sizeof glob)
        return false;
    memcpy(glob, item, length);
    glob[length] = '\0';
    return trace_glob_matches(glob, phase);
}

/* `phase` is the name with slashes, as patterns match it. */
static bool missed_options_name(const char *options, struct step_bytes phase)
{
    static const char key[] = "phase=";
    for (const char *at = options; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        bool is_asked = strncmp(at, key, sizeof key - 1) == 0;
        for (const char *item = at + sizeof key - 1, *end = at + length; is_asked && item < end;) {
            size_t item_length = strcspn(item, "+,");
            if (missed_item_names(item, item_length, phase))
                return true;
            item += item_length + 1;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

static bool is_phase_of_method(const char *options, struct step_bytes phase)
{
    char *text = malloc(phase.length + 1);
    if (text == NULL)
        return false;
    for (size_t i = 0; i < phase.length; i++)
        text[i] = phase.data[i] == '.' ? '/' : (char) phase.data[i];
    bool is_named =
        missed_options_name(options, (struct step_bytes){(const uint8_t *) text, phase.length});
    free(text);
    return is_named;
}

static bool is_any_phase_asked_for(const struct selected_globs *phases)
{
    bool is_asked = false;
    for (unsigned i = 0; phases != NULL && i < phases->count; i++)
        is_asked = is_asked || phases->items[i][0] != '!';
    return phases == NULL || is_asked;
}

const char *missed_objects_of(const struct event_source *source,
                              const struct selected_globs *phases)
{
    static const char lack[] =
        "objects of method calls from before the trace may be missing (the option missed=no)";
    const char *missed = event_source_property(source, "missed").unshown;
    const char *options = event_source_property(source, "options").unshown;
    if (missed == NULL || strcmp(missed, "no") != 0)
        return NULL;
    bool lacks = !is_any_phase_asked_for(phases);
    for (uint32_t id = 0; !lacks && id_table_next(&source->names.phases, &id); id++) {
        const struct trace_phase_name *phase = id_table_find(&source->names.phases, id);
        bool is_chosen = phases == NULL || phases->count == 0 ||
                         selected_globs_accept(phases, phase_name_mask(phases, phase->name));
        lacks = phase->known && is_chosen && !is_phase_of_method(options, phase->name);
    }
    return lacks ? lack : NULL;
}
