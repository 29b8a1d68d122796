/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the log of -XX:+LogCompilation line by line: the tasks of C2, and what each of them parsed
 * and removed.  Numbers of classes and methods in it are those of their task. */
#include "analyses/sites/jit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/input_file.h"
#include "format/core/step_no_memory.h"

#define LINE_BYTES ((size_t) 65536) /* longer lines are skipped and counted */
#define TEXT_BYTES ((size_t) 16384) /* of a method with its descriptor */
#define NAME_BYTES ((size_t) 4096)

#define LETTERS "ZBCSIJFVD" /* of primitive types in descriptors */

enum text_kind { TEXT_CLASS, TEXT_METHOD, TEXT_TYPE };

/* A place is a number only. */
#define NOTHING ((struct step_bytes){0})

struct jit_name {
    uint32_t task, text;
};

/* Sets `out` to the value of an attribute.  Quotes within values are escaped, so that a name
 * cannot look like another attribute.  Returns false if it is missing or too long. */
static bool attribute(const char *line, const char *name, char *out, size_t out_bytes)
{
    static const struct {
        const char *text;
        char character;
    } escapes[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&apos;", '\''}, {"&quot;", '"'}};
    char key[32];
    int length = snprintf(key, sizeof key, " %s='", name);
    const char *at = strstr(line, key);
    size_t used = 0;
    if (at == NULL)
        return false;
    for (at += length; *at != '\'' && *at != '\0' && used + 1 < out_bytes; used++) {
        size_t step = 1;
        out[used] = *at;
        for (size_t i = 0; *at == '&' && i < sizeof escapes / sizeof escapes[0]; i++)
            if (strncmp(at, escapes[i].text, strlen(escapes[i].text)) == 0) {
                out[used] = escapes[i].character;
                step = strlen(escapes[i].text);
                break;
            }
        at += step;
    }
    out[used] = '\0';
    return *at == '\'';
}

static bool jit_log_number_of(const char *line, const char *name, uint64_t most, uint64_t *out)
{
    char text[24], *end;
    if (!attribute(line, name, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *out <= most;
}

static bool id_of(const char *line, const char *name, uint32_t *out)
{
    uint64_t number;
    bool is = jit_log_number_of(line, name, UINT32_MAX - 1, &number);
    *out = is ? (uint32_t) number : 0;
    return is;
}

static bool is_element(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line + 1, name, length) == 0 && strchr(" />\n", line[1 + length]) != NULL;
}

/* Returns the number of a text, 0 if out of memory. */
static uint32_t text_number(struct jit_log *log, enum text_kind kind, const char *text)
{
    bool is_new;
    struct step_bytes bytes = {(const uint8_t *) text, strlen(text)};
    uint32_t number = name_index_put(&log->texts, kind, bytes, &is_new);
    bool has_room = STEP_MAKE_ZEROED_ROOM(log->methods, log->method_capacity, (size_t) number + 1);
    return has_room ? number : 0;
}

/* Gives an id of the task its text.  Returns false if out of memory. */
static bool jit_log_define(struct jit_log *log, const char *line, enum text_kind kind,
                           const char *text)
{
    uint32_t id;
    if (!id_of(line, "id", &id))
        return true;
    struct jit_name *name = id_table_get(&log->ids, id);
    uint32_t number = text_number(log, kind, text);
    if (name != NULL)
        *name = (struct jit_name){log->task, number};
    return name != NULL && number != 0;
}

/* Returns the number of the text of an attribute that is an id; 0: unknown. */
static uint32_t named_number(const struct jit_log *log, const char *line, const char *name)
{
    uint32_t id;
    const struct jit_name *found = id_of(line, name, &id) ? id_table_find(&log->ids, id) : NULL;
    return found != NULL && found->task == log->task ? found->text : 0;
}

static void with_slashes(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '.')
            *text = '/';
}

static bool jit_log_put_class(struct jit_log *log, const char *line)
{
    char name[NAME_BYTES];
    if (!attribute(line, "name", name, sizeof name))
        return true;
    with_slashes(name);
    return jit_log_define(log, line, TEXT_CLASS, name);
}

/* Primitive types, as descriptors have them. */
static bool jit_log_put_type(struct jit_log *log, const char *line)
{
    static const char *const words[] = {"boolean", "byte",  "char", "short", "int",
                                        "long",    "float", "void", "double"};
    char name[NAME_BYTES];
    if (!attribute(line, "name", name, sizeof name))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i]) == 0)
            return jit_log_define(log, line, TEXT_TYPE, (const char[2]){LETTERS[i]});
    return true;
}

