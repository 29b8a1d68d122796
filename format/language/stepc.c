/* SPDX-License-Identifier: Apache-2.0 */
/* stepc, the STEP-DL compiler: checks definitions and writes them in other forms. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "c_output.h"

#ifndef STEPTRACE_VERSION
#define STEPTRACE_VERSION "0.1.0"
#endif

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3 };

#define TEXT_LIMIT ((size_t) 16 << 20)

static void report_fault(void *user, const char *name, uint32_t line, uint32_t column,
                         const char *message)
{
    (void) user;
    fprintf(stderr, "%s:%u:%u: %s\n", name, line, column, message);
}

static char *read_text(const char *path, size_t *length)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = file != NULL ? malloc(TEXT_LIMIT + 1) : NULL;
    *length = text != NULL ? fread(text, 1, TEXT_LIMIT + 1, file) : 0;
    if (text == NULL || ferror(file) || *length > TEXT_LIMIT) {
        fprintf(stderr, "%s: %s\n", path,
                *length > TEXT_LIMIT ? "longer than 16 MiB" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL && file != stdin)
        fclose(file);
    return text;
}

/* NULL: said why; `*code` is the exit code. */
static struct step_definition *parse_file(const char *path, int *code)
{
    size_t length;
    char *text = read_text(path, &length);
    struct step_definition *definition = NULL;
    *code = EXIT_FAILED;
    if (text == NULL)
        return NULL;
    struct step_error error = {.status = STEP_STATUS_OK};
    enum step_status status =
        step_definition_parse(text, length, path, report_fault, NULL, &definition, &error);
    if (status != STEP_STATUS_OK) {
        *code = status == STEP_STATUS_INVALID ? EXIT_BAD_INPUT : EXIT_FAILED;
        if (status != STEP_STATUS_INVALID)
            fprintf(stderr, "%s: %s\n", path, error.message);
    }
    free(text);
    return definition;
}

/* Writes one file under a temporary name and renames it. */
static bool write_file(const struct c_output *output, const char *base, const char *ending,
                       void (*write)(const struct c_output *output, FILE *out))
{
    char path[4096], temporary[4200];
    snprintf(path, sizeof path, "%s.%s", base, ending);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long) getpid());
    FILE *file = fopen(temporary, "w");
    if (file != NULL) {
        write(output, file);
        bool good = !ferror(file);
        good = fclose(file) == 0 && good;
        if (good && rename(temporary, path) == 0)
            return true;
    }
    fprintf(stderr, "stepc: %s: %s\n", path, strerror(errno));
    unlink(temporary);
    return false;
}

/* "my-trace" to "my_trace". */
static bool make_base(struct c_output *output)
{
    size_t length = strlen(output->file);
    if (length == 0 || length > 100 || strpbrk(output->file, "\"\\\n") != NULL) {
        fprintf(stderr, "stepc: '%s' does not do as the name of C files\n", output->file);
        return false;
    }
    bool digit = isdigit((unsigned char) output->file[0]) != 0;
    snprintf(output->base, sizeof output->base, "%s%s", digit ? "n" : "", output->file);
    for (char *at = output->base; *at != '\0'; at++)
        if (!isalnum((unsigned char) *at))
            *at = '_';
    return true;
}

static int write_c(int count, char **arguments)
{
    int code;
    if (count != 2)
        return EXIT_USAGE;
    struct step_definition *definition = parse_file(arguments[1], &code);
    if (definition == NULL)
        return code;
    const char *slash = strrchr(arguments[0], '/');
    struct c_output output = {.definition = definition,
                              .file = slash != NULL ? slash + 1 : arguments[0]};
    if (!make_base(&output)) {
        step_definition_destroy(definition);
        return EXIT_USAGE;
    }
    code = EXIT_DONE;
    if (!c_output_check(&output, arguments[1]))
        code = EXIT_BAD_INPUT;
    else if (!write_file(&output, arguments[0], "h", c_output_header) ||
             !write_file(&output, arguments[0], "c", c_output_source))
        code = EXIT_FAILED;
    step_definition_destroy(definition);
    return code;
}

static int check_files(int count, char **arguments)
{
    int worst = EXIT_DONE;
    if (count < 1)
        return EXIT_USAGE;
    for (int i = 0; i < count; i++) {
        int code = EXIT_DONE;
        struct step_definition *definition = parse_file(arguments[i], &code);
        if (definition == NULL)
            worst = code > worst ? code : worst;
        step_definition_destroy(definition);
    }
    return worst;
}

static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fprintf(stderr, "stepc: standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}

static int print_version(int count, char **arguments)
{
    (void) arguments;
    if (count != 0)
        return EXIT_USAGE;
    printf("stepc %s\n", STEPTRACE_VERSION);
    return finish_output();
}

static int print_help(int count, char **arguments);

static const struct output {
    const char *option;
    const char *arguments;
    const char *meaning;
    int (*run)(int count, char **arguments);
} outputs[] = {
    {"--check", "FILE...", "checks definitions", check_files},
    {"--c", "BASE FILE", "writes BASE.h and BASE.c: structs, tables, writer and reader", write_c},
    {"--version", "", "says which version this is", print_version},
    {"--help", "", "says this", print_help},
};

static int print_help(int count, char **arguments)
{
    (void) arguments;
    if (count != 0)
        return EXIT_USAGE;
    printf("stepc, the compiler of STEP-DL definitions\n\n");
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        printf("  stepc %-10s %-10s %s\n", outputs[i].option, outputs[i].arguments,
               outputs[i].meaning);
    printf("\nExit codes: 0 done, 1 failed, 2 usage, 3 a definition has faults\n");
    return finish_output();
}

int main(int count, char **arguments)
{
    for (size_t i = 0; count > 1 && i < sizeof outputs / sizeof outputs[0]; i++) {
        if (strcmp(arguments[1], outputs[i].option) != 0)
            continue;
        int code = outputs[i].run(count - 2, arguments + 2);
        if (code == EXIT_USAGE)
            fprintf(stderr, "usage: stepc %s %s\n", outputs[i].option, outputs[i].arguments);
        return code;
    }
    fprintf(stderr, "usage: stepc --check|--c|--help ... (see stepc --help)\n");
    return EXIT_USAGE;
}
