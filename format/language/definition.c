/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a definition: expands its includes, scans, parses, resolves. */
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/core/utf8.h"
#include "format/language/dl_parse.tab.h"
#include "format/language/dl_tree.h"
#include "steptrace/definition.h"

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
