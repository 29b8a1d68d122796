/* SPDX-License-Identifier: Apache-2.0 */
/* A table of names that are taken, and names made longer until they are not. */
#include "compilers/stepc/c_unique.h"

#include <stdlib.h>
#include <string.h>

#include "compilers/c_names.h"

void c_unique_prefix(struct c_output *output)
{
    const struct step_definition *definition = output->definition;
    const char *first = definition->record_count > 0 ? definition->records[0].name : "";
    size_t length = strcspn(first, ".");
    bool shared = first[length] == '.' && length < COMPILER_BASE_SIZE - COMPILER_PREFIX_LIMIT - 2;
    for (size_t i = 0; i < definition->record_count; i++)
        shared = shared && strncmp(definition->records[i].name, first, length + 1) == 0;
    if (shared)
        snprintf(output->prefix, sizeof output->prefix, "%s%.*s", output->names_begin, (int) length,
                 first);
    else
        memcpy(output->prefix, output->base, sizeof output->prefix);
    if (output->names_begin[0] == '\0' &&
        (strcmp(output->prefix, "step") == 0 || strncmp(output->prefix, "step_", 5) == 0))
        strcat(output->prefix, "_");
}

/* Names that are taken, as a table of hashes; `slots` is a power of two. */
struct taken {
    char **names;
    size_t slots;
};

static size_t place_of(const struct taken *taken, const char *name)
{
    size_t hash = 5381;
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 33 + (unsigned char) *at;
    size_t i = hash & (taken->slots - 1);
    while (taken->names[i] != NULL && strcmp(taken->names[i], name) != 0)
        i = (i + 1) & (taken->slots - 1);
    return i;
}

static bool is_free(const struct taken *taken, const char *name)
{
    return taken->names[place_of(taken, name)] == NULL && !c_names_is_reserved(name) &&
           !c_names_is_type(name);
}

static bool take(struct taken *taken, const char *name)
{
    size_t i = place_of(taken, name);
    if (taken->names[i] == NULL)
        taken->names[i] = strdup(name);
    return taken->names[i] != NULL;
}

enum { NAMES_OF_RECORD = 20, LONGER_NAME = C_NAME_SIZE + 32 };

/* What is declared for a record: its struct, its number, functions and types. */
static size_t list_names(const char *name, char names[NAMES_OF_RECORD][LONGER_NAME])
{
    static const char *const endings[] = {"",         "_put",         "_get",         "_define",
                                          "_look_up", "_get_element", "_get_variant", "_put_slots"};
    size_t count = 0;
    for (; count < sizeof endings / sizeof endings[0]; count++)
        snprintf(names[count], LONGER_NAME, "%s%s", name, endings[count]);
    c_names_upper(name, names[count], LONGER_NAME);
    snprintf(names[count + 1], LONGER_NAME, "%.*s_SLOT_COUNT", C_NAME_SIZE, names[count]);
    return count + 2;
}

static bool all_free(const struct taken *taken, const char *name)
{
    char names[NAMES_OF_RECORD][LONGER_NAME];
    size_t count = list_names(name, names);
    for (size_t i = 0; i < count; i++)
        if (!is_free(taken, names[i]))
            return false;
    return true;
}

static bool take_all(struct taken *taken, const char *name)
{
    char names[NAMES_OF_RECORD][LONGER_NAME];
    size_t count = list_names(name, names);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = take(taken, names[i]);
    return good;
}

/* What the header declares for the definition as a whole. */
static bool take_whole(struct taken *taken, const struct c_output *output)
{
    static const char *const endings[] = {"_definition", "_binding", "_bind",   "_unbind",
                                          "_record",     "_create",  "_reader", "_open",
                                          "_next",       "_close",   "_ask"};
    char name[LONGER_NAME], upper[LONGER_NAME];
    bool good = true;
    for (size_t i = 0; good && i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", output->base, endings[i]);
        good = take(taken, name);
    }
    snprintf(name, sizeof name, "%s_record", output->prefix);
    good = good && take(taken, name);
    snprintf(name, sizeof name, "%s_record_count", output->prefix);
    c_names_upper(name, upper, sizeof upper);
    return good && take(taken, upper);
}

/* The record's name behind what all begin with: without that, behind n_ if it began like the
 * library's. */
static void begin_name(const struct c_output *output, const struct step_record *record,
                       char name[C_NAME_SIZE])
{
    size_t before = output->names_begin[0] != '\0' ? strlen(output->names_begin) : 2;
    memcpy(name, output->names_begin[0] != '\0' ? output->names_begin : "n_", before);
    c_names_of_record(record->name, name + before, C_NAME_SIZE - before);
    if (output->names_begin[0] == '\0' && strncmp(name + 2, "step_", 5) != 0)
        memmove(name, name + 2, strlen(name + 2) + 1);
}

static bool name_records(struct c_output *output, struct taken *taken)
{
    bool good = take_whole(taken, output);
    for (size_t i = 0; good && i < output->definition->record_count; i++) {
        char name[C_NAME_SIZE];
        begin_name(output, &output->definition->records[i], name);
        while (!all_free(taken, name) && strlen(name) + 2 < sizeof name)
            strcat(name, "_");
        good = take_all(taken, name);
        output->names[i] = good ? strdup(name) : NULL;
        good = output->names[i] != NULL;
    }
    return good;
}

static bool names_are_short(const struct c_output *output, const char *file_name)
{
    for (size_t i = 0; i < output->definition->record_count; i++) {
        const struct step_record *record = &output->definition->records[i];
        bool good = strlen(record->name) * 2 + strlen(output->names_begin) + 8 < C_NAME_SIZE;
        for (size_t k = 0; good && k < record->field_count; k++)
            good = strlen(record->fields[k].name) + 8 < C_NAME_SIZE / 2;
        if (!good) {
            fprintf(stderr, "%s: a name in record %.100s... is too long for C\n", file_name,
                    record->name);
            return false;
        }
    }
    return true;
}

bool c_unique_names(struct c_output *output, const char *file_name)
{
    struct taken taken = {.slots = 64};
    if (output->names_begin[0] == '\0' && strncmp(output->base, "step_", 5) == 0) {
        fprintf(stderr, "%s: the C name %s is the library's: they begin with step_\n", file_name,
                output->base);
        return false;
    }
    if (!names_are_short(output, file_name))
        return false;
    while (taken.slots < 32 * (output->definition->record_count + 1))
        taken.slots *= 2;
    taken.names = calloc(taken.slots, sizeof *taken.names);
    output->names = calloc(output->definition->record_count + 1, sizeof *output->names);
    bool good = taken.names != NULL && output->names != NULL && name_records(output, &taken);
    if (!good)
        fprintf(stderr, "%s: out of memory\n", file_name);
    for (size_t i = 0; taken.names != NULL && i < taken.slots; i++)
        free(taken.names[i]);
    free(taken.names);
    return good;
}
