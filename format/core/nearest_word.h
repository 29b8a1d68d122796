/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": finds the word of a list that is nearest to the typed one. */
#ifndef FORMAT_CORE_NEAREST_WORD_H
#define FORMAT_CORE_NEAREST_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { NEAREST_WORD_LONGEST = 255, NEAREST_WORD_CHANGES = 2 };

/* Returns the number of letters to change, add or remove; SIZE_MAX for very long words. */
static inline size_t nearest_word_distance(const char *a, size_t length, const char *b,
                                           bool any_case)
{
    size_t row[NEAREST_WORD_LONGEST + 1];
    size_t columns = strlen(b);
    if (columns > NEAREST_WORD_LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            bool same = any_case ? strncasecmp(&a[i - 1], &b[j - 1], 1) == 0 : a[i - 1] == b[j - 1];
            size_t best = diagonal + !same;
            diagonal = row[j];
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = row[j] + 1 < best ? row[j] + 1 : best;
        }
    }
    return row[columns];
}

/* Returns true and updates `*least` if `word` is nearer than `*least`; start with
 * NEAREST_WORD_CHANGES + 1. */
static inline int nearest_word_improves(const char *typed, const char *word, size_t *least)
{
    size_t away = nearest_word_distance(typed, strlen(typed), word, false);
    if (away >= *least || away >= strlen(word))
        return 0;
    *least = away;
    return 1;
}

/* Word number `i` of a list; NULL: not to be suggested. */
typedef const char *(*nearest_word_at)(const void *list, size_t i);

/* Returns the word of the list that is most similar to `typed`, or NULL if none is similar enough.
 */
static inline const char *nearest_word_of(const char *typed, nearest_word_at at, const void *list,
                                          size_t count)
{
    const char *nearest = NULL;
    size_t least = NEAREST_WORD_CHANGES + 1;
    for (size_t i = 0; i < count; i++) {
        const char *word = at(list, i);
        if (word != NULL && nearest_word_improves(typed, word, &least))
            nearest = word;
    }
    return nearest;
}

#endif
