/* SPDX-License-Identifier: Apache-2.0 */
/* A definition from its text, and the questions that may be asked of it. */
#include "steptrace/definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl_tree.h"

#include "dl_parse.tab.h"
#include "dl_scan_state.h"

/* the names by which flex's header knows bison's types */
#define YYSTYPE STEP_DL_STYPE
#define YYLTYPE STEP_DL_LTYPE
#include "dl_scan.h"

/* A parsed definition with what it owns. */
struct owned_definition {
    struct step_definition definition; /* first: users hold a pointer to it */
    struct dl_arena arena;
};

void dl_fault(struct dl_parse *parse, struct dl_place place, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (parse->fault_count++ == 0)
        step_error_set(parse->error, STEP_STATUS_INVALID, parse->name, STEP_NO_OFFSET, "%u:%u: %s",
                       place.line, place.column, message);
    if (parse->report != NULL && parse->fault_count <= DL_FAULT_LIMIT)
        parse->report(parse->user, parse->name, place.line, place.column, message);
}

/* Length of the UTF-8 character at `text`, 0 if it is none that a text may have. */
static size_t character_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first == 0 || first > 0xf4 || length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool beyond = (first == 0xed && text[1] > 0x9f) || (first == 0xf4 && text[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

static bool check_characters(struct dl_parse *parse, const char *text, size_t length)
{
    struct dl_place place = {1, 1};
    for (size_t i = 0; i < length;) {
        size_t bytes = character_length((const unsigned char *) text + i, length - i);
        if (bytes == 0) {
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

static bool scan_and_parse(struct dl_parse *parse, const char *text, size_t length)
{
    struct dl_scan scan = {.arena = parse->arena};
    yyscan_t scanner = NULL;
    if (!check_characters(parse, text, length))
        return false;
    if (step_dl_lex_init_extra(&scan, &scanner) != 0) {
        parse->out_of_memory = true;
        return false;
    }
    volatile bool parsed = false; /* seen after a jump */
    if (setjmp(scan.fatal) == 0)
        parsed = step_dl__scan_bytes(text, (int) length, scanner) != NULL &&
                 step_dl_parse(parse, scanner) == 0;
    else
        parse->out_of_memory = true;
    step_dl_lex_destroy(scanner);
    return parsed && parse->fault_count == 0 && !parse->out_of_memory;
}

static enum step_status fail(struct dl_parse *parse, struct owned_definition *owned)
{
    enum step_status status = STEP_STATUS_INVALID;
    if (parse->fault_count == 0)
        status = owned->arena.limit_reached
                     ? step_error_set(parse->error, STEP_STATUS_LIMIT, parse->name, STEP_NO_OFFSET,
                                      "the definition takes more than %zu bytes of memory",
                                      DL_MEMORY_LIMIT)
                     : step_error_set(parse->error, STEP_STATUS_NO_MEMORY, parse->name,
                                      STEP_NO_OFFSET, "out of memory");
    step_definition_destroy(&owned->definition);
    return status;
}

enum step_status step_definition_parse(const char *text, size_t length, const char *name,
                                       step_fault_report report, void *user,
                                       struct step_definition **out, struct step_error *error)
{
    *out = NULL;
    if (length > DL_TEXT_LIMIT)
        return step_error_set(error, STEP_STATUS_LIMIT, name, STEP_NO_OFFSET,
                              "the definition is longer than %zu bytes", DL_TEXT_LIMIT);
    struct owned_definition *owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, name, STEP_NO_OFFSET, "out of memory");
    dl_arena_init(&owned->arena, DL_MEMORY_LIMIT);
    struct dl_parse parse = {.arena = &owned->arena,
                             .name = name,
                             .package = "",
                             .report = report,
                             .user = user,
                             .error = error};
    owned->definition.text = dl_arena_text(&owned->arena, text, length);
    owned->definition.text_length = length;
    if (owned->definition.text == NULL || !scan_and_parse(&parse, text, length) ||
        !dl_resolve(&parse, &owned->definition))
        return fail(&parse, owned);
    *out = &owned->definition;
    return STEP_STATUS_OK;
}

void step_definition_destroy(struct step_definition *definition)
{
    if (definition == NULL)
        return;
    struct owned_definition *owned = (struct owned_definition *) (void *) definition;
    dl_arena_reset(&owned->arena);
    free(owned);
}

uint32_t step_definition_find(const struct step_definition *definition, const char *name)
{
    for (size_t i = 0; i < definition->record_count; i++)
        if (strcmp(definition->records[i].name, name) == 0)
            return (uint32_t) i;
    return STEP_NO_RECORD;
}

size_t step_record_find_field(const struct step_record *record, const char *name)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

bool step_record_extends(const struct step_definition *definition, uint32_t record,
                         uint32_t ancestor)
{
    while (record != STEP_NO_RECORD && record != ancestor)
        record = definition->records[record].parent;
    return record != STEP_NO_RECORD;
}

/* The last rule of one attribute value with that key. */
static bool find_rule(const char *text, const char *key, const char **value, size_t *length)
{
    size_t key_length = strlen(key);
    bool found = false;
    for (const char *at = text;;) {
        at += strspn(at, " \t");
        size_t rule = strcspn(at, ","), name = strcspn(at, ",= \t");
        if (name == key_length && memcmp(at, key, name) == 0) {
            size_t start = name < rule ? name + strspn(at + name, " \t") : rule;
            start += start < rule && at[start] == '=';
            start += start < rule ? strspn(at + start, " \t") : 0;
            while (rule > start && (at[rule - 1] == ' ' || at[rule - 1] == '\t'))
                rule--;
            *value = at + start;
            *length = rule - start;
            found = true;
        }
        at += strcspn(at, ",");
        if (*at == '\0')
            return found;
        at++;
    }
}

bool step_attributes_rule(const struct step_attributes *attributes, const char *group,
                          const char *key, const char **value, size_t *length)
{
    const char *ignored_value;
    size_t ignored_length;
    if (value == NULL)
        value = &ignored_value;
    if (length == NULL)
        length = &ignored_length;
    for (size_t i = attributes->count; i-- > 0;)
        if (strcmp(attributes->items[i].group, group) == 0 &&
            find_rule(attributes->items[i].value, key, value, length))
            return true;
    return false;
}

static bool is_identifier(const struct step_field *field)
{
    return step_attributes_rule(&field->attributes, "encoding", "identifier", NULL, NULL);
}

size_t step_record_slot_count(const struct step_definition *definition, uint32_t record)
{
    size_t slots = 0;
    for (size_t i = 0; i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        bool nested =
            field->kind == STEP_TYPE_RECORD && field->array_depth == 0 && !is_identifier(field);
        slots += nested ? step_record_slot_count(definition, field->record) : 1;
    }
    return slots;
}
