/* SPDX-License-Identifier: Apache-2.0 */
/* Generates stepc's C header: structs and declarations. */
#include <stdlib.h>

#include "compilers/stepc/stepc.h"

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

static void c_header_put_field(const struct c_output *output, FILE *out,
                               const struct step_record *record, size_t index)
{
    const struct step_field *field = &record->fields[index];
    char name[C_NAME_SIZE];
    put_comment(out, "    ", field->description);
    c_names_of_member(record, index, name, sizeof name);
    if (field->array_depth > 0) {
        fprintf(out, "    struct step_array %s;\n", name);
    } else if (step_field_is_nested(field)) {
        fprintf(out, "    struct %s %s;\n", output->names[field->record], name);
    } else if (step_field_is_variant(field)) {
        fprintf(out, "    struct step_variant %s;\n", name);
    } else if (step_field_is_identifier(field)) {
        fprintf(out, "    uint64_t %s; /* dictionary entry */\n", name);
    } else if (field->kind == STEP_TYPE_INT) {
        fprintf(out, "    %s %s;\n", step_field_is_unsigned(field) ? "uint64_t" : "int64_t", name);
    } else {
        fprintf(out, "    struct step_bytes %s;\n", name);
    }
}

/* C needs the structs that a struct contains by value before it. */
static void put_struct(const struct c_output *output, FILE *out, uint32_t index, bool *done)
{
    const struct step_record *record = &output->definition->records[index];
    if (done[index])
        return;
    done[index] = true;
    for (size_t i = 0; i < record->field_count; i++)
        if (step_field_is_nested(&record->fields[i]))
            put_struct(output, out, record->fields[i].record, done);
    put_comment(out, "", record->description);
    fprintf(out, "struct %s {\n", output->names[index]);
    for (size_t i = 0; i < record->field_count; i++)
        c_header_put_field(output, out, record, i);
    if (record->field_count == 0)
        fprintf(out, "    char none; /* the record has no fields */\n");
    fprintf(out, "};\n\n");
}

