/* SPDX-License-Identifier: Apache-2.0 */
/* metatfc, the compiler for Meta-TF DTDs: checks DTDs, and generates C readers and writers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/compiler.h"
#include "compilers/metatfc/metatfc_model.h"

#define TEXT_LIMIT ((size_t) 1 << 20)

/* --prefix, or "" */
static const char *names_begin;

/* Returns NULL after printing the error; `*code` is the exit code. */
static struct metatf_dtd *metatfc_parse_file(const char *path, int *code)
{
    size_t length;
    struct metatf_dtd *dtd = NULL;
    struct step_error error;
    char *text = compiler_read_text("metatfc", path, TEXT_LIMIT, &length);
    *code = EXIT_FAILED;
    if (text == NULL)
        return NULL;
    enum step_status status =
        metatf_dtd_parse(text, length, path, compiler_report_fault, NULL, &dtd, &error);
    if (status == STEP_STATUS_INVALID)
        *code = EXIT_BAD_INPUT;
    else if (status != STEP_STATUS_OK)
        fprintf(stderr, "metatfc: %s: %s\n", path, error.message);
    free(text);
    return dtd;
}

static int check_file(const char *path)
{
    int code;
    struct metatf_dtd *dtd = metatfc_parse_file(path, &code);
    code = dtd != NULL ? EXIT_DONE : code;
    metatf_dtd_destroy(dtd);
    return code;
}

static int write_c(int count, char **arguments)
{
    int code;
    if (count != 2)
        return EXIT_USAGE;
    struct metatf_dtd *dtd = metatfc_parse_file(arguments[1], &code);
    if (dtd == NULL)
        return code;
    const char *slash = strrchr(arguments[1], '/');
    struct mc_model model = {.dtd = dtd, .source = slash != NULL ? slash + 1 : arguments[1]};
    model.file = compiler_base("metatfc", arguments[0], names_begin, model.base);
    code = EXIT_USAGE;
    if (model.file != NULL) {
        code = EXIT_BAD_INPUT;
        if (mc_model_init(&model))
            code = compiler_write_files("metatfc", arguments[0], mc_write_header, mc_write_source,
                                        &model)
                       ? EXIT_DONE
                       : EXIT_FAILED;
        mc_model_reset(&model);
    }
    metatf_dtd_destroy(dtd);
    return code;
}

static void list_field(uint32_t i, const struct metatf_field *field)
{
    printf("    %3" PRIu32 " %s: %s", i, field->path,
           field->kind == METATF_BYTES ? "bytes" : "number");
    if (field->width_field == METATF_NO_FIELD)
        printf(", width %" PRIu32, field->width);
    else
        printf(", width by field %" PRIu32, field->width_field);
    printf(", %s", metatf_interpretation_name(field->interpretation));
    if (field->repeat > 0)
        printf(", repeats the next %" PRIu32, field->repeat);
    putchar('\n');
}

static int list_records(int count, char **arguments)
{
    int code;
    if (count != 1)
        return EXIT_USAGE;
    struct metatf_dtd *dtd = metatfc_parse_file(arguments[0], &code);
    if (dtd == NULL)
        return code;
    for (uint32_t s = 0; s < dtd->section_count; s++) {
        const struct metatf_section *section = &dtd->sections[s];
        printf("section %" PRIu32 " %s%s\n", section->number, section->name,
               section->is_data ? " (numbers)" : "");
        for (uint32_t r = 0; r < section->record_count && !section->is_data; r++) {
            const struct metatf_record *record = &section->records[r];
            printf("  %" PRIu64 " %s\n", record->tag, record->name);
            for (uint32_t f = 1; f < record->field_count; f++)
                list_field(f, &record->fields[f]);
        }
    }
    metatf_dtd_destroy(dtd);
    return compiler_finish_output("metatfc");
}

static const struct compiler_output outputs[] = {
    {"--check", "DTD...", "checks DTDs", .check = check_file},
    {"--c", "BASE DTD", "writes BASE.h and BASE.c: event structs, reader and writer",
     .run = write_c},
    {"--list", "DTD", "lists sections, records with tags, fields with numbers",
     .run = list_records},
};

static const struct compiler metatfc = {
    .program = "metatfc",
    .title = "the compiler of Meta-TF's trace descriptions (DTDs)",
    .notes = "A DTD of '-' is standard input.\n"
             "--prefix PREFIX: all C names that --c writes begin with PREFIX.\n"
             "Exit codes: 0 done, 1 failed, 2 usage, 3 a DTD has faults\n",
    .usage = "[--prefix PREFIX] --check|--c|--list|--help",
    .outputs = outputs,
    .output_count = sizeof outputs / sizeof outputs[0],
};

int main(int count, char **arguments)
{
    bool valid = compiler_take_prefix(&count, arguments, &names_begin);
    return compiler_run(&metatfc, valid, count, arguments);
}
