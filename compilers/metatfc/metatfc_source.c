/* SPDX-License-Identifier: Apache-2.0 */
/* Generates metatfc's source: tables, three functions for each record, three for all. */
#include "compilers/metatfc/metatfc_source.h"

void mc_write_source(const void *user, FILE *out)
{
    const struct mc_model *model = user;
    fprintf(out, "/* Made by metatfc from %s.  Do not edit. */\n", model->source);
    fprintf(out, "#include \"%s.h\"\n\n#include <steptrace/metatf_code.h>\n\n", model->file);
    mc_write_tables(model, out);
    fprintf(out,
            "struct list {\n    struct metatf_value *values;\n    size_t capacity;\n"
            "    size_t count;\n};\n\n"
            "static inline void add_value(struct list *list, uint64_t number, struct step_bytes "
            "bytes)\n{\n    if (list->count < list->capacity)\n"
            "        list->values[list->count] = (struct metatf_value){number, bytes};\n"
            "    list->count++;\n}\n\n");
    for (size_t i = 0; i < model->record_count; i++) {
        mc_write_reader(&model->records[i], out);
        mc_write_writer(&model->records[i], out);
        if (!model->records[i].is_shared)
            mc_write_list(&model->records[i], out);
    }
    mc_write_get(model, out);
    mc_write_put(model, out);
    mc_write_values(model, out);
}
