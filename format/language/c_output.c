/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the generated header and source. */
#include "c_output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512

/* Names that a field may not have in C or C++. */
static const char *const keywords[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "NULL",
    "linux",
    "unix",
};

static bool is_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i], name) == 0)
            return true;
    return false;
}

void c_name_of_record(const char *name, char *out, size_t size)
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

static void upper_name(const char *name, char *out, size_t size)
{
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < size; i++)
        out[i] = (char) toupper((unsigned char) name[i]);
    out[i] = '\0';
}

static const char *c_name_of_field(const struct step_field *field, char *out, size_t size)
{
    snprintf(out, size, "%s%s", field->name, is_keyword(field->name) ? "_" : "");
    return out;
}

static bool has_rule(const struct step_field *field, const char *group, const char *key)
{
    return step_attributes_rule(&field->attributes, group, key, NULL, NULL);
}

/* An array is one of identifiers if its innermost elements are. */
static bool is_identifier(const struct step_field *field)
{
    struct step_field element = *field;
    size_t length = field->array_depth * sizeof "element" - (field->array_depth > 0);
    for (size_t i = 0; field->array_depth > 0 && i < field->sub_attribute_count; i++) {
        const char *path = field->sub_attributes[i].path;
        if (strlen(path) == length && strncmp(path, "element", 7) == 0 &&
            strcmp(path + length - 7, "element") == 0)
            element.attributes = field->sub_attributes[i].attributes;
    }
    return field->kind != STEP_TYPE_INT && has_rule(&element, "encoding", "identifier");
}

static bool is_unsigned(const struct step_field *field)
{
    return has_rule(field, "property", "unsigned") || has_rule(field, "property", "address") ||
           has_rule(field, "property", "time") || has_rule(field, "property", "thread") ||
           has_rule(field, "encoding", "unsigned");
}

static bool is_nested(const struct step_field *field)
{
    return field->kind == STEP_TYPE_RECORD && field->array_depth == 0 && !is_identifier(field);
}

