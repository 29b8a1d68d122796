/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes snapshots. */
#include "analyses/gate/snapshot_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/containers/no_memory.h"
#include "converter/output/output_file.h"
#include "format/core/grow.h"
#include "format/core/input_file.h"
#include "format/core/output_place.h"
#include "steptrace/show.h"

#define SNAPSHOT_BYTES_MOST ((size_t) 1 << 26)
#define SNAPSHOT_LINES_MOST ((size_t) 1 << 18)
#define SNAPSHOT_HEAD "# What phases allocate, on which JDKs. steptrace gate --update writes it.\n"
#define SNAPSHOT_NUMBER_MOST 18u /* digits */
#define SNAPSHOT_JDK_MOST 5u

/* ---- lines ---- */

/* Reads a number of at most so many digits, and moves `*at` behind it. */
static bool snapshot_number(const char **at, size_t most, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (; isdigit((unsigned char) (*at)[digits]); digits++)
        if (digits < most)
            *number = *number * 10 + (uint64_t) ((*at)[digits] - '0');
    *at += digits;
    return digits > 0 && digits <= most;
}

static bool snapshot_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    bool is_there = strncmp(*at, word, length) == 0;
    *at += is_there ? length : 0;
    return is_there;
}

/* Reads " [17 25]: 12 objects, 600 bytes", which the rest of the line may follow. */
static bool snapshot_line_tail(const char *at, struct snapshot_line *line)
{
    uint64_t jdk = 0;
    line->jdk_count = 0;
    bool ok = snapshot_word(&at, " [");
    do {
        ok = ok && line->jdk_count < SNAPSHOT_JDKS_MOST &&
             snapshot_number(&at, SNAPSHOT_JDK_MOST, &jdk);
        if (ok)
            line->jdks[line->jdk_count++] = (unsigned) jdk;
    } while (ok && snapshot_word(&at, " "));
    ok = ok && snapshot_word(&at, "]: ");
    line->text = at;
    return ok && snapshot_number(&at, SNAPSHOT_NUMBER_MOST, &line->objects) &&
           (snapshot_word(&at, " objects, ") || snapshot_word(&at, " object, ")) &&
           snapshot_number(&at, SNAPSHOT_NUMBER_MOST, &line->bytes) && snapshot_word(&at, " bytes");
}

static int snapshot_jdk_order(const void *left, const void *right)
{
    unsigned a = *(const unsigned *) left, b = *(const unsigned *) right;
    return (a > b) - (a < b);
}

/* A name may have brackets, too: the last place that begins the rest of a line ends it. */
static bool snapshot_line_parse(char *text, struct snapshot_line *line)
{
    char *at = text + strlen(text);
    do {
        while (at > text && strncmp(at, " [", 2) != 0)
            at--;
        if (at == text)
            return false;
        if (snapshot_line_tail(at, line))
            break;
        at--;
    } while (true);
    *at = '\0';
    line->name = text;
    qsort(line->jdks, line->jdk_count, sizeof line->jdks[0], snapshot_jdk_order);
    return true;
}

static int snapshot_line_order(const void *left, const void *right)
{
    const struct snapshot_line *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : snapshot_jdk_order(&a->jdks[0], &b->jdks[0]);
}

void snapshot_file_sort(struct snapshot_file *file)
{
    if (file->count > 0)
        qsort(file->lines, file->count, sizeof *file->lines, snapshot_line_order);
    file->sorted = file->count;
}

/* ---- reading ---- */

static enum step_status snapshot_fault(const struct snapshot_file *file, uint64_t line,
                                       const char *what, const char *text, struct step_error *error)
{
    char shown[120];
    step_show(step_text(text), shown, sizeof shown);
    return step_error_set(error, STEP_STATUS_CORRUPT, file->path, STEP_NO_OFFSET,
                          "line %" PRIu64 " %s%s%s", line, what, *text != '\0' ? ": " : "", shown);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\f\v")] == '\0';
}

static enum step_status snapshot_file_take(struct snapshot_file *file, char *text, uint64_t number,
                                           struct step_error *error)
{
    struct snapshot_line line = {.number = number};
    if (is_blank(text) || *text == '#')
        return STEP_STATUS_OK;
    if (!snapshot_line_parse(text, &line))
        return snapshot_fault(file, number,
                              "is none of a snapshot (NAME [JDK...]: N objects, N bytes...)", text,
                              error);
    if (file->count == SNAPSHOT_LINES_MOST)
        return snapshot_fault(file, number, "is one too many", text, error);
    if (!STEP_MAKE_ROOM(file->lines, file->capacity, file->count + 1))
        return no_memory(error);
    file->lines[file->count++] = line;
    return STEP_STATUS_OK;
}

static uint64_t snapshot_later(const struct snapshot_line *a, const struct snapshot_line *b)
{
    return a->number > b->number ? a->number : b->number;
}