/* Appends the descriptor of the class or type with an id; false if it is unknown or too long. */
static bool append_type(const struct jit_log *log, const char *id_text, char *out, size_t *used)
{
    char *end;
    unsigned long id = strtoul(id_text, &end, 10);
    const struct jit_name *name =
        end != id_text && id < UINT32_MAX ? id_table_find(&log->ids, (uint32_t) id) : NULL;
    if (name == NULL || name->task != log->task || name->text == 0)
        return false;
    const struct name_index_entry *entry = &log->texts.entries[name->text];
    const char *start = (const char *) entry->text.data;
    bool is_plain = start[0] == '[' || entry->number == TEXT_TYPE;
    int length = snprintf(out + *used, TEXT_BYTES - *used, is_plain ? "%s" : "L%s;", start);
    *used += (size_t) length;
    return *used < TEXT_BYTES;
}

static bool jit_log_write_method(const struct jit_log *log, const char *line, const char *holder,
                                 const char *name, char text[TEXT_BYTES])
{
    char ids[NAME_BYTES], result[24];
    size_t used = (size_t) snprintf(text, TEXT_BYTES, "%s %s (", holder, name);
    if (!attribute(line, "arguments", ids, sizeof ids))
        ids[0] = '\0';
    for (char *at = ids, *rest; used < TEXT_BYTES && (at = strtok_r(at, " ", &rest)) != NULL;
         at = NULL)
        if (!append_type(log, at, text, &used))
            return false;
    if (used + 1 >= TEXT_BYTES || !attribute(line, "return", result, sizeof result))
        return false;
    text[used++] = ')';
    return append_type(log, result, text, &used);
}

static void raise_to(uint64_t *least, const char *line, const char *name)
{
    uint64_t value;
    if (jit_log_number_of(line, name, UINT64_MAX, &value) && value > *least)
        *least = value;
}

static bool jit_log_put_method(struct jit_log *log, const char *line)
{
    char name[NAME_BYTES], text[TEXT_BYTES];
    uint32_t holder = named_number(log, line, "holder");
    if (holder == 0 || !attribute(line, "name", name, sizeof name) ||
        !jit_log_write_method(log, line, (const char *) log->texts.entries[holder].text.data, name,
                              text))
        return true;
    if (!jit_log_define(log, line, TEXT_METHOD, text))
        return false;
    uint32_t id = 0;
    id_of(line, "id", &id);
    const struct jit_name *defined = id_table_find(&log->ids, id);
    if (defined != NULL && defined->task == log->task)
        raise_to(&log->methods[defined->text].calls, line, "iicount");
    return true;
}

/* The counters of the compiled method itself.  A task names it by its text. */
static bool jit_log_put_root(struct jit_log *log, const char *line)
{
    char text[TEXT_BYTES];
    if (!attribute(line, "method", text, sizeof text))
        return true;
    char *end = strchr(text, ' ');
    if (end == NULL)
        return true;
    *end = '\0';
    with_slashes(text);
    *end = ' ';
    log->removal.root = text_number(log, TEXT_METHOD, text);
    if (log->removal.root == 0)
        return false;
    raise_to(&log->methods[log->removal.root].calls, line, "iicount");
    raise_to(&log->methods[log->removal.root].loops, line, "backedge_count");
    return true;
}

static bool begin_task(struct jit_log *log, const char *line)
{
    uint64_t level = 4;
    if (jit_log_number_of(line, "level", UINT64_MAX, &level) && level != 4)
        return true;
    log->task++;
    log->in_task = true;
    log->in_removal = 0;
    log->removal.root = 0;
    log->parse_count = log->removal_count = 0;
    id_of(line, "compile_id", &log->compile_id);
    return jit_log_put_root(log, line);
}

static bool put_parse(struct jit_log *log, const char *line)
{
    uint32_t method = named_number(log, line, "method");
    if (method == 0)
        return true;
    if (!STEP_MAKE_ROOM(log->parses, log->parse_capacity, log->parse_count + 1))
        return false;
    log->parses[log->parse_count++] = (struct jit_parse){method, 1};
    return true;
}

static uint32_t place_number(struct jit_log *log, uint32_t class, uint32_t method,
                             uint32_t bytecode)
{
    bool is_new = false;
    uint32_t number =
        name_index_put(&log->places_index, (uint64_t) method << 32 | bytecode, NOTHING, &is_new);
    if (number == 0 || !is_new)
        return number;
    if (!STEP_MAKE_ROOM(log->places, log->place_capacity, (size_t) number + 1))
        return 0;
    log->places[number] = (struct jit_place){.method = method, .class = class};
    log->place_count = number;
    return number;
}

