/* SPDX-License-Identifier: Apache-2.0 */
/* The names that things of a definition have in C, and that no two are the same. */
#include "c_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names that a field may not have in C or C++, between blanks. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq NULL linux unix ";

static bool is_keyword(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(keywords, name); at != NULL; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[length] == ' ')
            return length > 0;
    return false;
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
    if (is_keyword(out)) {
        out[used] = '_';
        out[used + 1] = '\0';
    }
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
    snprintf(out, size, "%s%s", field->name, is_keyword(field->name) ? "_" : "");
    return out;
}

void c_names_find_prefix(struct c_output *output)
{
    const struct step_definition *definition = output->definition;
    const char *first = definition->record_count > 0 ? definition->records[0].name : "";
    size_t length = strcspn(first, ".");
    bool shared = first[length] == '.';
    for (size_t i = 0; i < definition->record_count; i++)
        shared = shared && strncmp(definition->records[i].name, first, length + 1) == 0;
    snprintf(output->prefix, sizeof output->prefix, "%.*s", shared ? (int) length : 120,
             shared ? first : output->base);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *) left, *(char *const *) right);
}

/* Two fields of one record that a '_' behind a keyword makes the same. */
static bool check_fields(const struct step_record *record, const char *file_name)
{
    char name[C_NAME_SIZE];
    for (size_t i = 0; i < record->field_count; i++) {
        c_names_of_field(&record->fields[i], name, sizeof name);
        if (strlen(record->fields[i].name) + 2 > sizeof name) {
            fprintf(stderr, "%s: a name in record %s is too long for C\n", file_name, record->name);
            return false;
        }
        if (is_keyword(record->fields[i].name) &&
            step_record_find_field(record, name) != SIZE_MAX) {
            fprintf(stderr, "%s: two fields of record %s have the C name %s\n", file_name,
                    record->name, name);
            return false;
        }
    }
    return true;
}

/* All that the header declares for the record, or (NULL) for the whole. */
static bool list_names(const struct c_output *output, const struct step_record *record,
                       char **names, size_t *count)
{
    static const char *const of_record[] = {"", "_put", "_get", "_define", "_look_up", NULL};
    static const char *const of_whole[] = {"_definition", "_binding", "_bind",   "_unbind",
                                           "_record",     "_create",  "_reader", "_open",
                                           "_next",       "_close",   "_ask",    NULL};
    const char *const *endings = record != NULL ? of_record : of_whole;
    char name[C_NAME_SIZE];
    if (record != NULL)
        c_names_of_record(record->name, name, sizeof name);
    for (; *endings != NULL; endings++) {
        char *text = malloc(C_NAME_SIZE + 16);
        if (text == NULL)
            return false;
        snprintf(text, C_NAME_SIZE + 16, "%s%s", record != NULL ? name : output->base, *endings);
        names[(*count)++] = text;
    }
    if (record != NULL)
        return true;
    names[*count] = malloc(C_NAME_SIZE);
    if (names[*count] == NULL)
        return false;
    snprintf(names[*count], C_NAME_SIZE, "%s_record_count", output->prefix);
    for (char *at = names[*count]; *at != '\0'; at++)
        *at = (char) tolower((unsigned char) *at);
    (*count)++;
    return true;
}

static bool check_names(char **names, size_t count, const char *file_name)
{
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(names[i - 1], names[i]) == 0) {
            fprintf(stderr, "%s: two things have the C name %s\n", file_name, names[i]);
            return false;
        }
        if (strncmp(names[i], "step_", 5) == 0) {
            fprintf(stderr, "%s: the C name %s is the library's: they begin with step_\n",
                    file_name, names[i]);
            return false;
        }
    }
    return true;
}

bool c_names_check(struct c_output *output, const char *file_name)
{
    size_t records = output->definition->record_count, count = 0;
    char **names = calloc(5 * records + 12, sizeof *names);
    bool good = names != NULL && list_names(output, NULL, names, &count);
    for (size_t i = 0; good && i < records; i++)
        good = list_names(output, &output->definition->records[i], names, &count);
    if (!good)
        fprintf(stderr, "%s: out of memory\n", file_name);
    good = good && check_names(names, count, file_name);
    for (size_t i = 0; good && i < records; i++)
        good = check_fields(&output->definition->records[i], file_name);
    while (count-- > 0)
        free(names[count]);
    free(names);
    return good;
}
