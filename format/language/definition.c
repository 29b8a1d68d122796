/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a definition: includes, scanning, parsing, resolving. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/core/grow.h"
#include "format/core/input_file.h"
#include "format/core/step_no_memory.h"
#include "format/core/utf8.h"
#include "format/language/dl_parse.tab.h"
#include "format/language/dl_tree.h"
#include "steptrace/definition.h"

static const char *dl_read_file(struct step_arena *arena, const char *path, enum input_kind kind,
                                size_t *length, struct step_error *error);

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

static bool definition_append(struct expander *expander, const char *text, size_t length)
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

static void definition_skip_blanks(struct reading *reading)
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

static bool definition_expand(struct expander *expander, struct reading *reading);

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
    bool good = definition_append(expander, "\n# from ", 8) &&
                definition_append(expander, wanted, strlen(wanted)) &&
                definition_append(expander, "\n", 1) && definition_expand(expander, &inner) &&
                definition_append(expander, "\n", 1);
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
    definition_skip_blanks(&ahead);
    if (ahead.at == ahead.length || ahead.text[ahead.at] != '"')
        return NULL;
    const char *literal = ahead.text + ahead.at;
    size_t length = word_length(literal, ahead.length - ahead.at);
    *place = ahead.place;
    step_over(&ahead, length);
    definition_skip_blanks(&ahead);
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
    bool good =
        definition_append(expander, reading->text + reading->taken, before - reading->taken);
    if (reading->brackets > 0)
        fault(expander, reading, place, "an include must be outside of packages and records");
    else
        good = good && include(expander, reading, wanted, place);
    reading->taken = reading->at;
    return good && definition_append(expander, "\n", 1) && begin_segment(expander, reading);
}

static bool definition_expand(struct expander *expander, struct reading *reading)
{
    reading->place = (struct dl_place){1, 1};
    reading->statement = true;
    if (!begin_segment(expander, reading))
        return false;
    for (;;) {
        definition_skip_blanks(reading);
        if (reading->at == reading->length)
            break;
        if (!take_word(expander, reading))
            return false;
    }
    return definition_append(expander, reading->text + reading->taken,
                             reading->length - reading->taken);
}

/* Fills parse->expansion.  Faulty includes are reported and left out.  Returns false if memory runs
 * out. */
static bool dl_expand(struct dl_parse *parse, const char *text, size_t length)
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
    bool good = definition_expand(expander, &whole);
    char *copy = good ? step_arena_text(parse->arena, expander->text, expander->length) : NULL;
    parse->out_of_memory = parse->out_of_memory || (good && copy == NULL);
    parse->expansion.text = copy;
    parse->expansion.length = expander->length;
    free(expander->text);
    free(expander);
    return copy != NULL;
}

/* Reads all of a file or pipe, at most one byte beyond the limit. */
static char *definition_read_all(FILE *file, size_t *length)
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

