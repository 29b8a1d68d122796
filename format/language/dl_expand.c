/* SPDX-License-Identifier: Apache-2.0 */
/* Expands the includes of a definition: one text, with the place from which each part of it is. */
#include "format/language/dl_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"

enum { DEPTH_LIMIT = 64, FILE_LIMIT = 1000 };

/* A file seen so far; `open` while its includes are being read. */
struct met_file {
    dev_t device;
    ino_t number;
    bool open;
};

struct expander {
    struct dl_parse *parse;
    char *text;
    size_t length, capacity, segment_capacity, file_count;
    uint32_t line; /* at the end of `text` */
    struct met_file files[FILE_LIMIT];
};

/* State of reading one text. */
struct reading {
    const char *name, *text;
    size_t length, at, taken; /* bytes up to `taken` are copied */
    struct dl_place place;    /* of `at` */
    unsigned brackets;        /* number of open `{` */
    bool statement;           /* at the start of a statement */
    unsigned depth;
};

static bool dl_expand_append(struct expander *expander, const char *text, size_t length)
{
    if (length > DL_TEXT_LIMIT - expander->length ||
        !STEP_MAKE_ROOM(expander->text, expander->capacity, expander->length + length + 1)) {
        expander->parse->out_of_memory = true;
        return false;
    }
    memcpy(expander->text + expander->length, text, length);
    expander->length += length;
    for (size_t i = 0; i < length; i++)
        expander->line += text[i] == '\n';
    return true;
}

static bool begin_segment(struct expander *expander, const struct reading *reading)
{
    struct dl_expansion *out = &expander->parse->expansion;
    if (out->segment_count == expander->segment_capacity) {
        size_t capacity = 2 * expander->segment_capacity + 8;
        struct dl_segment *larger =
            step_arena_zeroed(expander->parse->arena, capacity * sizeof *larger);
        if (larger == NULL) {
            expander->parse->out_of_memory = true;
            return false;
        }
        if (out->segment_count != 0)
            memcpy(larger, out->segments, out->segment_count * sizeof *larger);
        out->segments = larger;
        expander->segment_capacity = capacity;
    }
    out->segments[out->segment_count++] = (struct dl_segment){
        expander->line, reading->name, reading->place.line, reading->place.column};
    return true;
}

static void step_over(struct reading *reading, size_t count)
{
    for (; count > 0 && reading->at < reading->length; count--) {
        reading->place.column++;
        if (reading->text[reading->at++] == '\n')
            reading->place = (struct dl_place){reading->place.line + 1, 1};
    }
}

/* Returns the length of the blank, comment, literal, name or character at `at`. */
static size_t word_length(const char *at, size_t left)
{
    static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t i = 1;
    if (at[0] == '#' || (left > 1 && at[0] == '/' && at[1] == '/')) {
        const char *end = memchr(at, '\n', left);
        return end != NULL ? (size_t) (end - at) : left;
    }
    if (left > 1 && at[0] == '/' && at[1] == '*') {
        for (i = 4; i <= left; i++)
            if (at[i - 2] == '*' && at[i - 1] == '/')
                return i;
        return left;
    }
    if (at[0] == '"') {
        while (i < left && at[i] != '"')
            i += at[i] == '\\' ? 2 : 1;
        return i + 1 < left ? i + 1 : left;
    }
    while (at[0] != '\0' && strchr(name, at[0]) != NULL && i < left && at[i] != '\0' &&
           strchr(name, at[i]) != NULL)
        i++;
    return i;
}