static void put_enum(const struct c_output *output, FILE *out)
{
    char prefix[C_NAME_SIZE], name[C_NAME_SIZE];
    c_names_upper(output->prefix, prefix, sizeof prefix);
    fprintf(out, "/* Numbers of the records in the definition. */\nenum %s_record {\n",
            output->prefix);
    for (size_t i = 0; i < output->definition->record_count; i++) {
        c_names_upper(output->names[i], name, sizeof name);
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

/* Writes wrappers that create, open, read and close trace files, so that programs need not use the
 * reader and the writer directly. */
static void put_file_functions(const struct c_output *output, FILE *out)
{
    const char *base = output->base;
    fprintf(
        out,
        "/* A trace file for these records; step_writer_close() completes it. */\n"
        "static inline enum step_status %s_create(const char *path, struct step_writer **writer,\n"
        "                                         struct step_error *error)\n{\n"
        "    struct step_writer_options options;\n"
        "    step_writer_options_init(&options);\n"
        "    options.definition = &%s_definition;\n"
        "    return step_writer_open(path, &options, writer, error);\n}\n\n",
        base, base);
    fprintf(out,
            "/* All records of a trace, of this definition or an older or newer one, by time. */\n"
            "struct %s_reader {\n    struct step_reader *file;\n"
            "    struct step_selection *selection; /* NULL: all records */\n"
            "    struct step_records *records;\n    struct %s_binding binding;\n"
            "    enum step_status status; /* the first failure, or OK */\n};\n\n"
            "/* Returns the first failure of _open and _next: not OK where the trace could\n"
            " * not be read, or not all of it. */\n"
            "static inline enum step_status %s_close(struct %s_reader *reader)\n{\n"
            "    step_records_destroy(reader->records);\n"
            "    step_selection_destroy(reader->selection);\n    %s_unbind(&reader->binding);\n"
            "    step_reader_destroy(reader->file);\n    reader->records = NULL;\n"
            "    reader->selection = NULL;\n    reader->file = NULL;\n"
            "    return reader->status;\n}\n\n",
            base, base, base, base, base);
    fprintf(
        out,
        "static inline enum step_status %s_open(const char *path, struct %s_reader *reader,\n"
        "                                       struct step_error *error)\n{\n"
        "    reader->file = NULL;\n    reader->selection = NULL;\n    reader->records = NULL;\n"
        "    reader->binding.inner = NULL;\n    reader->status = STEP_STATUS_OK;\n"
        "    enum step_status status = step_reader_open(path, &reader->file, error);\n"
        "    if (status == STEP_STATUS_OK)\n"
        "        status = %s_bind(step_reader_borrow_definition(reader->file), &reader->binding,\n"
        "                         error);\n"
        "    if (status == STEP_STATUS_OK)\n"
        "        status = step_records_create(reader->file, NULL, &reader->records, error);\n"
        "    if (status != STEP_STATUS_OK) {\n        reader->status = status;\n"
        "        %s_close(reader);\n    }\n    return status;\n}\n\n",
        base, base, base, base);
    fprintf(
        out,
        "/* From here on only records of these names in the file's definition, and those that\n"
        " * extend them; with `maps` also those that a map attribute makes one.  From the first\n"
        " * record on. */\n"
        "static inline enum step_status %s_ask(struct %s_reader *reader,\n"
        "                                      const char *const *names, size_t count,\n"
        "                                      bool maps, struct step_error *error)\n{\n"
        "    step_records_destroy(reader->records);\n"
        "    step_selection_destroy(reader->selection);\n"
        "    reader->records = NULL;\n    reader->selection = NULL;\n"
        "    enum step_status status =\n"
        "        step_selection_create(step_reader_borrow_definition(reader->file), names, count,\n"
        "                              maps, &reader->selection, error);\n"
        "    if (status == STEP_STATUS_OK)\n"
        "        status = step_records_create(reader->file, reader->selection, &reader->records,\n"
        "                                     error);\n"
        "    return status;\n}\n\n",
        base, base);
    fprintf(
        out,
        "/* The next record for the _get functions, or END.  Damage is an error, reported once "
        "where\n"
        " * it is come to: CORRUPT for what cannot be read, CUT at the end of a trace that was\n"
        " * not closed.  Call again, and the reader goes on with what is behind it. */\n"
        "static inline enum step_status %s_next(struct %s_reader *reader,\n"
        "                                       struct step_record_view *view,\n"
        "                                       struct step_error *error)\n{\n"
        "    if (reader->records == NULL)\n        return STEP_STATUS_END;\n"
        "    enum step_status status = step_records_next_checked(reader->records, view, error);\n"
        "    if (status != STEP_STATUS_OK && status != STEP_STATUS_END &&\n"
        "        reader->status == STEP_STATUS_OK)\n        reader->status = status;\n"
        "    return status;\n}\n\n",
        base, base);
}

static void put_declarations(const struct c_output *output, FILE *out, uint32_t index)
{
    const char *name = output->names[index];
    char upper[C_NAME_SIZE];
    c_names_upper(name, upper, sizeof upper);
    fprintf(out,
            "enum step_status %s_put(struct step_writer *writer, uint64_t stream,\n"
            "    const struct %s *record);\n"
            "bool %s_get(const struct %s_binding *binding, const struct step_record_view *view,\n"
            "    struct %s *record);\n",
            name, name, name, output->base, name);
    fprintf(out,
            "enum { %s_SLOT_COUNT = %zu };\n"
            "void %s_put_slots(const struct %s *record, uint64_t *out);\n"
            "bool %s_get_element(const struct step_array *array, size_t index,\n"
            "    struct %s *record);\n"
            "bool %s_get_variant(const struct %s_binding *binding,\n"
            "    const struct step_variant *variant, struct %s *record);\n",
            upper, step_record_slot_count(output->definition, index), name, name, name, name, name,
            output->base, name);
    if (output->is_dictionary[index])
        fprintf(out,
                "enum step_status %s_define(struct step_writer *writer, const struct %s *entry,\n"
                "    uint64_t *id);\n"
                "bool %s_look_up(const struct %s_binding *binding,\n"
                "    const struct step_reader *reader, uint64_t id, struct %s *entry);\n",
                name, name, name, output->base, name);
    fprintf(out, "\n");
}

void c_output_header(const void *user, FILE *out)
{
    const struct c_output *output = user;
    char guard[C_NAME_SIZE];
    size_t count = output->definition->record_count;
    c_names_upper(output->base, guard, sizeof guard);
    fprintf(out,
            "/* Generated by stepc.  Do not edit. */\n"
            "#ifndef STEPC_%s_H\n#define STEPC_%s_H\n\n"
            "#include \"steptrace/binding.h\"\n#include \"steptrace/reader.h\"\n"
            "#include \"steptrace/records.h\"\n#include \"steptrace/writer.h\"\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            guard, guard);
    put_enum(output, out);
    bool *done = calloc(count + 1, sizeof *done);
    for (uint32_t i = 0; done != NULL && i < count; i++)
        put_struct(output, out, i, done);
    free(done);
    put_binding_declarations(output, out);
    put_file_functions(output, out);
    fprintf(
        out,
        "/* For each record: _put appends one to a stream; _get reads one (or one that extends\n"
        " * it) from a record view, false if it is of another type.  Records that are\n"
        " * dictionaries: _define adds an entry, _look_up reads one.  In arrays and variants:\n"
        " * _put_slots makes _SLOT_COUNT slots of a record, which live as long as it does;\n"
        " * _get_element reads an element of an array of records, false beyond its end;\n"
        " * _get_variant reads a variant, false if it is of another type, or none. */\n\n");
    for (uint32_t i = 0; i < count; i++)
        put_declarations(output, out, i);
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
