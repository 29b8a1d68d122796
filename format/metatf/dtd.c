/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a DTD, and answers queries about it. */
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/metatf/dtd_parse.tab.h"
#include "format/metatf/dtd_tree.h"

/* flex's header uses these names for bison's types */
#define YYSTYPE DTD_YYSTYPE
#define YYLTYPE DTD_YYLTYPE
#include "format/metatf/dtd_scan.h"

/* A parsed DTD with the memory that it owns. */
struct owned_dtd {
    struct metatf_dtd dtd; /* first member: users hold a pointer to it */
    struct step_arena arena;
};

static bool scan_and_parse(struct dtd_parse *parse, const char *text, size_t length)
{
    struct dtd_scan scan = {.arena = parse->arena};
    yyscan_t scanner = NULL;
    if (dtd_yylex_init_extra(&scan, &scanner) != 0) {
        parse->out_of_memory = true;
        return false;
    }
    volatile bool parsed = false; /* must survive longjmp() */
    if (setjmp(scan.fatal) == 0)
        parsed = dtd_yy_scan_bytes(text, (int) length, scanner) != NULL &&
                 dtd_yyparse(parse, scanner) == 0;
    else
        parse->out_of_memory = true;
    dtd_yylex_destroy(scanner);
    return parsed && parse->fault_count == 0 && !parse->out_of_memory;
}

static enum step_status dtd_fail(struct dtd_parse *parse, struct owned_dtd *owned)
{
    enum step_status status = STEP_STATUS_INVALID;
    if (parse->fault_count == 0)
        status =
            owned->arena.limited
                ? step_error_set(parse->error, STEP_STATUS_LIMIT, parse->name, STEP_NO_OFFSET,
                                 "the DTD takes more than %zu bytes of memory", DTD_MEMORY_LIMIT)
                : step_no_memory(parse->error, parse->name);
    metatf_dtd_destroy(&owned->dtd);
    return status;
}

enum step_status metatf_dtd_parse(const char *text, size_t length, const char *name,
                                  step_fault_visit report, void *user, struct metatf_dtd **out,
                                  struct step_error *error)
{
    *out = NULL;
    if (length > DTD_TEXT_LIMIT)
        return step_error_set(error, STEP_STATUS_LIMIT, name, STEP_NO_OFFSET,
                              "the DTD is longer than %zu bytes", DTD_TEXT_LIMIT);
    struct owned_dtd *owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        return step_no_memory(error, name);
    step_arena_clear(&owned->arena, DTD_MEMORY_LIMIT);
    struct dtd_parse parse = {.arena = &owned->arena,
                              .name = name != NULL ? name : "DTD",
                              .text = text,
                              .text_length = length,
                              .report = report,
                              .user = user,
                              .error = error};
    owned->dtd.text = step_arena_text(&owned->arena, text, length);
    owned->dtd.text_length = length;
    if (owned->dtd.text == NULL || !scan_and_parse(&parse, text, length) ||
        !dtd_resolve(&parse, &owned->dtd))
        return dtd_fail(&parse, owned);
    *out = &owned->dtd;
    return STEP_STATUS_OK;
}

void metatf_dtd_destroy(struct metatf_dtd *dtd)
{
    if (dtd == NULL)
        return;
    struct owned_dtd *owned = (struct owned_dtd *) dtd;
    step_arena_reset(&owned->arena);
    free(owned);
}

uint32_t metatf_section_record(const struct metatf_section *section, const char *name)
{
    for (uint32_t i = 0; i < section->record_count; i++)
        if (strcmp(section->records[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

uint32_t metatf_record_field(const struct metatf_record *record, const char *path)
{
    for (uint32_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].path, path) == 0)
            return i;
    return UINT32_MAX;
}
