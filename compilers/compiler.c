/* SPDX-License-Identifier: Apache-2.0 */
/* Command line, fault reports, output files and names in C of the compilers stepc and metatfc. */
#include "compilers/compiler.h"
#include "format/core/input_file.h"
#include "format/core/output_place.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *compiler_read_text(const char *program, const char *path, size_t limit, size_t *length)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : input_file_stream(path, INPUT_STREAM);
    char *text = file != NULL ? malloc(limit + 1) : NULL;
    *length = text != NULL ? fread(text, 1, limit + 1, file) : 0;
    if (text == NULL || ferror(file)) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL && file != stdin)
        fclose(file);
    return text;
}

int compiler_finish_output(const char *program)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
    return EXIT_FAILED;
}

static const struct compiler_output version = {
    .option = "--version", .arguments = "", .meaning = "prints the version"};
static const struct compiler_output help = {
    .option = "--help", .arguments = "", .meaning = "says this"};

static void print_option(const char *program, const struct compiler_output *output)
{
    printf("  %s %-10s %-10s %s\n", program, output->option, output->arguments, output->meaning);
}

static int print_help(const struct compiler *compiler)
{
    printf("%s, %s\n\n", compiler->program, compiler->title);
    for (size_t i = 0; i < compiler->output_count; i++)
        print_option(compiler->program, &compiler->outputs[i]);
    print_option(compiler->program, &version);
    print_option(compiler->program, &help);
    printf("\n%s", compiler->notes);
    return compiler_finish_output(compiler->program);
}

/* Returns the output with that option, or NULL. */
static const struct compiler_output *find_output(const struct compiler *compiler,
                                                 const char *option)
{
    if (strcmp(option, version.option) == 0)
        return &version;
    if (strcmp(option, help.option) == 0)
        return &help;
    for (size_t i = 0; i < compiler->output_count; i++)
        if (strcmp(option, compiler->outputs[i].option) == 0)
            return &compiler->outputs[i];
    return NULL;
}