static bool is_blank(const char *at, size_t left)
{
    return strchr(" \t\r\n\f#", at[0]) != NULL ||
           (left > 1 && at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

static void dl_expand_skip_blanks(struct reading *reading)
{
    while (reading->at < reading->length && reading->text[reading->at] != '\0' &&
           is_blank(reading->text + reading->at, reading->length - reading->at))
        step_over(reading, word_length(reading->text + reading->at, reading->length - reading->at));
}

__attribute__((format(printf, 4, 5))) static void fault(struct expander *expander,
                                                        const struct reading *reading,
                                                        struct dl_place place, const char *format,
                                                        ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *line = reading->text;
    for (uint32_t i = 1; i < place.line; i++)
        line = (const char *) memchr(line, '\n', reading->length) + 1;
    size_t left = reading->length - (size_t) (line - reading->text);
    const char *end = memchr(line, '\n', left);
    dl_fault_in(expander->parse,
                &(struct step_fault){reading->name, place.line, place.column, message, line,
                                     end != NULL ? (size_t) (end - line) : left, place.column});
}

static bool exists(const char *path, struct stat *about)
{
    return stat(path, about) == 0 && S_ISREG(about->st_mode);
}

/* Returns the path of an included file, in the arena; NULL if it is not found. */
static const char *find_file(struct expander *expander, const struct reading *reading,
                             const char *wanted, struct stat *about)
{
    const struct step_definition_options *options = expander->parse->options;
    char path[4096];
    const char *slash = strrchr(reading->name, '/');
    int length = slash != NULL && wanted[0] != '/' ? (int) (slash - reading->name) + 1 : 0;
    int used = snprintf(path, sizeof path, "%.*s%s", length, reading->name, wanted);
    bool found = (size_t) used < sizeof path && exists(path, about);
    for (size_t i = 0; !found && wanted[0] != '/' && i < options->directory_count; i++) {
        used = snprintf(path, sizeof path, "%s/%s", options->directories[i], wanted);
        found = (size_t) used < sizeof path && exists(path, about);
    }
    return found ? step_arena_text(expander->parse->arena, path, (size_t) used) : NULL;
}

/* Returns the file if it was seen before.  Otherwise returns NULL and adds it, if there is room. */
static struct met_file *meet(struct expander *expander, const struct stat *about)
{
    for (size_t i = 0; i < expander->file_count; i++)
        if (expander->files[i].device == about->st_dev &&
            expander->files[i].number == about->st_ino)
            return &expander->files[i];
    if (expander->file_count < FILE_LIMIT)
        expander->files[expander->file_count++] =
            (struct met_file){about->st_dev, about->st_ino, true};
    return NULL;
}

static bool dl_expand_text(struct expander *expander, struct reading *reading);

static bool put_in(struct expander *expander, const struct reading *reading, const char *path,
                   const char *wanted, struct dl_place place)
{
    struct step_error error;
    struct reading inner = {.name = path, .depth = reading->depth + 1};
    size_t number = expander->file_count - 1;
    inner.text = dl_read_file(expander->parse->arena, path, INPUT_REGULAR, &inner.length, &error);
    if (inner.text == NULL) {
        fault(expander, reading, place, "\"%s\" cannot be read: %s", wanted, error.message);
        return true;
    }
    bool good = dl_expand_append(expander, "\n# from ", 8) &&
                dl_expand_append(expander, wanted, strlen(wanted)) &&
                dl_expand_append(expander, "\n", 1) && dl_expand_text(expander, &inner) &&
                dl_expand_append(expander, "\n", 1);
    expander->files[number].open = false;
    return good;
}

/* `place` is that of the literal. */
static bool include(struct expander *expander, const struct reading *reading, const char *wanted,
                    struct dl_place place)
{
    struct stat about;
    if (!expander->parse->options->includes) {
        fault(expander, reading, place, "this definition may not include others");
        return true;
    }
    const char *path = find_file(expander, reading, wanted, &about);
    const struct met_file *met = path != NULL ? meet(expander, &about) : NULL;
    if (path == NULL)
        fault(expander, reading, place, "there is no file \"%s\" to include", wanted);
    else if (met != NULL && met->open)
        fault(expander, reading, place, "\"%s\" includes itself", wanted);
    else if (met == NULL && (reading->depth == DEPTH_LIMIT || expander->file_count == FILE_LIMIT))
        fault(expander, reading, place, "files are included more than %d deep, or are too many",
              DEPTH_LIMIT);
    else if (met == NULL)
        return put_in(expander, reading, path, wanted, place);
    return true;
}

/* Parses a whole `include "file";` at the current position.  Returns the literal's bytes, in the
 * arena, and moves behind the `;`; else NULL. */
static const char *read_directive(struct expander *expander, struct reading *reading,
                                  struct dl_place *place)
{
    struct reading ahead = *reading;
    step_over(&ahead, sizeof "include" - 1);
    dl_expand_skip_blanks(&ahead);
    if (ahead.at == ahead.length || ahead.text[ahead.at] != '"')
        return NULL;
    const char *literal = ahead.text + ahead.at;
    size_t length = word_length(literal, ahead.length - ahead.at);
    *place = ahead.place;
    step_over(&ahead, length);
    dl_expand_skip_blanks(&ahead);
    if (ahead.at == ahead.length || ahead.text[ahead.at] != ';' || length < 3)
        return NULL;
    step_over(&ahead, 1);
    *reading = ahead;
    char *wanted = step_arena_text(expander->parse->arena, literal + 1, length - 2);
    for (char *at = wanted; at != NULL && *at != '\0'; at++)
        if ((unsigned char) *at < ' ' || *at == '\\')
            *at = '?';
    return wanted;
}

static bool take_word(struct expander *expander, struct reading *reading)
{
    const char *at = reading->text + reading->at;
    size_t length = word_length(at, reading->length - reading->at), before = reading->at;
    bool starts = reading->statement;
    struct dl_place place;
    reading->statement = *at == '{' || *at == '}' || *at == ';';
    reading->brackets += *at == '{';
    reading->brackets -= *at == '}' && reading->brackets > 0;
    const char *wanted = NULL;
    if (starts && length == 7 && memcmp(at, "include", 7) == 0)
        wanted = read_directive(expander, reading, &place);
    if (wanted == NULL) {
        step_over(reading, length);
        return true;
    }
    reading->statement = true;
    bool good = dl_expand_append(expander, reading->text + reading->taken, before - reading->taken);
    if (reading->brackets > 0)
        fault(expander, reading, place, "an include must be outside of packages and records");
    else
        good = good && include(expander, reading, wanted, place);
    reading->taken = reading->at;
    return good && dl_expand_append(expander, "\n", 1) && begin_segment(expander, reading);
}

static bool dl_expand_text(struct expander *expander, struct reading *reading)
{
    reading->place = (struct dl_place){1, 1};
    reading->statement = true;
    if (!begin_segment(expander, reading))
        return false;
    for (;;) {
        dl_expand_skip_blanks(reading);
        if (reading->at == reading->length)
            break;
        if (!take_word(expander, reading))
            return false;
    }
    return dl_expand_append(expander, reading->text + reading->taken,
                            reading->length - reading->taken);
}

bool dl_expand(struct dl_parse *parse, const char *text, size_t length)
{
    struct reading whole = {.name = parse->name, .text = text, .length = length};
    struct stat about;
    struct expander *expander = calloc(1, sizeof *expander);
    if (expander == NULL) {
        parse->out_of_memory = true;
        return false;
    }
    expander->parse = parse;
    expander->line = 1;
    if (parse->options->includes && exists(parse->name, &about))
        meet(expander, &about);
    bool good = dl_expand_text(expander, &whole);
    char *copy = good ? step_arena_text(parse->arena, expander->text, expander->length) : NULL;
    parse->out_of_memory = parse->out_of_memory || (good && copy == NULL);
    parse->expansion.text = copy;
    parse->expansion.length = expander->length;
    free(expander->text);
    free(expander);
    return copy != NULL;
}

/* Reads all of a file or pipe, at most one byte beyond the limit. */
static char *dl_expand_read_all(FILE *file, size_t *length)
{
    size_t capacity = (size_t) 64 << 10;
    char *text = NULL;
    *length = 0;
    for (;;) {
        char *larger = realloc(text, capacity);
        if (larger == NULL) {
            free(text);
            return NULL;
        }
        text = larger;
        *length += fread(text + *length, 1, capacity - *length, file);
        if (*length < capacity || *length > DL_TEXT_LIMIT)
            return text;
        capacity = 4 * capacity < DL_TEXT_LIMIT ? 4 * capacity : DL_TEXT_LIMIT + 1;
    }
}

const char *dl_read_file(struct step_arena *arena, const char *path, enum input_kind kind,
                         size_t *length, struct step_error *error)
{
    FILE *file = input_file_stream(path, kind);
    char *text = file != NULL ? dl_expand_read_all(file, length) : NULL, *kept = NULL;
    if (file == NULL || (text != NULL && ferror(file)))
        step_error_set(error, errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO, path,
                       STEP_NO_OFFSET, "%s", strerror(errno));
    else if (text != NULL && *length > DL_TEXT_LIMIT)
        step_error_set(error, STEP_STATUS_LIMIT, path, STEP_NO_OFFSET,
                       "the definition is longer than %zu bytes", DL_TEXT_LIMIT);
    else if (text == NULL || (kept = step_arena_text(arena, text, *length)) == NULL)
        step_no_memory(error, path);
    if (file != NULL)
        fclose(file);
    free(text);
    return kept;
}
