/* SPDX-License-Identifier: Apache-2.0 */
/* Parses options and prints help. */
#include "converter/cli/arguments.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/help_text.h"
#include "converter/cli/rotated_names.h"
#include "format/core/input_file.h"
#include "format/core/nearest_word.h"

enum { HELP_COLUMN = 24 };

enum step_status arguments_fault(const struct arguments *arguments, const char *format, ...)
{
    va_list values;
    fprintf(stderr, "steptrace %s: ", arguments->help->name);
    va_start(values, format);
    report_text(format, values);
    va_end(values);
    fprintf(stderr, "\n(see `steptrace %s --help`)\n", arguments->help->name);
    return STEP_STATUS_INVALID;
}

/* What is longer than its column has the text below it. */
static void print_option(const char *left, const char *text)
{
    const int indent = HELP_COLUMN + 4;
    if (strlen(left) > HELP_COLUMN)
        printf("  %s\n%*s", left, indent, "");
    else
        printf("  %-*s  ", HELP_COLUMN, left);
    help_print_text(text, (size_t) indent);
}

void arguments_print_help(const struct arguments *arguments)
{
    printf("usage: steptrace %s ", arguments->help->name);
    help_print_text(arguments->help->operands,
                    sizeof "usage: steptrace " + strlen(arguments->help->name));
    putchar('\n');
    help_print_text(arguments->help->text, 0);
    printf("\noptions:\n");
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        char left[64];
        char letter[8] = "    ";
        if (row->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name, row->value != NULL ? "=" : "",
                 row->value != NULL ? row->value : "");
        print_option(left, row->help);
    }
    print_option("-h, --help", "print this");
}

static arguments_printer printer = arguments_print_help;

void arguments_print_with(arguments_printer print)
{
    printer = print;
}

static const char *arguments_word_at(const void *words, size_t i)
{
    return ((const char *const *) words)[i];
}

const char *nearest_word(const char *typed, const char *const *words, size_t count)
{
    return nearest_word_of(typed, arguments_word_at, words, count);
}

static const char *arguments_option_at(const void *arguments, size_t i)
{
    return ((const struct arguments *) arguments)->rows[i].name;
}

static enum step_status unknown_option(const struct arguments *arguments, const char *name,
                                       size_t length)
{
    char typed[NEAREST_WORD_LONGEST + 1];
    snprintf(typed, sizeof typed, "%.*s", (int) (length < sizeof typed ? length : 0), name);
    const char *nearest =
        nearest_word_of(typed, arguments_option_at, arguments, arguments->row_count);
    if (nearest != NULL)
        return arguments_fault(arguments, "unknown option --%s; did you mean --%s?", typed,
                               nearest);
    return arguments_fault(arguments, "unknown option --%s", name);
}

/* Suggests --html=FILE to users who type -o for a verb that has only the former. */
static enum step_status unknown_letter(const struct arguments *arguments, const char *word)
{
    for (size_t i = 0; word[1] == 'o' && i < arguments->row_count; i++)
        if (strcmp(arguments->rows[i].name, "html") == 0)
            return arguments_fault(arguments, "unknown option %s; did you mean --html=FILE?", word);
    return arguments_fault(arguments, "unknown option %s", word);
}

/* Of two rows with the same name, `--NAME=VALUE` selects the one that has a value. */
static const struct option_row *find_row(const struct arguments *arguments, const char *name,
                                         size_t length, char letter)
{
    const struct option_row *found = NULL;
    bool has_value = name[length] == '=';
    for (size_t i = 0; i < arguments->row_count; i++) {
        const struct option_row *row = &arguments->rows[i];
        bool is_named = letter != 0
                            ? row->letter == letter
                            : strlen(row->name) == length && memcmp(row->name, name, length) == 0;
        if (is_named && (found == NULL || has_value == (row->value != NULL)))
            found = row;
    }
    return found;
}

static enum step_status arguments_take_value(struct arguments *arguments,
                                             const struct option_row *row, const char *value)
{
    const char *fault = NULL;
    size_t number = (size_t) (row - arguments->rows);
    arguments->given |= number < 64 ? UINT64_C(1) << number : 0;
    if (row->take(row->target, value, &fault))
        return STEP_STATUS_OK;
    return arguments_fault(arguments, "--%s=%s: %s", row->name, value != NULL ? value : "",
                           fault != NULL ? fault : "bad value");
}

