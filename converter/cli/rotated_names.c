/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names of rotated files, and whether such a file is one. */
#include "converter/cli/rotated_names.h"

#include <string.h>

#include "steptrace/reader.h"

#define DIGITS_LEAST 6u
#define DIGITS_MOST 18u

bool rotated_ending_is(const char *name, size_t length)
{
    return length > ROTATED_ENDING_LENGTH &&
           strcmp(name + length - ROTATED_ENDING_LENGTH, ROTATED_ENDING) == 0;
}

/* Returns how much of NAME.NUMBER.2 is before the number that a file gets whose name was taken:
 * without one, all. */
static size_t without_second_number(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    bool has = at > 1 && at < length && length - at < DIGITS_LEAST && name[at - 1] == '.' &&
               name[at] != '0' && name[at - 2] >= '0' && name[at - 2] <= '9';
    return has ? at - 1 : length;
}

size_t rotated_file_name(const char *file, uint64_t *number)
{
    size_t length = strlen(file), digits = 0;
    uint64_t unit = 1;
    *number = 0;
    if (!rotated_ending_is(file, length))
        return 0;
    for (size_t at = without_second_number(file, length - ROTATED_ENDING_LENGTH);
         at > 0 && digits <= DIGITS_MOST; digits++) {
        char digit = file[--at];
        if (digit == '.')
            return digits >= DIGITS_LEAST && digits <= DIGITS_MOST ? at : 0;
        if (digit < '0' || digit > '9')
            return 0;
        *number += unit * (uint64_t) (digit - '0');
        unit *= 10;
    }
    return 0;
}

bool rotated_file_is(const char *file)
{
    uint64_t number;
    struct step_reader *reader = NULL;
    bool has = rotated_file_name(file, &number) > 0 &&
               step_reader_open(file, &reader, NULL) == STEP_STATUS_OK &&
               step_reader_property(reader, "file-set") != NULL;
    step_reader_destroy(reader);
    return has;
}

size_t rotated_names_share(const char *one, const char *other)
{
    uint64_t number;
    size_t length = rotated_file_name(one, &number);
    bool is_shared = length > 0 && length == rotated_file_name(other, &number) &&
                     strncmp(one, other, length) == 0;
    return is_shared && rotated_file_is(one) && rotated_file_is(other) ? length : 0;
}