/* A frame of a removed allocation, innermost first. */
static bool jit_log_put_frame(struct jit_log *log, const char *line)
{
    uint32_t method = named_number(log, line, "method"), bytecode;
    if (!id_of(line, "bci", &bytecode) || method == 0)
        return true;
    if (log->in_removal++ == 1) {
        log->removal.place = place_number(log, log->class, method, bytecode);
        log->removal.chain = 0;
        if (log->removal.place == 0)
            return false;
        log->places[log->removal.place].by_call |= log->by_call;
    }
    log->removal.chain = step_hash_join(log->removal.chain, (uint64_t) method << 32 | bytecode);
    return true;
}

static bool end_removal(struct jit_log *log)
{
    bool is_one = log->in_removal > 1;
    log->in_removal = 0;
    if (!is_one)
        return true;
    if (!STEP_MAKE_ROOM(log->removals, log->removal_capacity, log->removal_count + 1))
        return false;
    log->removals[log->removal_count++] = log->removal;
    return true;
}

static int by_method(const void *left, const void *right)
{
    const struct jit_parse *a = left, *b = right;
    return a->method < b->method ? -1 : a->method > b->method;
}

static int jit_log_by_place(const void *left, const void *right)
{
    const struct jit_removal *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->chain < b->chain ? -1 : a->chain > b->chain;
}

/* Joins equal methods, and counts the compilation for each. */
static void count_parses(struct jit_log *log)
{
    size_t used = 0;
    if (log->parse_count > 0)
        qsort(log->parses, log->parse_count, sizeof *log->parses, by_method);
    for (size_t i = 0; i < log->parse_count; i++)
        if (used > 0 && log->parses[used - 1].method == log->parses[i].method)
            log->parses[used - 1].count++;
        else
            log->parses[used++] = log->parses[i];
    log->parse_count = used;
    for (size_t i = 0; i < used; i++)
        log->methods[log->parses[i].method].compiled++;
}

static uint32_t parses_of(const struct jit_log *log, uint32_t method)
{
    const struct jit_parse key = {.method = method};
    const struct jit_parse *found =
        log->parse_count == 0 ? NULL
                              : bsearch(&key, log->parses, log->parse_count, sizeof key, by_method);
    return found != NULL ? found->count : 0;
}

static void add_root(struct jit_place *place, uint32_t root)
{
    for (size_t i = 0; i < JIT_ROOTS; i++) {
        if (place->roots[i] == 0)
            place->roots[i] = root;
        if (place->roots[i] == root)
            return;
    }
    place->more_roots = true;
}

static void count_removals(struct jit_log *log)
{
    if (log->removal_count > 0)
        qsort(log->removals, log->removal_count, sizeof *log->removals, jit_log_by_place);
    for (size_t i = 0, end; i < log->removal_count; i = end) {
        uint32_t chains = 1;
        for (end = i + 1;
             end < log->removal_count && log->removals[end].place == log->removals[i].place; end++)
            chains += log->removals[end].chain != log->removals[end - 1].chain;
        struct jit_place *place = &log->places[log->removals[i].place];
        uint32_t parses = parses_of(log, place->method);
        if (parses > 0 && chains >= parses)
            place->removed++;
        else
            place->partly++;
        place->discarded += id_set_has(&log->discarded, log->compile_id);
        add_root(place, log->removals[i].root);
    }
}

static bool end_task(struct jit_log *log, const char *line)
{
    uint64_t success = 0;
    log->in_task = false;
    uint32_t root = log->removal.root;
    if (!jit_log_number_of(line, "success", 1, &success) || success == 0 || root == 0)
        return true;
    log->compilations++;
    log->removing += log->removal_count > 0;
    raise_to(&log->methods[root].loops, line, "backedge_count");
    count_parses(log);
    count_removals(log);
    return true;
}

/* Code of C2 that the JVM discarded: `make_not_entrant` comes before the tasks. */
static bool put_discarded(struct jit_log *log, const char *line)
{
    uint32_t id;
    uint64_t level = 0;
    bool is_new;
    return !jit_log_number_of(line, "level", UINT64_MAX, &level) || level != 4 ||
           !id_of(line, "compile_id", &id) || id_set_add(&log->discarded, id, &is_new);
}

/* The attempt failed; the compiler begins again, with less. */
static bool begin_again(struct jit_log *log, const char *line)
{
    (void) line;
    log->parse_count = log->removal_count = 0;
    return true;
}

static bool begin_removal(struct jit_log *log, const char *line)
{
    log->in_removal = 1;
    log->class = named_number(log, line, "type");
    log->by_call = is_element(line, "eliminate_boxing");
    return true;
}