/* Parses the option at argv[*at] and moves `*at` past it and its value. */
static enum step_status parse_option(struct arguments *arguments, int argc, char **argv, int *at)
{
    const char *word = argv[(*at)++];
    bool is_long = word[1] == '-';
    const char *name = word + 1 + is_long;
    size_t length = is_long ? strcspn(name, "=") : 1;
    const char *value = NULL;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        printer(arguments);
        arguments->help_wanted = true;
        return STEP_STATUS_OK;
    }
    const struct option_row *row = find_row(arguments, name, length, is_long ? 0 : name[0]);
    if (row == NULL && is_long)
        return unknown_option(arguments, name, length);
    if (row == NULL)
        return unknown_letter(arguments, word);
    if (is_long && name[length] == '=')
        value = name + length + 1;
    else if (!is_long && name[1] != '\0')
        value = name + 1;
    if (row->value == NULL)
        return value == NULL ? arguments_take_value(arguments, row, NULL)
                             : arguments_fault(arguments, "--%s takes no value", row->name);
    if (value == NULL && *at == argc)
        return arguments_fault(arguments, "--%s needs a value", row->name);
    return arguments_take_value(arguments, row, value != NULL ? value : argv[(*at)++]);
}

static enum step_status arguments_parse(struct arguments *arguments, int argc, char **argv)
{
    enum step_status status = STEP_STATUS_OK;
    bool options_end = false;
    int at = 0;
    size_t count = 0;
    while (at < argc && status == STEP_STATUS_OK && !arguments->help_wanted) {
        if (!options_end && strcmp(argv[at], "--") == 0) {
            options_end = true;
            at++;
        } else if (!options_end && argv[at][0] == '-' && argv[at][1] != '\0') {
            status = parse_option(arguments, argc, argv, &at);
        } else {
            options_end = options_end || arguments->stop_at_operand;
            argv[count++] = argv[at++];
        }
    }
    if (count < (size_t) argc)
        argv[count] = NULL; /* argv[argc] is NULL already */
    arguments->operands = (const char **) argv;
    arguments->operand_count = count;
    return status;
}

enum step_status arguments_refuse_files(const struct arguments *arguments)
{
    for (size_t i = 1; i < arguments->operand_count; i++) {
        const char *one = arguments->operands[i - 1], *other = arguments->operands[i];
        size_t length = rotated_names_share(one, other);
        if (length != 0)
            return arguments_fault(arguments,
                                   "%s and %s are files of one recording: %.*s.step, or their "
                                   "directory, stands for all of them",
                                   one, other, (int) length, one);
    }
    return STEP_STATUS_OK;
}

static enum step_status arguments_expect(const struct arguments *arguments, size_t least,
                                         size_t most)
{
    if (arguments->operand_count < least)
        return arguments_fault(arguments, "too few arguments: %s", arguments->help->operands);
    if (arguments->operand_count > most && arguments_refuse_files(arguments) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if (arguments->operand_count > most)
        return arguments_fault(arguments, "unexpected argument '%s': %s", arguments->operands[most],
                               arguments->help->operands);
    return STEP_STATUS_OK;
}

bool arguments_read(struct arguments *arguments, int argc, char **argv, size_t least, size_t most)
{
    arguments->status = arguments_parse(arguments, argc, argv);
    if (arguments->status == STEP_STATUS_OK && !arguments->help_wanted)
        arguments->status = arguments_expect(arguments, least, most);
    return arguments->status == STEP_STATUS_OK && !arguments->help_wanted;
}

bool take_flag(void *bool_target, const char *value, const char **fault)
{
    (void) value;
    (void) fault;
    *(bool *) bool_target = true;
    return true;
}

bool take_text(void *text_target, const char *value, const char **fault)
{
    *fault = "must not be empty";
    *(const char **) text_target = value;
    return value[0] != '\0';
}

static void arguments_set_number(const struct option_number *target, unsigned value)
{
    if (target->number_bytes == sizeof(bool))
        *(bool *) target->number = value != 0;
    else
        *(unsigned *) target->number = value;
}

bool take_set(void *option_number_target, const char *value, const char **fault)
{
    const struct option_number *target = option_number_target;
    (void) value, (void) fault;
    arguments_set_number(target, target->value);
    return true;
}

/* "live, allocated or name is expected" */
static const char *words_text(const char *const *words)
{
    static char text[256];
    size_t used = 0;
    for (size_t i = 0; words[i] != NULL && used < sizeof text; i++)
        if (words[i][0] != '\0')
            used += (size_t) snprintf(text + used, sizeof text - used, "%s%s",
                                      used == 0              ? ""
                                      : words[i + 1] == NULL ? " or "
                                                             : ", ",
                                      words[i]);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, " is expected");
    return text;
}

bool take_word(void *option_number_target, const char *value, const char **fault)
{
    const struct option_number *target = option_number_target;
    *fault = words_text(target->words);
    for (unsigned i = 0; target->words[i] != NULL; i++)
        if (value[0] != '\0' && strcmp(target->words[i], value) == 0) {
            arguments_set_number(target, i);
            return true;
        }
    return false;
}

bool take_some_of(const char *const *words, size_t count, const char *value, unsigned *bits)
{
    unsigned found = 0;
    for (;; value++) {
        size_t length = strcspn(value, "+,"), i = 0;
        while (i < count && (words[i] == NULL || strlen(words[i]) != length ||
                             memcmp(words[i], value, length) != 0))
            i++;
        if (i == count)
            return false;
        found |= 1u << i;
        value += length;
        if (*value == '\0')
            break;
    }
    *bits = found;
    return true;
}