static void find_prefix(struct c_output *output)
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
    char name[NAME_SIZE];
    for (size_t i = 0; i < record->field_count; i++) {
        c_name_of_field(&record->fields[i], name, sizeof name);
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
    static const char *const of_record[] = {"", "_put", "_get", "_define", "_look_up"};
    static const char *const of_whole[] = {"_definition", "_binding", "_bind", "_unbind",
                                           "_record"};
    char name[NAME_SIZE];
    if (record != NULL)
        c_name_of_record(record->name, name, sizeof name);
    for (size_t i = 0; i < 5; i++) {
        char *text = malloc(NAME_SIZE + 16);
        if (text == NULL)
            return false;
        snprintf(text, NAME_SIZE + 16, "%s%s", record != NULL ? name : output->base,
                 record != NULL ? of_record[i] : of_whole[i]);
        names[(*count)++] = text;
    }
    if (record != NULL)
        return true;
    names[*count] = malloc(NAME_SIZE);
    if (names[*count] == NULL)
        return false;
    snprintf(names[*count], NAME_SIZE, "%s_record_count", output->prefix);
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

bool c_output_check(struct c_output *output, const char *file_name)
{
    size_t records = output->definition->record_count, count = 0;
    char **names = calloc(5 * records + 6, sizeof *names);
    find_prefix(output);
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

static void put_comment(FILE *out, const char *indent, const char *text)
{
    if (text == NULL)
        return;
    fprintf(out, "%s/* ", indent);
    for (; *text != '\0'; text++)
        fputc((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*') ||
                      text[0] == '\n' || text[0] == '\\'
                  ? ' '
                  : text[0],
              out);
    fprintf(out, " */\n");
}

static void put_field(const struct c_output *output, FILE *out, const struct step_field *field)
{
    char name[NAME_SIZE], type[NAME_SIZE];
    put_comment(out, "    ", field->description);
    c_name_of_field(field, name, sizeof name);
    if (field->array_depth > 0) {
        fprintf(out, "    struct step_array %s;\n", name);
    } else if (is_nested(field)) {
        c_name_of_record(output->definition->records[field->record].name, type, sizeof type);
        fprintf(out, "    struct %s %s;\n", type, name);
    } else if (is_identifier(field)) {
        fprintf(out, "    uint64_t %s; /* dictionary entry */\n", name);
    } else if (field->kind == STEP_TYPE_INT) {
        fprintf(out, "    %s %s;\n", is_unsigned(field) ? "uint64_t" : "int64_t", name);
    } else {
        fprintf(out, "    struct step_bytes %s;\n", name);
    }
}

/* Structs that hold others by value come after them. */
static void put_struct(const struct c_output *output, FILE *out, uint32_t index, bool *done)
{
    const struct step_record *record = &output->definition->records[index];
    char name[NAME_SIZE];
    if (done[index])
        return;
    done[index] = true;
    for (size_t i = 0; i < record->field_count; i++)
        if (is_nested(&record->fields[i]))
            put_struct(output, out, record->fields[i].record, done);
    c_name_of_record(record->name, name, sizeof name);
    put_comment(out, "", record->description);
    fprintf(out, "struct %s {\n", name);
    for (size_t i = 0; i < record->field_count; i++)
        put_field(output, out, &record->fields[i]);
    if (record->field_count == 0)
        fprintf(out, "    char none; /* the record has no fields */\n");
    fprintf(out, "};\n\n");
}

static bool is_dictionary(const struct step_definition *definition, uint32_t index)
{
    for (size_t i = 0; i < definition->record_count; i++)
        for (size_t j = 0; j < definition->records[i].field_count; j++) {
            const struct step_field *field = &definition->records[i].fields[j];
            if (field->kind == STEP_TYPE_RECORD && field->record == index && is_identifier(field))
                return true;
        }
    return false;
}

static void put_enum(const struct c_output *output, FILE *out)
{
    char prefix[NAME_SIZE], lower[NAME_SIZE], name[NAME_SIZE];
    upper_name(output->prefix, prefix, sizeof prefix);
    fprintf(out, "/* Numbers of the records in the definition. */\nenum %s_record {\n",
            output->prefix);
    for (size_t i = 0; i < output->definition->record_count; i++) {
        c_name_of_record(output->definition->records[i].name, lower, sizeof lower);
        upper_name(lower, name, sizeof name);
        fprintf(out, "    %s = %zu,\n", name, i);
    }
    fprintf(out, "    %s_RECORD_COUNT = %zu\n};\n\n", prefix, output->definition->record_count);
}

static void put_binding_declarations(const struct c_output *output, FILE *out)
{
    const char *base = output->base;
    fprintf(out,
            "extern const struct step_definition %s_definition;\n\n"
            "/* How a file's definition maps to this one (steptrace/binding.h). */\n"
            "struct %s_binding {\n    struct step_binding *inner;\n};\n\n"
            "static inline enum step_status %s_bind(const struct step_definition *file,\n"
            "                                       struct %s_binding *binding,\n"
            "                                       struct step_error *error)\n{\n"
            "    return step_binding_create(file, &%s_definition, &binding->inner, error);\n}\n\n",
            base, base, base, base, base);
    fprintf(out,
            "static inline void %s_unbind(struct %s_binding *binding)\n{\n"
            "    step_binding_destroy(binding->inner);\n    binding->inner = NULL;\n}\n\n"
            "/* The enum %s_record of a record type of the file, or -1. */\n"
            "static inline int %s_record(const struct %s_binding *binding, uint32_t file_record)\n"
            "{\n    return step_binding_record(binding->inner, file_record);\n}\n\n",
            base, base, output->prefix, base, base);
}

static void put_declarations(const struct c_output *output, FILE *out, uint32_t index)
{
    char name[NAME_SIZE];
    c_name_of_record(output->definition->records[index].name, name, sizeof name);
    fprintf(out,
            "enum step_status %s_put(struct step_writer *writer, uint64_t stream,\n"
            "    const struct %s *record);\n"
            "bool %s_get(const struct %s_binding *binding, const struct step_record_view *view,\n"
            "    struct %s *record);\n",
            name, name, name, output->base, name);
    if (is_dictionary(output->definition, index))
        fprintf(out,
                "enum step_status %s_define(struct step_writer *writer, const struct %s *entry,\n"
                "    uint64_t *id);\n"
                "bool %s_look_up(const struct %s_binding *binding,\n"
                "    const struct step_reader *reader, uint64_t id, struct %s *entry);\n",
                name, name, name, output->base, name);
    fprintf(out, "\n");
}

void c_output_header(const struct c_output *output, FILE *out)
{
    char guard[NAME_SIZE];
    size_t count = output->definition->record_count;
    upper_name(output->base, guard, sizeof guard);
    fprintf(out,
            "/* Generated by stepc.  Do not edit. */\n"
            "#ifndef STEPC_%s_H\n#define STEPC_%s_H\n\n"
            "#include \"steptrace/binding.h\"\n#include \"steptrace/reader.h\"\n"
            "#include \"steptrace/writer.h\"\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            guard, guard);
    put_enum(output, out);
    bool *done = calloc(count + 1, sizeof *done);
    for (uint32_t i = 0; done != NULL && i < count; i++)
        put_struct(output, out, i, done);
    free(done);
    put_binding_declarations(output, out);
    fprintf(
        out,
        "/* For each record: _put appends one to a stream; _get reads one (or one that extends\n"
        " * it) from a record view, false if it is of another type.  Records that are\n"
        " * dictionaries: _define adds an entry, _look_up reads one. */\n\n");
    for (uint32_t i = 0; i < count; i++)
        put_declarations(output, out, i);
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* A C string literal, one source line for each line of the text. */
static void put_literal(FILE *out, const char *text, size_t length)
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

static void put_text(FILE *out, const char *text)
{
    if (text == NULL)
        fprintf(out, "NULL");
    else
        put_literal(out, text, strlen(text));
}

static void put_attribute_items(FILE *out, const struct step_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        fprintf(out, "    {");
        put_text(out, attributes->items[i].group);
        fprintf(out, ", ");
        put_text(out, attributes->items[i].value);
        fprintf(out, ", %u, %u},\n", attributes->items[i].line, attributes->items[i].column);
    }
}

static void put_attributes(FILE *out, const struct step_attributes *attributes, const char *name)
{
    if (attributes->count == 0)
        return;
    fprintf(out, "static const struct step_attribute %s[] = {\n", name);
    put_attribute_items(out, attributes);
    fprintf(out, "};\n");
}

static void put_attributes_use(FILE *out, const struct step_attributes *attributes,
                               const char *name)
{
    if (attributes->count == 0)
        fprintf(out, "{NULL, 0}");
    else
        fprintf(out, "{%s, %zu}", name, attributes->count);
}

static void put_sub_attributes(FILE *out, const struct step_field *field, const char *name)
{
    char item[160];
    if (field->sub_attribute_count == 0)
        return;
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        snprintf(item, sizeof item, "%s_%zu", name, i);
        put_attributes(out, &field->sub_attributes[i].attributes, item);
    }
    fprintf(out, "static const struct step_sub_attributes %s[] = {\n", name);
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        snprintf(item, sizeof item, "%s_%zu", name, i);
        fprintf(out, "    {\"%s\", ", field->sub_attributes[i].path);
        put_attributes_use(out, &field->sub_attributes[i].attributes, item);
        fprintf(out, "},\n");
    }
    fprintf(out, "};\n");
}

static void put_index(FILE *out, uint32_t index)
{
    if (index == STEP_NO_RECORD)
        fprintf(out, "STEP_NO_RECORD");
    else
        fprintf(out, "%u", index);
}

static void put_field_row(FILE *out, const struct step_field *field, uint32_t record, size_t i)
{
    static const char *const kinds[] = {"STEP_TYPE_INT", "STEP_TYPE_STRING", "STEP_TYPE_DATA",
                                        "STEP_TYPE_RECORD"};
    char name[128];
    fprintf(out, "    {\"%s\", ", field->name);
    put_text(out, field->description);
    fprintf(out, ", %s, ", kinds[field->kind]);
    put_index(out, field->record);
    fprintf(out, ", %u, %u, %s, ", field->array_depth, field->declaring_record,
            field->modified ? "true" : "false");
    snprintf(name, sizeof name, "attributes_%u_%zu", record, i);
    put_attributes_use(out, &field->attributes, name);
    if (field->sub_attribute_count != 0)
        fprintf(out, ", sub_%u_%zu, %zu},\n", record, i, field->sub_attribute_count);
    else
        fprintf(out, ", NULL, 0},\n");
}

static void put_record_tables(FILE *out, const struct step_record *record, uint32_t index)
{
    char name[128];
    snprintf(name, sizeof name, "attributes_%u", index);
    put_attributes(out, &record->attributes, name);
    for (size_t i = 0; i < record->field_count; i++) {
        snprintf(name, sizeof name, "attributes_%u_%zu", index, i);
        put_attributes(out, &record->fields[i].attributes, name);
        snprintf(name, sizeof name, "sub_%u_%zu", index, i);
        put_sub_attributes(out, &record->fields[i], name);
    }
    if (record->field_count == 0)
        return;
    fprintf(out, "static const struct step_field fields_%u[] = {\n", index);
    for (size_t i = 0; i < record->field_count; i++)
        put_field_row(out, &record->fields[i], index, i);
    fprintf(out, "};\n");
}

static void put_record_row(FILE *out, const struct step_record *record, uint32_t index)
{
    char name[128];
    fprintf(out, "    {\"%s\", ", record->name);
    put_text(out, record->label);
    fprintf(out, ", ");
    put_text(out, record->description);
    fprintf(out, ", ");
    put_index(out, record->parent);
    fprintf(out, ", ");
    snprintf(name, sizeof name, "attributes_%u", index);
    put_attributes_use(out, &record->attributes, name);
    if (record->field_count != 0)
        fprintf(out, ", fields_%u, %zu},\n", index, record->field_count);
    else
        fprintf(out, ", NULL, 0},\n");
}

/* The slot of each field, those of nested records in place: as an initialiser from `path`, or as
 * assignments to it. */
static void put_slots(const struct c_output *output, FILE *out, uint32_t index, const char *path,
                      bool assign, size_t *slot)
{
    const struct step_record *record = &output->definition->records[index];
    for (size_t i = 0; i < record->field_count; i++) {
        const struct step_field *field = &record->fields[i];
        char name[NAME_SIZE], inner[2 * NAME_SIZE];
        snprintf(inner, sizeof inner, "%.500s%.500s", path,
                 c_name_of_field(field, name, sizeof name));
        if (is_nested(field)) {
            strcat(inner, ".");
            put_slots(output, out, field->record, inner, assign, slot);
            continue;
        }
        const char *kind = field->array_depth > 0                                 ? "array"
                           : is_identifier(field) || field->kind == STEP_TYPE_INT ? NULL
                                                                                  : "bytes";
        bool is_signed = kind == NULL && !is_identifier(field) && !is_unsigned(field);
        if (assign && kind != NULL)
            fprintf(out, "    %s = *step_slot_%s(slots[%zu]);\n", inner, kind, *slot);
        else if (assign)
            fprintf(out, "    %s = %sslots[%zu];\n", inner, is_signed ? "(int64_t) " : "", *slot);
        else if (kind != NULL)
            fprintf(out, "        step_slot_of_%s(&%s),\n", kind, inner);
        else
            fprintf(out, "        %s%s,\n", is_signed ? "(uint64_t) " : "", inner);
        (*slot)++;
    }
}

static void put_slot_array(const struct c_output *output, FILE *out, uint32_t index,
                           const char *path)
{
    size_t slot = 0;
    fprintf(out, "    const uint64_t slots[] = {\n");
    put_slots(output, out, index, path, false, &slot);
    if (slot == 0)
        fprintf(out, "        0,\n");
    fprintf(out, "    };\n");
}

static void put_get(const struct c_output *output, FILE *out, uint32_t index, const char *upper,
                    const char *from, const char *path, const char *variable)
{
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    fprintf(out,
            "    uint64_t values[%zu];\n"
            "    const uint64_t *slots = %s, %s, %zu, values);\n"
            "    if (slots == NULL)\n        return false;\n",
            slots + (slots == 0), from, upper, slots);
    put_slots(output, out, index, path, true, &slot);
    if (slot == 0)
        fprintf(out, "    %s->none = 0;\n", variable);
    fprintf(out, "    return true;\n}\n\n");
}

static void put_functions(const struct c_output *output, FILE *out, uint32_t index)
{
    char name[NAME_SIZE], upper[NAME_SIZE];
    c_name_of_record(output->definition->records[index].name, name, sizeof name);
    upper_name(name, upper, sizeof upper);
    bool empty = step_record_slot_count(output->definition, index) == 0;
    fprintf(out,
            "enum step_status %s_put(struct step_writer *writer, uint64_t stream,\n"
            "    const struct %s *record)\n{\n%s",
            name, name, empty ? "    (void) record;\n" : "");
    put_slot_array(output, out, index, "record->");
    fprintf(out, "    return step_writer_put(writer, stream, %s, slots);\n}\n\n", upper);
    fprintf(out,
            "bool %s_get(const struct %s_binding *binding, const struct step_record_view *view,\n"
            "    struct %s *record)\n{\n",
            name, output->base, name);
    put_get(output, out, index, upper, "step_binding_slots(binding->inner, view", "record->",
            "record");
    if (!is_dictionary(output->definition, index))
        return;
    fprintf(out,
            "enum step_status %s_define(struct step_writer *writer, const struct %s *entry,\n"
            "    uint64_t *id)\n{\n",
            name, name);
    put_slot_array(output, out, index, "entry->");
    fprintf(out, "    return step_writer_define(writer, %s, slots, id);\n}\n\n", upper);
    fprintf(out,
            "bool %s_look_up(const struct %s_binding *binding,\n"
            "    const struct step_reader *reader, uint64_t id, struct %s *entry)\n{\n",
            name, output->base, name);
    char from[] = "step_binding_entry(binding->inner, reader";
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    fprintf(out,
            "    uint64_t values[%zu];\n"
            "    const uint64_t *slots = %s, %s, id, %zu, values);\n"
            "    if (slots == NULL)\n        return false;\n",
            slots + (slots == 0), from, upper, slots);
    put_slots(output, out, index, "entry->", true, &slot);
    if (slot == 0)
        fprintf(out, "    entry->none = 0;\n");
    fprintf(out, "    return true;\n}\n\n");
}

void c_output_source(const struct c_output *output, FILE *out)
{
    const struct step_definition *definition = output->definition;
    fprintf(out, "/* Generated by stepc.  Do not edit. */\n#include \"%s.h\"\n\n", output->file);
    for (uint32_t i = 0; i < definition->record_count; i++)
        put_record_tables(out, &definition->records[i], i);
    fprintf(out, "\nstatic const struct step_record records[] = {\n");
    for (uint32_t i = 0; i < definition->record_count; i++)
        put_record_row(out, &definition->records[i], i);
    if (definition->record_count == 0)
        fprintf(out, "    {NULL, NULL, NULL, STEP_NO_RECORD, {NULL, 0}, NULL, 0},\n");
    fprintf(out, "};\n\nstatic const char text[] =\n    ");
    put_literal(out, definition->text, definition->text_length);
    fprintf(out,
            ";\n\nconst struct step_definition %s_definition = {records, %zu, text, "
            "sizeof text - 1};\n\n",
            output->base, definition->record_count);
    for (uint32_t i = 0; i < definition->record_count; i++)
        put_functions(output, out, i);
}
