/* SPDX-License-Identifier: Apache-2.0 */
/* Parses source maps, which come from class files and are not trusted, and finds lines in them. */
#include "converter/trace/source_map.h"

#include <stdlib.h>

#include "format/core/grow.h"

struct source_file {
    uint32_t number;
    struct step_bytes name;
    struct step_bytes directory; /* of the path; empty: the map has no path */
};

/* `repeat` times `increment` lines of the class, from `output` on, for lines from `input` on. */
struct line_range {
    uint32_t file, input, repeat, output, increment;
};

/* Without order each range may be the one that is looked for. */
#define UNORDERED_MOST 4096u

struct source_map {
    struct source_file *files; /* by number */
    size_t file_count, file_capacity;
    struct line_range *ranges;
    size_t range_count, range_capacity;
    bool is_ordered; /* by output line, and no line is in two ranges */
};

/* ---- parsing ---- */

struct smap_text {
    const uint8_t *at, *end;
};

static bool next_line(struct smap_text *text, struct step_bytes *line)
{
    if (text->at == text->end)
        return false;
    const uint8_t *from = text->at;
    while (text->at < text->end && *text->at != '\n' && *text->at != '\r')
        text->at++;
    *line = (struct step_bytes){from, (size_t) (text->at - from)};
    if (text->at < text->end)
        text->at += *text->at == '\r' && text->end - text->at > 1 && text->at[1] == '\n' ? 2 : 1;
    return true;
}

static void source_map_skip_blanks(struct step_bytes *rest)
{
    while (rest->length > 0 && (rest->data[0] == ' ' || rest->data[0] == '\t')) {
        rest->data++;
        rest->length--;
    }
}

static bool line_is(struct step_bytes line, const char *text)
{
    return line.length == strlen(text) && memcmp(line.data, text, line.length) == 0;
}

static bool take_mark(struct step_bytes *rest, char mark)
{
    if (rest->length == 0 || rest->data[0] != (uint8_t) mark)
        return false;
    rest->data++;
    rest->length--;
    return true;
}