/* Finds the JDK that two lines of a name both have. */
static enum step_status snapshot_file_check(const struct snapshot_file *file,
                                            struct step_error *error)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct snapshot_line *line = &file->lines[i];
        for (unsigned k = 1; k < line->jdk_count; k++)
            if (line->jdks[k] == line->jdks[k - 1])
                return snapshot_fault(file, line->number, "has a JDK twice", line->name, error);
        for (size_t k = i; k > 0 && strcmp(file->lines[k - 1].name, line->name) == 0; k--)
            for (unsigned j = 0; j < line->jdk_count; j++)
                if (snapshot_line_has(&file->lines[k - 1], line->jdks[j]))
                    return snapshot_fault(file, snapshot_later(line, &file->lines[k - 1]),
                                          "is a second one of its JDK", line->name, error);
        if (i >= SNAPSHOT_JDKS_MOST &&
            strcmp(file->lines[i - SNAPSHOT_JDKS_MOST].name, line->name) == 0)
            return snapshot_fault(file, line->number, "is one too many of its name", line->name,
                                  error);
    }
    return STEP_STATUS_OK;
}

/* Keeps the comments before the first line.  Returns false if out of memory. */
static bool snapshot_file_keep_head(struct snapshot_file *file, size_t length)
{
    const char *at = file->data, *end = file->data + length, *next;
    while (at < end && *at == '#' && (next = memchr(at, '\n', (size_t) (end - at))) != NULL)
        at = next + 1;
    if (at == file->data)
        return true;
    char *to = file->head = malloc((size_t) (at - file->data) + 1);
    for (const char *from = file->data; to != NULL && from < at; from++)
        if (*from != '\r')
            *to++ = *from;
    if (to != NULL)
        *to = '\0';
    return to != NULL;
}

static enum step_status snapshot_file_cut(struct snapshot_file *file, size_t length,
                                          struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t number = 0;
    if (!snapshot_file_keep_head(file, length))
        return no_memory(error);
    for (char *at = file->data; status == STEP_STATUS_OK && at < file->data + length;) {
        char *end = memchr(at, '\n', (size_t) (file->data + length - at));
        char *next = end != NULL ? end + 1 : file->data + length;
        end = end != NULL ? end : next;
        if (memchr(at, '\0', (size_t) (end - at)) != NULL)
            return snapshot_fault(file, number + 1, "has a byte 0", "", error);
        if (end > at && end[-1] == '\r')
            end--;
        *end = '\0';
        status = snapshot_file_take(file, at, ++number, error);
        at = next;
    }
    if (status != STEP_STATUS_OK)
        return status;
    snapshot_file_sort(file);
    return snapshot_file_check(file, error);
}

/* Reads what is there, which may be more than the file's size says. */
static enum step_status snapshot_file_load(struct snapshot_file *file, int descriptor,
                                           size_t *length, struct step_error *error)
{
    size_t capacity = 0;
    ssize_t got = 1;
    *length = 0;
    while (got > 0) {
        if (*length > SNAPSHOT_BYTES_MOST)
            return step_error_set(error, STEP_STATUS_CORRUPT, file->path, STEP_NO_OFFSET,
                                  "larger than %zu bytes: no snapshot", SNAPSHOT_BYTES_MOST);
        if (!STEP_MAKE_ROOM(file->data, capacity, *length + 4096))
            return no_memory(error);
        got = read(descriptor, file->data + *length, capacity - *length - 1);
        if (got < 0)
            return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET,
                                  "cannot read: %s", strerror(errno));
        *length += (size_t) got;
    }
    file->data[*length] = '\0';
    return STEP_STATUS_OK;
}

/* Opens the file as it would be replaced: a link that another user made is not followed.  Returns
 * -1 if there is no file, or sets the error. */
static int snapshot_file_open(struct snapshot_file *file, struct step_error *error)
{
    struct output_place place;
    if (output_place_find(&place, file->path, OUTPUT_PLACE_NAMED, error) != STEP_STATUS_OK)
        return -1;
    int descriptor = -1;
    if (place.exists) {
        descriptor = input_file_open_in(place.directory, place.name, &file->about);
        if (descriptor == INPUT_NOT_REGULAR)
            step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "no regular file");
        else if (descriptor < 0)
            step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "cannot open: %s",
                           strerror(errno));
    }
    output_place_reset(&place);
    return descriptor;
}

enum step_status snapshot_file_read(struct snapshot_file *file, const char *path,
                                    struct step_error *error)
{
    size_t length;
    *file = (struct snapshot_file){.path = path};
    error->status = STEP_STATUS_OK;
    int descriptor = snapshot_file_open(file, error);
    if (descriptor < 0)
        return error->status;
    file->exists = true;
    enum step_status status = snapshot_file_load(file, descriptor, &length, error);
    close(descriptor);
    return status == STEP_STATUS_OK ? snapshot_file_cut(file, length, error) : status;
}