static int check_files(int count, char **arguments, int (*check)(const char *path))
{
    int worst = EXIT_DONE;
    if (count < 1)
        return EXIT_USAGE;
    for (int i = 0; i < count; i++) {
        int code = check(arguments[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int run_output(const struct compiler *compiler, const struct compiler_output *output,
                      int count, char **arguments)
{
    if (output->check != NULL)
        return check_files(count, arguments, output->check);
    if (output->run != NULL)
        return output->run(count, arguments);
    if (count != 0)
        return EXIT_USAGE;
    if (output == &help)
        return print_help(compiler);
    printf("%s %s\n", compiler->program, STEPTRACE_VERSION);
    return compiler_finish_output(compiler->program);
}

static void compiler_go_on(int signal_number)
{
    (void) signal_number;
}

int compiler_run(const struct compiler *compiler, bool valid, int count, char **arguments)
{
    signal(SIGXFSZ, compiler_go_on); /* a limit of file sizes is an error of the write */
    const struct compiler_output *output =
        valid && count > 1 ? find_output(compiler, arguments[1]) : NULL;
    if (output == NULL) {
        fprintf(stderr, "usage: %s %s ... (see %s --help)\n", compiler->program, compiler->usage,
                compiler->program);
        return EXIT_USAGE;
    }
    int code = run_output(compiler, output, count - 2, arguments + 2);
    if (code == EXIT_USAGE)
        fprintf(stderr, "usage: %s %s %s\n", compiler->program, output->option, output->arguments);
    return code;
}

/* Prints the line, with a caret below the fault.  Tabs before it stay tabs, so that the caret is
 * aligned. */
static void show_line(const struct step_fault *fault)
{
    const size_t most = 200;
    size_t from = 0, caret = fault->text_column - 1;
    if (caret > fault->text_length)
        caret = fault->text_length;
    if (caret > most / 2 && fault->text_length > most)
        from = caret - most / 2;
    size_t length = fault->text_length - from < most ? fault->text_length - from : most;
    fputs("  ", stderr);
    for (size_t i = from; i < from + length; i++)
        fputc((unsigned char) fault->text[i] < ' ' && fault->text[i] != '\t' ? ' ' : fault->text[i],
              stderr);
    fputs("\n  ", stderr);
    for (size_t i = from; i < caret; i++)
        if (((unsigned char) fault->text[i] & 0xc0) != 0x80)
            fputc(fault->text[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
}

void compiler_report_fault(void *user, const struct step_fault *fault)
{
    (void) user;
    fprintf(stderr, "%s:%u:%u: ", fault->name, fault->line, fault->column);
    for (const char *at = fault->message; *at != '\0'; at++)
        fputc((unsigned char) *at < ' ' || *at == 0x7f ? ' ' : *at, stderr);
    fputc('\n', stderr);
    if (fault->text_length > 0)
        show_line(fault);
}

/* Prints into the open file, which it closes. */
static bool print_file(int descriptor, compiler_write write, const void *user)
{
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL) {
        close(descriptor);
        return false;
    }
    write(user, file);
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

static bool compiler_write_file(const char *program, const char *base, const char *ending,
                                compiler_write write, const void *user)
{
    char path[4096], temporary[4200];
    struct output_place place;
    struct stat made;
    snprintf(path, sizeof path, "%s.%s", base, ending);
    bool is_found = output_place_find(&place, path, OUTPUT_PLACE_REPLACED, NULL) == STEP_STATUS_OK;
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", is_found ? place.name : "",
             (long) getpid());
    int file = is_found ? output_place_make_named(&place, temporary, 0666) : -1;
    bool is_made = file >= 0 && fstat(file, &made) == 0;
    bool done =
        is_made && print_file(file, write, user) && output_place_put(&place, temporary, &made);
    if (!done)
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
    if (is_made && !done)
        output_place_remove(place.directory, temporary, &made);
    if (is_found)
        output_place_reset(&place);
    return done;
}

bool compiler_write_files(const char *program, const char *base, compiler_write header,
                          compiler_write source, const void *user)
{
    return compiler_write_file(program, base, "h", header, user) &&
           compiler_write_file(program, base, "c", source, user);
}

void c_literal_put(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) text[i];
        if (c == '\n')
            fprintf(out, "\\n%s", i + 1 < length ? "\"\n    \"" : "");
        else if (c == '"' || c == '\\' || c == '?')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static bool begins_c_name(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > COMPILER_PREFIX_LIMIT || isdigit((unsigned char) text[0]))
        return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char) *text) && *text != '_')
            return false;
    return true;
}

bool compiler_take_prefix(int *count, char **arguments, const char **prefix)
{
    int kept = 1;
    *prefix = "";
    for (int i = 1; i < *count; i++) {
        if (strcmp(arguments[i], "--prefix") != 0) {
            arguments[kept++] = arguments[i];
            continue;
        }
        if (++i == *count || !begins_c_name(arguments[i]))
            return false;
        *prefix = arguments[i];
    }
    *count = kept;
    return true;
}

const char *compiler_base(const char *program, const char *path, const char *prefix, char *name)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    size_t length = strlen(file);
    if (length == 0 || length > 100 || strpbrk(file, "\"\\\n") != NULL) {
        fprintf(stderr, "%s: '%s' cannot be used as the name of C files\n", program, file);
        return NULL;
    }
    bool digit = *prefix == '\0' && isdigit((unsigned char) file[0]) != 0;
    snprintf(name, COMPILER_BASE_SIZE, "%s%s%s", prefix, digit ? "n" : "", file);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char) *at))
            *at = '_';
    return file;
}

void c_names_of_record(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; name[i] != '\0' && used + 3 < size; i++) {
        unsigned char c = (unsigned char) name[i];
        bool after_lower =
            i > 0 && (islower((unsigned char) name[i - 1]) || isdigit((unsigned char) name[i - 1]));
        bool before_lower =
            i > 0 && isupper((unsigned char) name[i - 1]) && islower((unsigned char) name[i + 1]);
        if (isupper(c) && (after_lower || before_lower))
            out[used++] = '_';
        out[used++] = c == '.' ? '_' : (char) tolower(c);
    }
    out[used] = '\0';
}

void c_names_upper(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < size; i++)
        out[i] = (char) toupper((unsigned char) name[i]);
    out[i] = '\0';
}

const char *c_names_of_field(const struct step_field *field, char *out, size_t size)
{
    snprintf(out, size, "%s%s", field->name, c_names_is_reserved(field->name) ? "_" : "");
    return out;
}

/* Returns the field's own name, or, if that is reserved, the name with enough underscores to be
 * unique among the fields. */
const char *c_names_of_member(const struct step_record *record, size_t field, char *out,
                              size_t size)
{
    c_names_of_field(&record->fields[field], out, size);
    if (!c_names_is_reserved(record->fields[field].name))
        return out;
    while (step_record_find_field(record, out) != SIZE_MAX && strlen(out) + 2 < size)
        strcat(out, "_");
    return out;
}