static bool source_map_take_number(struct step_bytes *rest, uint32_t *number)
{
    size_t digits = 0;
    for (*number = 0; digits < rest->length; digits++) {
        unsigned digit = (unsigned) rest->data[digits] - '0';
        if (digit > 9)
            break;
        if (__builtin_mul_overflow(*number, 10u, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    rest->data += digits;
    rest->length -= digits;
    return digits > 0;
}

/* "1 Words.kt", or "+ 1 Words.kt" with a path in the next line. */
static bool take_file(struct source_map *map, struct smap_text *text, struct step_bytes line)
{
    struct source_file file = {.number = 0};
    struct step_bytes path = {NULL, 0};
    bool has_path = take_mark(&line, '+');
    source_map_skip_blanks(&line);
    if (!source_map_take_number(&line, &file.number) || (has_path && !next_line(text, &path)))
        return false;
    source_map_skip_blanks(&line);
    file.name = line;
    while (path.length > 0 && path.data[path.length - 1] != '/')
        path.length--;
    file.directory = path;
    if (!STEP_MAKE_ROOM(map->files, map->file_capacity, map->file_count + 1))
        return false;
    map->files[map->file_count++] = file;
    return true;
}

/* "7#1,3:20,2": lines 7, 8, 9 of file 1 are lines 20-21, 22-23, 24-25 of the class.  `*file`: that
 * of the range before, which holds where none is named. */
static bool source_map_take_range(struct source_map *map, struct step_bytes line, uint32_t *file)
{
    struct line_range range = {.repeat = 1, .increment = 1};
    source_map_skip_blanks(&line);
    if (!source_map_take_number(&line, &range.input) ||
        (take_mark(&line, '#') && !source_map_take_number(&line, file)) ||
        (take_mark(&line, ',') && !source_map_take_number(&line, &range.repeat)) ||
        !take_mark(&line, ':') || !source_map_take_number(&line, &range.output) ||
        (take_mark(&line, ',') && !source_map_take_number(&line, &range.increment)))
        return false;
    range.file = *file;
    if (!STEP_MAKE_ROOM(map->ranges, map->range_capacity, map->range_count + 1))
        return false;
    map->ranges[map->range_count++] = range;
    return true;
}

/* The map begins with "SMAP", the generated file and the default stratum.  A section begins with a
 * line "*X"; those of other strata, of vendors and of embedded maps are passed over. */
static bool source_map_parse(struct source_map *map, struct smap_text text)
{
    struct step_bytes line, stratum;
    uint32_t file = 0, embedded = 0;
    uint8_t section = 0;
    bool is_wanted = false;
    if (!next_line(&text, &line) || !line_is(line, "SMAP") || !next_line(&text, &line) ||
        !next_line(&text, &stratum))
        return false;
    while (next_line(&text, &line)) {
        if (line.length > 1 && line.data[0] == '*') {
            section = line.data[1];
            embedded += section == 'O';
            embedded -= section == 'C' && embedded > 0;
            struct step_bytes name = {line.data + 2, line.length - 2};
            source_map_skip_blanks(&name);
            if (section == 'S' && embedded == 0)
                is_wanted = name.length == stratum.length &&
                            memcmp(name.data, stratum.data, name.length) == 0;
            if (section == 'E' && embedded == 0)
                break;
        } else if (is_wanted && embedded == 0 &&
                   ((section == 'F' && !take_file(map, &text, line)) ||
                    (section == 'L' && !source_map_take_range(map, line, &file)))) {
            return false;
        }
    }
    return map->range_count > 0;
}

static int compare_files(const void *left, const void *right)
{
    const struct source_file *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static uint64_t source_map_end_of(const struct line_range *range)
{
    uint64_t lines;
    return __builtin_mul_overflow((uint64_t) range->repeat, range->increment, &lines) ||
                   __builtin_add_overflow(lines, range->output, &lines)
               ? UINT64_MAX
               : lines;
}

static bool is_ordered(const struct source_map *map)
{
    for (size_t i = 1; i < map->range_count; i++)
        if (map->ranges[i].output < source_map_end_of(&map->ranges[i - 1]))
            return false;
    return true;
}

struct source_map *source_map_create(struct step_bytes text)
{
    struct source_map *map = calloc(1, sizeof *map);
    if (map == NULL)
        return NULL;
    bool is_good = source_map_parse(map, (struct smap_text){text.data, text.data + text.length});
    map->is_ordered = is_good && is_ordered(map);
    if (!is_good || (!map->is_ordered && map->range_count > UNORDERED_MOST)) {
        source_map_destroy(map);
        return NULL;
    }
    if (map->file_count > 1)
        qsort(map->files, map->file_count, sizeof *map->files, compare_files);
    return map;
}

void source_map_destroy(struct source_map *map)
{
    if (map == NULL)
        return;
    free(map->files);
    free(map->ranges);
    free(map);
}

/* ---- finding ---- */

static bool has_line(const struct line_range *range, uint64_t line)
{
    return line >= range->output && range->increment != 0 &&
           (line - range->output) / range->increment < range->repeat;
}

/* Returns the first range that has the line; NULL: none. */
static const struct line_range *range_of(const struct source_map *map, uint64_t line)
{
    size_t low = 0, high = map->range_count;
    if (!map->is_ordered) {
        while (low < high && !has_line(&map->ranges[low], line))
            low++;
        return low < high ? &map->ranges[low] : NULL;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->ranges[middle].output <= line)
            low = middle;
        else
            high = middle;
    }
    return has_line(&map->ranges[low], line) ? &map->ranges[low] : NULL;
}

void source_map_find(const struct source_map *map, struct frame_place *place)
{
    const struct line_range *range = map != NULL ? range_of(map, place->line) : NULL;
    if (range == NULL || map->file_count == 0)
        return;
    const struct source_file wanted = {.number = range->file};
    const struct source_file *file =
        bsearch(&wanted, map->files, map->file_count, sizeof wanted, compare_files);
    if (file == NULL)
        return;
    place->line = range->input + (place->line - range->output) / range->increment;
    place->file = file->name;
    place->directory = file->directory;
}