/* Reads `path` into the arena.  Returns NULL and fills `error` on failure. */
static const char *dl_read_file(struct step_arena *arena, const char *path, enum input_kind kind,
                                size_t *length, struct step_error *error)
{
    FILE *file = input_file_stream(path, kind);
    char *text = file != NULL ? definition_read_all(file, length) : NULL, *kept = NULL;
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

/* flex's header uses these names for bison's types */
#define YYSTYPE STEP_DL_STYPE
#define YYLTYPE STEP_DL_LTYPE
#include "format/language/dl_scan.h"

/* A parsed definition with the memory that it owns. */
struct owned_definition {
    struct step_definition definition; /* first member: users hold a pointer to it */
    struct step_arena arena;
    const char *name;
    struct dl_expansion expansion;
    const struct dl_record *tree;
};

void dl_definition_locate(const struct step_definition *definition, struct dl_place place,
                          struct step_fault *fault)
{
    const struct owned_definition *owned =
        (const struct owned_definition *) (const void *) definition;
    dl_locate_in(&owned->expansion, owned->name, place, fault);
}

static bool check_characters(struct dl_parse *parse, const char *text, size_t length)
{
    struct dl_place place = {1, 1};
    for (size_t i = 0; i < length;) {
        uint32_t code;
        size_t bytes = step_utf8_decode((const uint8_t *) text + i, length - i, &code);
        if (bytes == 0 || code == 0 || step_utf8_is_surrogate(code)) {
            dl_fault(parse, place, text[i] == '\0' ? "a NUL byte" : "this is not UTF-8");
            return false;
        }
        place.column += (uint32_t) bytes;
        if (text[i] == '\n')
            place = (struct dl_place){place.line + 1, 1};
        i += bytes;
    }
    return true;
}

static bool scan_and_parse(struct dl_parse *parse)
{
    const struct dl_expansion *whole = &parse->expansion;
    struct dl_scan scan = {.arena = parse->arena, .parse = parse};
    yyscan_t scanner = NULL;
    if (!check_characters(parse, whole->text, whole->length))
        return false;
    if (step_dl_lex_init_extra(&scan, &scanner) != 0) {
        parse->out_of_memory = true;
        return false;
    }
    volatile bool parsed = false; /* must survive longjmp() */
    if (setjmp(scan.fatal) == 0)
        parsed = step_dl__scan_bytes(whole->text, (int) whole->length, scanner) != NULL &&
                 step_dl_parse(parse, scanner) == 0;
    else
        parse->out_of_memory = true;
    step_dl_lex_destroy(scanner);
    return parsed && parse->fault_count == 0 && !parse->out_of_memory;
}

static enum step_status definition_fail(struct dl_parse *parse, struct owned_definition *owned)
{
    enum step_status status = STEP_STATUS_INVALID;
    if (parse->fault_count == 0)
        status = owned->arena.limited
                     ? step_error_set(parse->error, STEP_STATUS_LIMIT, parse->name, STEP_NO_OFFSET,
                                      "the definition takes more than %zu bytes of memory",
                                      DL_MEMORY_LIMIT)
                     : step_no_memory(parse->error, parse->name);
    step_definition_destroy(&owned->definition);
    return status;
}

static struct owned_definition *definition_create(const char *name, struct step_error *error)
{
    struct owned_definition *owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        step_no_memory(error, name);
    else
        step_arena_clear(&owned->arena, DL_MEMORY_LIMIT);
    return owned;
}

static enum step_status definition_read_text(struct owned_definition *owned, const char *text,
                                             size_t length,
                                             const struct step_definition_options *options,
                                             const char *name, struct step_definition **out,
                                             struct step_error *error)
{
    struct dl_parse parse = {
        .arena = &owned->arena, .options = options, .name = name, .package = "", .error = error};
    if (!dl_expand(&parse, text, length))
        return definition_fail(&parse, owned);
    owned->definition.text = parse.expansion.text;
    owned->definition.text_length = parse.expansion.length;
    if (!scan_and_parse(&parse) || !dl_resolve(&parse, &owned->definition))
        return definition_fail(&parse, owned);
    owned->tree = parse.first_record;
    owned->expansion = parse.expansion;
    owned->name = step_arena_text(&owned->arena, name, strlen(name));
    *out = &owned->definition;
    return STEP_STATUS_OK;
}

enum step_status step_definition_read(const char *text, size_t length,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error)
{
    const char *name = options->name != NULL ? options->name : "definition";
    *out = NULL;
    if (length > DL_TEXT_LIMIT)
        return step_error_set(error, STEP_STATUS_LIMIT, name, STEP_NO_OFFSET,
                              "the definition is longer than %zu bytes", DL_TEXT_LIMIT);
    struct owned_definition *owned = definition_create(name, error);
    return owned != NULL ? definition_read_text(owned, text, length, options, name, out, error)
                         : STEP_STATUS_NO_MEMORY;
}

enum step_status step_definition_load(const char *path,
                                      const struct step_definition_options *options,
                                      struct step_definition **out, struct step_error *error)
{
    struct step_definition_options with_includes = *options;
    struct step_error local;
    struct step_error *reported = error != NULL ? error : &local;
    size_t length = 0;
    *out = NULL;
    struct owned_definition *owned = definition_create(path, error);
    if (owned == NULL)
        return STEP_STATUS_NO_MEMORY;
    with_includes.includes = true;
    const char *text = dl_read_file(&owned->arena, path, INPUT_STREAM, &length, reported);
    if (text == NULL) {
        step_definition_destroy(&owned->definition);
        return reported->status;
    }
    return definition_read_text(owned, text, length, &with_includes, path, out, error);
}

/* Adapts a step_fault_report to a step_fault_visit. */
struct reporter {
    step_fault_report report;
    void *user;
};

static void report_place(void *user, const struct step_fault *fault)
{
    const struct reporter *reporter = user;
    reporter->report(reporter->user, fault->name, fault->line, fault->column, fault->message);
}

enum step_status step_definition_parse(const char *text, size_t length, const char *name,
                                       step_fault_report report, void *user,
                                       struct step_definition **out, struct step_error *error)
{
    struct reporter reporter = {report, user};
    const struct step_definition_options options = {
        .name = name, .report = report != NULL ? report_place : NULL, .user = &reporter};
    return step_definition_read(text, length, &options, out, error);
}

void step_definition_destroy(struct step_definition *definition)
{
    if (definition == NULL)
        return;
    struct owned_definition *owned = (struct owned_definition *) (void *) definition;
    step_arena_reset(&owned->arena);
    free(owned);
}

const struct dl_record *dl_definition_tree(const struct step_definition *definition)
{
    return ((const struct owned_definition *) (const void *) definition)->tree;
}