bool take_count(void *uint64_target, const char *value, const char **fault)
{
    char *end = NULL;
    *fault = "a number is expected";
    errno = 0;
    unsigned long long number = value[0] >= '0' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
    if (end == NULL || *end != '\0' || errno != 0)
        return false;
    *(uint64_t *) uint64_target = number;
    return true;
}

bool take_level(void *int_target, const char *value, const char **fault)
{
    uint64_t number;
    if (!take_count(&number, value, fault) || number < 1 || number > 19) {
        *fault = "a number from 1 to 19 is expected";
        return false;
    }
    *(int *) int_target = (int) number;
    return true;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* Parses digits, an optional decimal fraction, and a unit.  Truncates to a whole number. */
static bool take_with_unit(const struct unit *units, size_t count, const char *value, uint64_t *out)
{
    uint64_t whole = 0;
    const char *at = value;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t) (*at - '0'), &whole))
            return false;
    bool has_digits = at != value;
    uint64_t part = 0;
    uint64_t part_scale = 1;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++) {
            has_digits = true;
            if (part_scale < 1000000000) {
                part = part * 10 + (uint64_t) (*at - '0');
                part_scale *= 10;
            }
        }
    for (size_t i = 0; has_digits && i < count; i++) {
        uint64_t fraction;
        if (strcmp(at, units[i].name) != 0)
            continue;
        if (__builtin_mul_overflow(part, units[i].factor, &fraction))
            fraction = (uint64_t) ((double) part / (double) part_scale * (double) units[i].factor);
        else
            fraction /= part_scale;
        return !__builtin_mul_overflow(whole, units[i].factor, &whole) &&
               !__builtin_add_overflow(whole, fraction, out);
    }
    return false;
}

bool take_time(void *uint64_target, const char *value, const char **fault)
{
    static const struct unit units[] = {{"", 1000000000},
                                        {"ns", 1},
                                        {"us", 1000},
                                        {"ms", 1000000},
                                        {"s", 1000000000},
                                        {"m", UINT64_C(60000000000)},
                                        {"min", UINT64_C(60000000000)},
                                        {"h", UINT64_C(3600000000000)}};
    *fault = "a time as 30, 1.5s, 200ms, 3us or 10min is expected (without a unit: seconds)";
    return take_with_unit(units, sizeof units / sizeof units[0], value, uint64_target);
}

bool take_size(void *uint64_target, const char *value, const char **fault)
{
    static const struct unit units[] = {{"", 1},           {"B", 1},           {"k", 1 << 10},
                                        {"K", 1 << 10},    {"KiB", 1 << 10},   {"m", 1 << 20},
                                        {"M", 1 << 20},    {"MiB", 1 << 20},   {"g", 1 << 30},
                                        {"G", 1 << 30},    {"GiB", 1 << 30},   {"t", 1ull << 40},
                                        {"T", 1ull << 40}, {"TiB", 1ull << 40}};
    *fault = "a size as 512, 4k, 1.5m or 2GiB is expected";
    return take_with_unit(units, sizeof units / sizeof units[0], value, uint64_target);
}

/* Removes the comment and trailing blanks. */
static void trim_line(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (*at == '#' && (at == line || at[-1] == ' ' || at[-1] == '\t'))
            *at = '\0';
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        line[--length] = '\0';
}

/* Reads a line, without its end, of at most `most` bytes.  Returns false at the end of the file,
 * and with a fault. */
static bool read_line(FILE *stream, char *line, size_t most, const char **fault)
{
    size_t length = 0;
    int byte;
    while ((byte = getc(stream)) != EOF && byte != '\n' && byte != '\0' && length < most)
        line[length++] = (char) byte;
    line[length] = '\0';
    *fault = byte == '\0'                  ? "has a byte 0, so that this is no text in UTF-8"
             : byte != EOF && byte != '\n' ? "is too long"
                                           : NULL;
    return *fault == NULL && (byte != EOF || length > 0);
}

bool take_lines(const char *file, size_t most, take_line *take, void *target, char *fault,
                size_t fault_size)
{
    const char *line_fault = NULL;
    size_t number = 1;
    FILE *stream = input_file_stream(file, INPUT_STREAM);
    char *line = stream != NULL ? malloc(most + 1) : NULL;
    bool ok = line != NULL;
    if (!ok)
        snprintf(fault, fault_size, "%s", strerror(errno));
    for (; ok && read_line(stream, line, most, &line_fault); number++) {
        trim_line(line);
        ok = line[0] == '\0' || take(target, line, file, number);
    }
    if (ok && line_fault != NULL)
        snprintf(fault, fault_size, "line %zu %s", number, line_fault);
    else if (ok && ferror(stream) != 0)
        snprintf(fault, fault_size, "it cannot be read");
    ok = ok && line_fault == NULL && ferror(stream) == 0;
    free(line);
    if (stream != NULL)
        fclose(stream);
    return ok;
}