/* Returns false if out of memory. */
static bool put_line(struct jit_log *log, const char *line)
{
    static const struct {
        const char *name;
        bool (*put)(struct jit_log *log, const char *line);
    } elements[] = {{"klass", jit_log_put_class},
                    {"type", jit_log_put_type},
                    {"method", jit_log_put_method},
                    {"parse", put_parse},
                    {"eliminate_allocation", begin_removal},
                    {"eliminate_boxing", begin_removal},
                    {"jvms", jit_log_put_frame},
                    {"failure", begin_again},
                    {"task_done", end_task}};
    if (line[0] != '<')
        return true;
    if (is_element(line, "task"))
        return begin_task(log, line);
    if (is_element(line, "make_not_entrant"))
        return put_discarded(log, line);
    log->is_complete |= is_element(line, "/hotspot_log");
    if (!log->in_task)
        return true;
    if (is_element(line, "/eliminate_allocation") || is_element(line, "/eliminate_boxing"))
        return end_removal(log);
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (is_element(line, elements[i].name) &&
            (log->in_removal == 0 || elements[i].put == jit_log_put_frame))
            return elements[i].put(log, line);
    return true;
}

static enum step_status read_lines(struct jit_log *log, FILE *file, char *line,
                                   struct step_error *error)
{
    bool is_log = false, is_rest = false;
    line[LINE_BYTES - 2] = '\0'; /* the last byte of a line that is longer */
    for (int i = 0; fgets(line, (int) LINE_BYTES, file) != NULL; i += i < 2) {
        char last = line[LINE_BYTES - 2];
        /* A line with a NUL has no end. */
        bool is_whole = strchr(line, '\n') != NULL || (last == '\0' && feof(file));
        is_log |= i < 2 && line[0] == '<' && is_element(line, "hotspot_log");
        if (i == 1 && !is_log)
            break;
        if (is_whole && !is_rest && !put_line(log, line))
            return step_no_memory(error, log->path);
        log->skipped_lines += !is_whole && !is_rest && line[0] == '<';
        is_rest = last != '\0' && last != '\n';
        line[LINE_BYTES - 2] = '\0';
    }
    if (ferror(file))
        return step_error_set(error, STEP_STATUS_IO, log->path, STEP_NO_OFFSET, "cannot read: %s",
                              strerror(errno));
    if (!is_log)
        return step_error_set(error, STEP_STATUS_CORRUPT, log->path, 0,
                              "not a log of -XX:+LogCompilation");
    if (!log->is_complete)
        return step_error_set(error, STEP_STATUS_CUT, log->path, (uint64_t) ftello(file),
                              "the end of the log is missing: so may be compilations");
    if (log->skipped_lines > 0)
        return step_error_set(error, STEP_STATUS_CUT, log->path, STEP_NO_OFFSET,
                              "%" PRIu64
                              " lines have a NUL or are longer than 64 KiB: elements may "
                              "be missing",
                              log->skipped_lines);
    return STEP_STATUS_OK;
}

enum step_status jit_log_read(struct jit_log *log, const char *path, struct step_error *error)
{
    *log = (struct jit_log){.path = path, .memory = {.limit = UINT64_MAX}};
    id_table_init(&log->ids, sizeof(struct jit_name));
    FILE *file = input_file_stream(path, INPUT_REGULAR);
    if (file == NULL)
        return errno == EINVAL ? step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                                                "not a regular file")
                               : step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                                                "cannot open: %s", strerror(errno));
    char *line = malloc(LINE_BYTES);
    enum step_status status =
        line == NULL ? step_no_memory(error, path) : read_lines(log, file, line, error);
    free(line);
    fclose(file);
    return status;
}

void jit_log_reset(struct jit_log *log)
{
    step_arena_reset(&log->memory);
    name_index_reset(&log->texts);
    name_index_reset(&log->places_index);
    id_table_reset(&log->ids);
    id_set_reset(&log->discarded);
    free(log->methods);
    free(log->places);
    free(log->parses);
    free(log->removals);
}

uint32_t jit_log_method(const struct jit_log *log, struct step_bytes text)
{
    return name_index_find(&log->texts, TEXT_METHOD, text);
}

struct jit_place *jit_log_place(const struct jit_log *log, uint32_t method, uint64_t bytecode)
{
    uint32_t number = method == 0 ? 0
                                  : name_index_find(&log->places_index,
                                                    (uint64_t) method << 32 | bytecode, NOTHING);
    return number != 0 ? &log->places[number] : NULL;
}
