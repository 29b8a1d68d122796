/* SPDX-License-Identifier: Apache-2.0 */
/* stepc, the STEP-DL compiler: checks definitions and writes them in other forms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_output.h"
#include "compiler.h"
#include "dl_tree.h"
#include "steptrace/maps.h"
#include "text_outputs.h"

#define TEXT_LIMIT ((size_t) 16 << 20)

/* Directories of -I. */
static struct {
    const char *paths[64];
    size_t count;
} directories;

static enum step_status read_stdin(const struct step_definition_options *options,
                                   struct step_definition **out, struct step_error *error)
{
    char *text = malloc(TEXT_LIMIT + 1);
    size_t length = text != NULL ? fread(text, 1, TEXT_LIMIT + 1, stdin) : 0;
    enum step_status status;
    if (text == NULL)
        status =
            step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    else if (ferror(stdin))
        status = step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "%s", strerror(errno));
    else
        status = step_definition_read(text, length, options, out, error);
    free(text);
    return status;
}

/* NULL: said why; `*code` is the exit code. */
static struct step_definition *parse_file(const char *path, int *code)
{
    struct step_definition *definition = NULL;
    struct step_error error = {.status = STEP_STATUS_OK};
    const struct step_definition_options options = {.name = "-",
                                                    .report = compiler_report_fault,
                                                    .includes = true,
                                                    .directories = directories.paths,
                                                    .directory_count = directories.count};
    enum step_status status = strcmp(path, "-") == 0
                                  ? read_stdin(&options, &definition, &error)
                                  : step_definition_load(path, &options, &definition, &error);
    *code = status == STEP_STATUS_INVALID ? EXIT_BAD_INPUT : EXIT_FAILED;
    if (status != STEP_STATUS_OK && status != STEP_STATUS_INVALID)
        fprintf(stderr, "stepc: %s: %s\n", path, error.message);
    return definition;
}

static void write_header(const void *user, FILE *out)
{
    c_output_header(user, out);
}

static void write_source(const void *user, FILE *out)
{
    c_output_source(user, out);
}

static int write_c(int count, char **arguments)
{
    int code;
    if (count != 2)
        return EXIT_USAGE;
    struct step_definition *definition = parse_file(arguments[1], &code);
    if (definition == NULL)
        return code;
    struct c_output output = {.definition = definition};
    output.file = compiler_base("stepc", arguments[0], output.base, sizeof output.base);
    if (output.file == NULL) {
        step_definition_destroy(definition);
        return EXIT_USAGE;
    }
    code = EXIT_DONE;
    if (!c_output_init(&output, arguments[1]))
        code = EXIT_BAD_INPUT;
    else if (!compiler_write_file("stepc", arguments[0], "h", write_header, &output) ||
             !compiler_write_file("stepc", arguments[0], "c", write_source, &output))
        code = EXIT_FAILED;
    c_output_reset(&output);
    step_definition_destroy(definition);
    return code;
}

struct map_check {
    const struct step_definition *definition;
    size_t faults;
};

static void report_map(void *user, const char *record, const struct step_attribute *attribute,
                       const char *message)
{
    struct map_check *check = user;
    char text[400];
    struct step_fault fault = {.message = text};
    (void) record;
    snprintf(text, sizeof text, "map: %s", message);
    dl_definition_locate(check->definition, (struct dl_place){attribute->line, attribute->column},
                         &fault);
    compiler_report_fault(NULL, &fault);
    check->faults++;
}

/* What the language allows, but no reader could follow. */
static int check_maps(const struct step_definition *definition, const char *path)
{
    struct map_check check = {definition, 0};
    struct step_maps *maps = NULL;
    struct step_error error;
    enum step_status status = step_maps_create(definition, report_map, &check, &maps, &error);
    step_maps_destroy(maps);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "stepc: %s: %s\n", path, error.message);
    return status != STEP_STATUS_OK ? EXIT_FAILED : check.faults > 0 ? EXIT_BAD_INPUT : EXIT_DONE;
}

static int check_files(int count, char **arguments)
{
    int worst = EXIT_DONE;
    if (count < 1)
        return EXIT_USAGE;
    for (int i = 0; i < count; i++) {
        int code = EXIT_DONE;
        struct step_definition *definition = parse_file(arguments[i], &code);
        if (definition != NULL)
            code = check_maps(definition, arguments[i]);
        worst = code > worst ? code : worst;
        step_definition_destroy(definition);
    }
    return worst;
}

/* "defs/zoo.step" to "zoo". */
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
    struct step_definition *definition = parse_file(arguments[0], &code);
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
    {"--check", "FILE...", "checks definitions", check_files},
    {"--print", "FILE", "prints a definition in its canonical form", write_canonical},
    {"--doc", "FILE", "prints its documentation, as Markdown", write_markdown},
    {"--doc=man", "FILE", "prints its documentation, as a man page", write_man_page},
    {"--json", "FILE", "prints its records, as JSON", write_schema},
    {"--c", "BASE FILE", "writes BASE.h and BASE.c: structs, tables, writer and reader", write_c},
};

static const struct compiler stepc = {
    .program = "stepc",
    .title = "the compiler of STEP-DL definitions",
    .notes = "-I DIR before or behind an option: included files are looked for in DIR as well.\n"
             "Exit codes: 0 done, 1 failed, 2 usage, 3 a definition has faults\n",
    .usage = "[-I DIR] --check|--print|--doc|--json|--c|--help",
    .outputs = outputs,
    .output_count = sizeof outputs / sizeof outputs[0],
};

/* Takes -I DIR out of the arguments.  False: a directory is missing, or there are too many. */
static bool take_directories(int *count, char **arguments)
{
    int kept = 1;
    for (int i = 1; i < *count; i++) {
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
    bool valid = take_directories(&count, arguments);
    return compiler_run(&stepc, valid, count, arguments);
}
