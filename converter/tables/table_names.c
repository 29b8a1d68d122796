/* SPDX-License-Identifier: Apache-2.0 */
/* Texts once each. */
#include "converter/tables/table_names.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "format/core/grow.h"

/* A trace's dictionaries hold less (STEP_MAX_DICTIONARY_MEMORY); numbers beyond are a hostile
 * file's. */
#define NUMBERS_MOST (UINT64_C(1) << 25)

enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error)
{
    *names = (struct table_names){0};
    names->code_count = (size_t) (numbers < NUMBERS_MOST ? numbers : NUMBERS_MOST);
    names->codes = malloc((names->code_count + 1) * sizeof *names->codes);
    if (names->codes == NULL || !name_index_init(&names->index))
        return no_memory(error);
    memset(names->codes, 0xff, (names->code_count + 1) * sizeof *names->codes);
    return STEP_STATUS_OK;
}

void table_names_reset(struct table_names *names)
{
    for (size_t i = 0; i < names->owned_count; i++)
        free(names->owned[i]);
    free(names->owned);
    free(names->codes);
    free(names->texts);
    name_index_reset(&names->index);
    *names = (struct table_names){0};
}

uint32_t table_names_code(struct table_names *names, struct step_bytes text)
{
    bool is_new = false;
    if (names->dictionary.count == names->capacity) {
        struct step_bytes *texts =
            step_grown(names->texts, &names->capacity, names->capacity + 1, sizeof *texts);
        if (texts == NULL)
            return NO_NAME_CODE;
        names->texts = texts;
        names->dictionary.texts = texts;
    }
    uint32_t number = name_index_put(&names->index, 0, text, &is_new);
    if (number == 0)
        return NO_NAME_CODE;
    if (is_new)
        names->texts[names->dictionary.count++] = text;
    return number - 1;
}

bool table_names_codes(struct table_names *names, const char *const *texts, size_t count,
                       uint32_t *codes)
{
    for (size_t i = 0; i < count; i++)
        if ((codes[i] = table_names_code(names, step_text(texts[i]))) == NO_NAME_CODE)
            return false;
    return true;
}

static bool own(struct table_names *names, void *text)
{
    if (names->owned_count == names->owned_capacity) {
        void **owned = step_grown(names->owned, &names->owned_capacity, names->owned_capacity + 1,
                                  sizeof *owned);
        if (owned == NULL)
            return false;
        names->owned = owned;
    }
    names->owned[names->owned_count++] = text;
    return true;
}

uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second)
{
    size_t length = first.length + 1 + second.length;
    uint8_t *joined = malloc(length + 1);
    if (joined == NULL || !own(names, joined)) {
        free(joined);
        return NO_NAME_CODE;
    }
    if (first.length > 0)
        memcpy(joined, first.data, first.length);
    joined[first.length] = '.';
    if (second.length > 0)
        memcpy(joined + first.length + 1, second.data, second.length);
    return table_names_code(names, (struct step_bytes){joined, length});
}