void snapshot_file_reset(struct snapshot_file *file)
{
    free(file->data);
    free(file->head);
    free(file->lines);
    *file = (struct snapshot_file){.path = NULL};
}

/* ---- looking up ---- */

static int snapshot_name_order(const void *name, const void *line)
{
    return strcmp(name, ((const struct snapshot_line *) line)->name);
}

const struct snapshot_line *snapshot_file_find(const struct snapshot_file *file, const char *name,
                                               size_t *count)
{
    const struct snapshot_line *found =
        file->sorted == 0
            ? NULL
            : bsearch(name, file->lines, file->sorted, sizeof *file->lines, snapshot_name_order);
    *count = 0;
    if (found == NULL)
        return NULL;
    while (found > file->lines && strcmp(found[-1].name, name) == 0)
        found--;
    while (found + *count < file->lines + file->sorted && strcmp(found[*count].name, name) == 0)
        ++*count;
    return found;
}

bool snapshot_line_has(const struct snapshot_line *line, unsigned jdk)
{
    unsigned at = 0;
    while (at < line->jdk_count && line->jdks[at] != jdk)
        at++;
    return at < line->jdk_count;
}

/* ---- changing ---- */

static void snapshot_line_drop(struct snapshot_line *line, unsigned jdk)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < line->jdk_count; i++)
        if (line->jdks[i] != jdk)
            line->jdks[kept++] = line->jdks[i];
    line->jdk_count = kept;
}

/* Takes the JDK from lines of the name, and notes the one that has the text. */
static void snapshot_file_leave(struct snapshot_line *line, const char *name, unsigned jdk,
                                const char *text, struct snapshot_line **same)
{
    if (strcmp(line->name, name) != 0)
        return;
    snapshot_line_drop(line, jdk);
    if (strcmp(line->text, text) == 0)
        *same = line;
}

/* A line without JDKs is not written. */
bool snapshot_file_put(struct snapshot_file *file, const char *name, unsigned jdk, const char *text,
                       uint64_t objects, uint64_t bytes)
{
    struct snapshot_line *same = NULL;
    size_t count;
    const struct snapshot_line *found = snapshot_file_find(file, name, &count);
    for (size_t i = 0; i < count; i++)
        snapshot_file_leave(&file->lines[(size_t) (found - file->lines) + i], name, jdk, text,
                            &same);
    for (size_t i = file->sorted; i < file->count; i++)
        snapshot_file_leave(&file->lines[i], name, jdk, text, &same);
    if (same == NULL) {
        if (!STEP_MAKE_ROOM(file->lines, file->capacity, file->count + 1))
            return false;
        same = &file->lines[file->count++];
        *same =
            (struct snapshot_line){.name = name, .text = text, .objects = objects, .bytes = bytes};
    }
    if (same->jdk_count == SNAPSHOT_JDKS_MOST)
        return false;
    same->jdks[same->jdk_count++] = jdk;
    qsort(same->jdks, same->jdk_count, sizeof jdk, snapshot_jdk_order);
    return true;
}

void snapshot_file_drop(struct snapshot_file *file, const char *name)
{
    size_t count;
    const struct snapshot_line *found = snapshot_file_find(file, name, &count);
    for (size_t i = 0; i < count; i++)
        file->lines[(size_t) (found - file->lines) + i].jdk_count = 0;
}

static bool snapshot_file_print(const void *user, FILE *out)
{
    const struct snapshot_file *file = user;
    fputs(file->head != NULL ? file->head : SNAPSHOT_HEAD, out);
    for (size_t i = 0; i < file->count; i++) {
        const struct snapshot_line *line = &file->lines[i];
        if (line->jdk_count == 0)
            continue;
        fprintf(out, "%s [", line->name);
        for (unsigned k = 0; k < line->jdk_count; k++)
            fprintf(out, k == 0 ? "%u" : " %u", line->jdks[k]);
        fprintf(out, "]: %s\n", line->text);
    }
    return true;
}

static bool is_file_read(const struct snapshot_file *file, const struct output_file *out)
{
    const struct stat *now = &out->place.about;
    return out->place.exists == file->exists &&
           (!file->exists ||
            (now->st_dev == file->about.st_dev && now->st_ino == file->about.st_ino &&
             now->st_size == file->about.st_size &&
             now->st_mtim.tv_sec == file->about.st_mtim.tv_sec &&
             now->st_mtim.tv_nsec == file->about.st_mtim.tv_nsec));
}

enum step_status snapshot_file_write(struct snapshot_file *file, struct step_error *error)
{
    struct output_file out;
    snapshot_file_sort(file);
    enum step_status status = output_file_open(&out, file->path, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!is_file_read(file, &out))
        return output_file_end(&out,
                               step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET,
                                              "somebody else has written it meanwhile"),
                               error);
    return output_file_fill(&out, NULL, snapshot_file_print, file, error);
}
