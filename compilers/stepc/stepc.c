/* SPDX-License-Identifier: Apache-2.0 */
/* stepc, the STEP-DL compiler: checks definitions and converts them to other forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "format/language/dl_tree.h"

#define TEXT_LIMIT ((size_t) 16 << 20)

/* Directories of -I. */
static struct {
    const char *paths[64];
    size_t count;
} directories;

/* -Werror */
static bool warnings_are_faults;

/* --prefix, or "" */
static const char *names_begin;

/* Returns NULL after printing the error; `*code` is the exit code. */
static struct step_definition *stepc_parse_file(const char *path, int *code)
{
    struct step_definition *definition = NULL;
    struct step_error error = {.status = STEP_STATUS_OK};
    const struct step_definition_options options = {.name = "-",
                                                    .report = compiler_report_fault,
                                                    .includes = true,
                                                    .directories = directories.paths,
                                                    .directory_count = directories.count};
    bool is_input = strcmp(path, "-") == 0;
    size_t length = 0;
    char *text = is_input ? compiler_read_text("stepc", path, TEXT_LIMIT, &length) : NULL;
    *code = EXIT_FAILED;
    if (is_input && text == NULL)
        return NULL;
    enum step_status status =
        is_input ? step_definition_read(text, length, &options, &definition, &error)
                 : step_definition_load(path, &options, &definition, &error);
    free(text);
    *code = status == STEP_STATUS_INVALID ? EXIT_BAD_INPUT : EXIT_FAILED;
    if (status != STEP_STATUS_OK && status != STEP_STATUS_INVALID)
        fprintf(stderr, "stepc: %s: %s\n", path, error.message);
    return definition;
}

static int write_c(int count, char **arguments)
{
    int code;
    if (count != 2)
        return EXIT_USAGE;
    struct step_definition *definition = stepc_parse_file(arguments[1], &code);
    if (definition == NULL)
        return code;
    struct c_output output = {.definition = definition, .names_begin = names_begin};
    output.file = compiler_base("stepc", arguments[0], names_begin, output.base);
    if (output.file == NULL) {
        step_definition_destroy(definition);
        return EXIT_USAGE;
    }
    code = check_definition(definition, arguments[1], warnings_are_faults);
    if (code == EXIT_DONE && !c_output_init(&output, arguments[1]))
        code = EXIT_BAD_INPUT;
    if (code == EXIT_DONE &&
        !compiler_write_files("stepc", arguments[0], c_output_header, c_output_source, &output))
        code = EXIT_FAILED;
    c_output_reset(&output);
    step_definition_destroy(definition);
    return code;
}

static int check_file(const char *path)
{
    int code = EXIT_DONE;
    struct step_definition *definition = stepc_parse_file(path, &code);
    if (definition != NULL)
        code = check_definition(definition, path, warnings_are_faults);
    step_definition_destroy(definition);
    return code;
}

/* Converts "defs/zoo.step" to "zoo". */
static void make_title(const char *path, char *title, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = strcmp(path, "-") == 0 ? "definition" : slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot != NULL && dot != name ? (int) (dot - name) : (int) strlen(name);
    snprintf(title, size, "%.*s", length, name);
}

static int write_text(int count, char **arguments, void (*print)(const struct text_output *output))
{
    char title[256];
    int code;
    if (count != 1)
        return EXIT_USAGE;
    struct step_definition *definition = stepc_parse_file(arguments[0], &code);
    if (definition == NULL)
        return code;
    make_title(arguments[0], title, sizeof title);
    print(&(struct text_output){definition, title, stdout});
    step_definition_destroy(definition);
    return compiler_finish_output("stepc");
}

static int write_canonical(int count, char **arguments)
{
    return write_text(count, arguments, print_canonical);
}

static int write_markdown(int count, char **arguments)
{
    return write_text(count, arguments, print_markdown);
}

static int write_man_page(int count, char **arguments)
{
    return write_text(count, arguments, print_man_page);
}

static int write_schema(int count, char **arguments)
{
    return write_text(count, arguments, print_schema);
}

static const struct compiler_output outputs[] = {
    {"--check", "FILE...", "checks definitions", .check = check_file},
    {"--print", "FILE", "prints a definition in its canonical form", .run = write_canonical},
    {"--doc", "FILE", "prints its documentation, as Markdown", .run = write_markdown},
    {"--doc=man", "FILE", "prints its documentation, as a man page", .run = write_man_page},
    {"--json", "FILE", "prints its records, as JSON", .run = write_schema},
    {"--c", "BASE FILE", "writes BASE.h and BASE.c: structs, tables, writer and reader",
     .run = write_c},
};

static const struct compiler stepc = {
    .program = "stepc",
    .title = "the compiler of STEP-DL definitions",
    .notes = "-I DIR before or after an option: DIR is searched for included files, too.\n"
             "-Werror: warnings of --check and --c are faults.\n"
             "--prefix PREFIX: all C names that --c writes begin with PREFIX.\n"
             "Exit codes: 0 done, 1 failed, 2 usage, 3 a definition has faults\n",
    .usage = "[-I DIR] [-Werror] [--prefix PREFIX] --check|--print|--doc|--json|--c|--help",
    .outputs = outputs,
    .output_count = sizeof outputs / sizeof outputs[0],
};

/* Removes -I DIR and -Werror from the arguments.  Returns false if a directory is missing, or there
 * are too many. */
static bool take_options(int *count, char **arguments)
{
    int kept = 1;
    for (int i = 1; i < *count; i++) {
        if (strcmp(arguments[i], "-Werror") == 0) {
            warnings_are_faults = true;
            continue;
        }
        if (strncmp(arguments[i], "-I", 2) != 0) {
            arguments[kept++] = arguments[i];
            continue;
        }
        const char *path = arguments[i] + 2;
        if (*path == '\0' && ++i == *count)
            return false;
        if (*path == '\0')
            path = arguments[i];
        if (directories.count == sizeof directories.paths / sizeof directories.paths[0])
            return false;
        directories.paths[directories.count++] = path;
    }
    *count = kept;
    return true;
}

int main(int count, char **arguments)
{
    bool valid =
        compiler_take_prefix(&count, arguments, &names_begin) && take_options(&count, arguments);
    return compiler_run(&stepc, valid, count, arguments);
}
