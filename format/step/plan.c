/* SPDX-License-Identifier: Apache-2.0 */
/* From a definition to columns. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "packed_strings.h"

enum { MAX_FIELDS = 1 << 22, MAX_NODES = 1 << 18, PATH_BYTES = 512 };

/* Where the builder is: inside `field`, at `path` of it ("" is the field itself), which may itself
 * be a field of a record that is the value at `outer`. */
struct scope {
    const struct step_field *field;
    const char *path;
    const struct scope *outer;
};

struct builder {
    struct step_plan *plan;
    const struct step_definition *definition;
    uint32_t column_capacity;
    uint32_t node_capacity;
    uint32_t child_capacity;
    uint32_t record; /* whose field is being built */
    uint32_t field;
    uint32_t leaf;
    struct step_error *error;
};

/* Makes room for one more item; the arrays are plain data. */
static bool make_room(void **items, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t grown = *capacity * 2 + 16;
    void *moved = realloc(*items, grown * size);
    if (moved == NULL)
        return false;
    *items = moved;
    *capacity = grown;
    return true;
}

static enum step_status fail(struct builder *builder, enum step_status status, const char *what)
{
    const struct step_record *record = &builder->definition->records[builder->record];
    const char *field =
        builder->field < record->field_count ? record->fields[builder->field].name : NULL;
    return step_error_set(builder->error, status, NULL, STEP_NO_OFFSET, "record %s%s%s: %s",
                          record->name, field != NULL ? ", field " : "", field != NULL ? field : "",
                          what);
}

static const struct step_attributes *find_sub(const struct step_field *field, const char *path)
{
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        if (strcmp(field->sub_attributes[i].path, path) == 0)
            return &field->sub_attributes[i].attributes;
    return NULL;
}

/* The attributes of the innermost element of a field: its own, or those of its array's element. */
static void read_own_wish(const struct step_field *field, const char *path,
                          struct step_field_wish *wish)
{
    const struct step_attributes *sub = path[0] != '\0' ? find_sub(field, path) : NULL;
    if (sub != NULL)
        step_wish_read(sub, wish);
    else
        step_wish_read(&field->attributes, wish);
}

static void read_outer_wish(const struct scope *scope, const char *path,
                            struct step_field_wish *wish)
{
    if (scope == NULL)
        return;
    char longer[PATH_BYTES];
    int length = snprintf(longer, sizeof longer, "%s%s%s", scope->path,
                          scope->path[0] != '\0' ? "." : "", path);
    if (length < 0 || length >= PATH_BYTES)
        return;
    if (scope->outer != NULL) {
        char outermost[PATH_BYTES];
        length = snprintf(outermost, sizeof outermost, "%s.%s", scope->field->name, longer);
        if (length >= 0 && length < PATH_BYTES)
            read_outer_wish(scope->outer, outermost, wish);
    }
    const struct step_attributes *sub = find_sub(scope->field, longer);
    if (sub != NULL)
        step_wish_read(sub, wish);
}

static struct step_field_wish wish_of(const struct scope *scope, bool is_signed)
{
    struct step_field_wish wish = {.column = {.is_signed = is_signed}};
    read_own_wish(scope->field, scope->path, &wish);
    if (scope->outer != NULL) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s%s%s", scope->field->name,
                              scope->path[0] != '\0' ? "." : "", scope->path);
        if (length >= 0 && length < PATH_BYTES)
            read_outer_wish(scope->outer, path, &wish);
    }
    return wish;
}

static struct step_field_wish length_wish(const struct scope *scope)
{
    struct step_field_wish wish = {0};
    read_outer_wish(scope, "length", &wish);
    wish.is_time = wish.is_thread = false;
    wish.given = NULL;
    wish.policy.is_unsigned = true;
    wish.policy.strings = 0;
    wish.policy.resolution = wish.resolution = 0;
    return wish;
}

/* A dictionary's numbers are identifiers by themselves. */
static void settle_identifier(struct step_field_wish *wish)
{
    struct step_policy *policy = &wish->policy;
    if (policy->general == STEP_IDENTIFIER)
        policy->general = STEP_GENERAL_NONE;
    policy->size = STEP_SIZE_CREEP;
    policy->is_unsigned = true;
    policy->resolution = wish->resolution = 0;
}

static enum step_status add_column(struct builder *builder, enum step_column_kind kind,
                                   bool in_array, const struct step_field_wish *wish,
                                   uint32_t *column)
{
    struct step_plan *plan = builder->plan;
    if (plan->column_count >= STEP_MAX_COLUMNS)
        return fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
    if (!make_room((void **) &plan->columns, &builder->column_capacity, plan->column_count,
                   sizeof *plan->columns))
        return STEP_STATUS_NO_MEMORY;
    *column = plan->column_count++;
    plan->columns[*column] = (struct step_plan_column){
        .kind = kind,
        .record = builder->record,
        .field = builder->field,
        .leaf = builder->leaf++,
        .in_array = in_array,
        .given_field = STEP_NO_INDEX,
        .given_column = STEP_NO_INDEX,
        .stack_record = STEP_NO_INDEX,
        .age_column = STEP_NO_INDEX,
        .wish = *wish,
    };
    return STEP_STATUS_OK;
}

static enum step_status add_node(struct builder *builder, struct step_plan_node node,
                                 uint32_t *index)
{
    struct step_plan *plan = builder->plan;
    if (plan->node_count >= MAX_NODES)
        return fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
    if (!make_room((void **) &plan->nodes, &builder->node_capacity, plan->node_count,
                   sizeof *plan->nodes))
        return STEP_STATUS_NO_MEMORY;
    *index = plan->node_count++;
    plan->nodes[*index] = node;
    return STEP_STATUS_OK;
}

/* Reserves `count` consecutive children, to be filled in by the caller. */
static enum step_status add_children(struct builder *builder, uint32_t count, uint32_t *first)
{
    struct step_plan *plan = builder->plan;
    *first = plan->child_count;
    for (uint32_t i = 0; i < count; i++) {
        if (plan->child_count >= MAX_NODES)
            return fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
        if (!make_room((void **) &plan->children, &builder->child_capacity, plan->child_count,
                       sizeof *plan->children))
            return STEP_STATUS_NO_MEMORY;
        plan->children[plan->child_count++] = 0;
    }
    return STEP_STATUS_OK;
}

static enum step_status build_element(struct builder *builder, const struct scope *scope,
                                      uint32_t array_depth, bool in_array, uint32_t nesting,
                                      uint32_t *index);

static enum step_status build_array(struct builder *builder, const struct scope *scope,
                                    uint32_t array_depth, bool in_array, uint32_t nesting,
                                    uint32_t *index)
{
    struct step_plan_node node = {STEP_NODE_ARRAY, 0, 1, 1, 0, STEP_NO_INDEX};
    struct step_field_wish wish = length_wish(scope);
    enum step_status status =
        add_column(builder, STEP_COLUMN_LENGTHS, in_array, &wish, &node.column);
    if (status == STEP_STATUS_OK)
        status = add_children(builder, 1, &node.first_child);
    if (status != STEP_STATUS_OK)
        return status;
    char path[PATH_BYTES];
    int length =
        snprintf(path, sizeof path, "%s%selement", scope->path, scope->path[0] != '\0' ? "." : "");
    if (length < 0 || length >= PATH_BYTES)
        return fail(builder, STEP_STATUS_LIMIT, "nested too deeply");
    struct scope inner = {scope->field, path, scope->outer};
    uint32_t element;
    status = build_element(builder, &inner, array_depth - 1, true, nesting + 1, &element);
    if (status != STEP_STATUS_OK)
        return status;
    builder->plan->children[node.first_child] = element;
    return add_node(builder, node, index);
}

/* `given` among the fields of one nested record: only a single value that stands before. */
static void resolve_nested_given(struct builder *builder, const struct step_record *record,
                                 size_t field, uint32_t first_child)
{
    struct step_plan *plan = builder->plan;
    const struct step_plan_node *node = &plan->nodes[plan->children[first_child + field]];
    if (node->kind != STEP_NODE_VALUE || plan->columns[node->column].wish.given == NULL ||
        plan->columns[node->column].wish.policy.targeted == STEP_STACK ||
        plan->columns[node->column].wish.policy.targeted == STEP_AGE)
        return;
    struct step_plan_column *column = &plan->columns[node->column];
    for (size_t i = 0; i < field; i++) {
        const char *name = record->fields[i].name;
        const struct step_plan_node *other = &plan->nodes[plan->children[first_child + i]];
        if (strlen(name) != column->wish.given_length ||
            memcmp(name, column->wish.given, column->wish.given_length) != 0 ||
            other->kind != STEP_NODE_VALUE)
            continue;
        column->given_column = other->column;
        column->wish.column.given = true;
        column->wish.column.given_identifier = plan->columns[other->column].wish.column.identifier;
    }
}

/* The value of a field that is a record of type `type`, by value. */
static enum step_status build_record(struct builder *builder, const struct scope *scope,
                                     uint32_t type, bool in_array, uint32_t nesting,
                                     uint32_t *index)
{
    const struct step_definition *definition = builder->definition;
    if (type >= definition->record_count)
        return fail(builder, STEP_STATUS_INVALID, "its record does not exist");
    const struct step_record *record = &definition->records[type];
    if (record->field_count > MAX_NODES)
        return fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
    struct step_plan_node node = {STEP_NODE_RECORD, 0, 0, (uint32_t) record->field_count, 0, type};
    enum step_status status = add_children(builder, node.child_count, &node.first_child);
    for (uint32_t i = 0; i < node.child_count && status == STEP_STATUS_OK; i++) {
        struct scope inner = {&record->fields[i], "", scope};
        uint32_t child;
        status = build_element(builder, &inner, record->fields[i].array_depth, in_array,
                               nesting + 1, &child);
        if (status != STEP_STATUS_OK)
            break;
        builder->plan->children[node.first_child + i] = child;
        node.slot_count += builder->plan->nodes[child].slot_count;
        resolve_nested_given(builder, record, i, node.first_child);
    }
    return status == STEP_STATUS_OK ? add_node(builder, node, index) : status;
}

/* The same of its type, or of any that extends it: a column of the types, and the columns of each.
 */
static enum step_status build_variant(struct builder *builder, const struct scope *scope,
                                      bool in_array, uint32_t nesting, uint32_t *index)
{
    const struct step_definition *definition = builder->definition;
    struct step_plan_node node = {STEP_NODE_VARIANT, 0, 1, 0, 0, STEP_NO_INDEX};
    struct step_field_wish wish = {.column = {.identifier = true}};
    struct step_field_wish own = {0};
    read_own_wish(scope->field, scope->path, &own);
    wish.policy.general = own.type_varies ? STEP_IDENTIFIER : STEP_DEFAULT;
    wish.policy.is_unsigned = true;
    enum step_status status =
        add_column(builder, STEP_COLUMN_VALUES, in_array, &wish, &node.column);
    uint32_t type = scope->field->record;
    for (uint32_t i = type; i < definition->record_count; i++)
        node.child_count += step_record_extends(definition, i, type);
    if (status == STEP_STATUS_OK)
        status = add_children(builder, node.child_count, &node.first_child);
    uint32_t next = node.first_child;
    for (uint32_t i = type; i < definition->record_count && status == STEP_STATUS_OK; i++) {
        uint32_t child;
        if (!step_record_extends(definition, i, type))
            continue;
        status = build_record(builder, scope, i, true, nesting + 1, &child);
        if (status == STEP_STATUS_OK)
            builder->plan->children[next++] = child;
    }
    return status == STEP_STATUS_OK ? add_node(builder, node, index) : status;
}

static enum step_status build_bytes(struct builder *builder, const struct scope *scope,
                                    bool in_array, uint32_t *index)
{
    struct step_plan_node node = {STEP_NODE_BYTES, 0, 1, 0, 0, STEP_NO_INDEX};
    struct step_field_wish wish = length_wish(scope);
    struct step_field_wish own = wish_of(scope, false);
    wish.charset = scope->field->kind == STEP_TYPE_STRING ? own.charset : STEP_CHARSET_ANY;
    wish.policy.strings = own.policy.strings;
    if (own.column.identifier)
        wish.policy.strings |= STEP_STRINGS_NUMBERED;
    enum step_status status =
        add_column(builder, STEP_COLUMN_LENGTHS, in_array, &wish, &node.column);
    struct step_field_wish none = {.policy = {.strings = wish.policy.strings}};
    uint32_t bytes;
    if (status == STEP_STATUS_OK)
        status = add_column(builder, STEP_COLUMN_BYTES, in_array, &none, &bytes);
    return status == STEP_STATUS_OK ? add_node(builder, node, index) : status;
}

static enum step_status build_element(struct builder *builder, const struct scope *scope,
                                      uint32_t array_depth, bool in_array, uint32_t nesting,
                                      uint32_t *index)
{
    if (nesting > STEP_MAX_NESTING)
        return fail(builder, STEP_STATUS_INVALID, "nested too deeply, or in itself");
    if (array_depth > 0)
        return build_array(builder, scope, array_depth, in_array, nesting, index);
    struct step_field_wish wish = wish_of(scope, scope->field->kind == STEP_TYPE_INT);
    bool names_entry = wish.column.identifier && scope->field->kind == STEP_TYPE_RECORD;
    if (names_entry || scope->field->kind == STEP_TYPE_INT) {
        struct step_plan_node node = {STEP_NODE_VALUE, 0, 1, 0, 0, STEP_NO_INDEX};
        wish.policy.strings = 0;
        if (scope->field->kind != STEP_TYPE_INT)
            settle_identifier(&wish);
        enum step_status status =
            add_column(builder, STEP_COLUMN_VALUES, in_array, &wish, &node.column);
        return status == STEP_STATUS_OK ? add_node(builder, node, index) : status;
    }
    if (scope->field->kind == STEP_TYPE_RECORD && step_field_is_variant(scope->field))
        return build_variant(builder, scope, in_array, nesting, index);
    if (scope->field->kind == STEP_TYPE_RECORD)
        return build_record(builder, scope, scope->field->record, in_array, nesting, index);
    return build_bytes(builder, scope, in_array, index);
}

/* The node of a record's field: its own, or the one that all share with the declaring record. */
static enum step_status build_field(struct builder *builder, uint32_t *index)
{
    const struct step_definition *definition = builder->definition;
    const struct step_record *record = &definition->records[builder->record];
    const struct step_field *field = &record->fields[builder->field];
    if (record->parent != STEP_NO_RECORD && field->declaring_record != builder->record &&
        builder->field < definition->records[record->parent].field_count &&
        step_field_is_variant(field) !=
            step_field_is_variant(&definition->records[record->parent].fields[builder->field]))
        return fail(builder, STEP_STATUS_INVALID,
                    "only the record that declares it may say whether its type varies");
    if (field->modified || field->declaring_record == builder->record) {
        struct scope scope = {field, "", NULL};
        return build_element(builder, &scope, field->array_depth, false, 0, index);
    }
    if (field->declaring_record > builder->record ||
        builder->field >= definition->records[field->declaring_record].field_count)
        return fail(builder, STEP_STATUS_INVALID, "inherited from a record that lacks it");
    const struct step_field *origin =
        &definition->records[field->declaring_record].fields[builder->field];
    if (origin->kind != field->kind || origin->record != field->record ||
        origin->array_depth != field->array_depth ||
        origin->declaring_record != field->declaring_record)
        return fail(builder, STEP_STATUS_INVALID, "differs from the inherited field");
    *index = builder->plan->records[field->declaring_record].field_nodes[builder->field];
    return STEP_STATUS_OK;
}

/* `given` among the fields of a record: only a single value that stands before. */
static void resolve_given(struct builder *builder, const uint32_t *field_nodes)
{
    struct step_plan *plan = builder->plan;
    const struct step_record *record = &builder->definition->records[builder->record];
    const struct step_plan_node *node = &plan->nodes[field_nodes[builder->field]];
    if (node->kind != STEP_NODE_VALUE)
        return;
    struct step_plan_column *column = &plan->columns[node->column];
    if (column->record != builder->record || column->wish.given == NULL ||
        column->wish.policy.targeted == STEP_STACK || column->wish.policy.targeted == STEP_AGE)
        return;
    for (uint32_t i = 0; i < builder->field; i++) {
        const char *name = record->fields[i].name;
        const struct step_plan_node *other = &plan->nodes[field_nodes[i]];
        if (strlen(name) != column->wish.given_length ||
            memcmp(name, column->wish.given, column->wish.given_length) != 0 ||
            other->kind != STEP_NODE_VALUE)
            continue;
        column->given_field = i;
        column->wish.column.given = true;
        column->wish.column.given_identifier = plan->columns[other->column].wish.column.identifier;
    }
}

static bool needs_check(const struct step_plan *plan, const struct step_plan_node *node)
{
    if (node->kind != STEP_NODE_RECORD) {
        const struct step_field_wish *wish = &plan->columns[node->column].wish;
        if (wish->policy.general == STEP_CONSTANT || wish->policy.size == STEP_SIZE_FIXED ||
            wish->charset != STEP_CHARSET_ANY || node->kind == STEP_NODE_VARIANT)
            return true;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        if (needs_check(plan, &plan->nodes[plan->children[node->first_child + i]]))
            return true;
    return false;
}

static enum step_status plan_record(struct builder *builder, uint32_t **storage)
{
    const struct step_record *record = &builder->definition->records[builder->record];
    struct step_plan_record *planned = &builder->plan->records[builder->record];
    uint32_t *field_nodes = *storage;
    planned->field_nodes = field_nodes;
    planned->field_count = (uint32_t) record->field_count;
    planned->flat = true;
    *storage += record->field_count;
    uint32_t *slot_columns = *storage;
    planned->slot_columns = slot_columns;
    *storage += record->field_count;
    for (builder->field = 0; builder->field < record->field_count; builder->field++) {
        uint32_t i = builder->field;
        builder->leaf = 0;
        enum step_status status = build_field(builder, &field_nodes[i]);
        if (status != STEP_STATUS_OK)
            return status;
        resolve_given(builder, field_nodes);
        const struct step_plan_node *node = &builder->plan->nodes[field_nodes[i]];
        planned->slot_count += node->slot_count;
        planned->flat = planned->flat && node->kind == STEP_NODE_VALUE;
        planned->checked = planned->checked || needs_check(builder->plan, node);
        slot_columns[i] = node->column;
    }
    return STEP_STATUS_OK;
}

static enum step_status count_fields(struct builder *builder, size_t *count)
{
    const struct step_definition *definition = builder->definition;
    *count = 0;
    if (definition->record_count == 0 || definition->record_count > STEP_MAX_RECORD_TYPES)
        return step_error_set(builder->error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "the definition has %zu record types; 1 to %u are possible",
                              definition->record_count, STEP_MAX_RECORD_TYPES);
    for (size_t i = 0; i < definition->record_count; i++) {
        if (definition->records[i].field_count > MAX_FIELDS - *count)
            return step_error_set(builder->error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                                  "the definition has too many fields");
        *count += definition->records[i].field_count;
    }
    return STEP_STATUS_OK;
}

/* A record by its absolute name, or by its name in the package of `near`. */
static uint32_t find_record(const struct step_definition *definition, uint32_t near,
                            const char *name, size_t length)
{
    const char *package = definition->records[near].name;
    const char *dot = strrchr(package, '.');
    size_t prefix = dot != NULL ? (size_t) (dot + 1 - package) : 0;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const char *other = definition->records[i].name;
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            return i;
        if (strlen(other) == prefix + length && memcmp(other, package, prefix) == 0 &&
            memcmp(other + prefix, name, length) == 0)
            return i;
    }
    return STEP_NO_INDEX;
}

/* What `stack` and `age` name, when all records are planned; what does not exist is not heeded. */
static void resolve_followed(struct step_plan *plan, struct step_plan_column *column)
{
    struct step_field_wish *wish = &column->wish;
    const char *name = wish->given;
    size_t length = wish->given_length;
    bool stack = wish->policy.targeted == STEP_STACK;
    size_t field = 0;
    while (!stack && length > 0 && name[length - 1] != '.') {
        length--;
        field++;
    }
    uint32_t record = STEP_NO_INDEX;
    if (!column->in_array && length > 0)
        record = find_record(plan->definition, column->record, name, length - !stack);
    if (record == STEP_NO_INDEX) {
        wish->policy.targeted = STEP_TARGETED_NONE;
        return;
    }
    if (stack) {
        column->stack_record = record;
        wish->column.stack = true;
        return;
    }
    const struct step_record *type = &plan->definition->records[record];
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct step_plan_node *node = &plan->nodes[plan->records[record].field_nodes[i]];
        if (strlen(type->fields[i].name) == field &&
            memcmp(type->fields[i].name, name + length, field) == 0 &&
            node->kind == STEP_NODE_VALUE && &plan->columns[node->column] != column)
            column->age_column = node->column;
    }
    wish->column.age = column->age_column != STEP_NO_INDEX;
    if (!wish->column.age)
        wish->policy.targeted = STEP_TARGETED_NONE;
}

static enum step_status build(struct builder *builder)
{
    struct step_plan *plan = builder->plan;
    size_t count;
    enum step_status status = count_fields(builder, &count);
    if (status != STEP_STATUS_OK)
        return status;
    plan->records = calloc(builder->definition->record_count, sizeof *plan->records);
    plan->storage = calloc(2 * count + 1, sizeof *plan->storage);
    if (plan->records == NULL || plan->storage == NULL)
        return STEP_STATUS_NO_MEMORY;
    uint32_t *storage = plan->storage;
    uint32_t record_count = (uint32_t) builder->definition->record_count;
    for (uint32_t i = 0; i < record_count && status == STEP_STATUS_OK; i++) {
        builder->record = i;
        status = plan_record(builder, &storage);
    }
    for (uint32_t i = 0; i < plan->column_count; i++) {
        struct step_plan_column *column = &plan->columns[i];
        bool given = column->given_field != STEP_NO_INDEX || column->given_column != STEP_NO_INDEX;
        if (column->wish.policy.targeted == STEP_STACK || column->wish.policy.targeted == STEP_AGE)
            resolve_followed(plan, column);
        if (column->wish.policy.targeted == STEP_AGE) /* the measure is not rounded alike */
            column->wish.policy.resolution = 0;
        if (column->wish.policy.targeted == STEP_GIVEN && !given)
            column->wish.policy.targeted = STEP_TARGETED_NONE;
    }
    return status;
}

enum step_status step_plan_create(const struct step_definition *definition, struct step_plan **out,
                                  struct step_error *error)
{
    *out = NULL;
    struct step_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    plan->definition = definition;
    struct builder builder = {.plan = plan, .definition = definition, .error = error};
    enum step_status status = build(&builder);
    if (status == STEP_STATUS_OK) {
        *out = plan;
        return status;
    }
    if (status == STEP_STATUS_NO_MEMORY)
        step_error_set(error, status, NULL, STEP_NO_OFFSET, "out of memory");
    step_plan_destroy(plan);
    return status;
}

void step_plan_destroy(struct step_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->columns);
    free(plan->nodes);
    free(plan->children);
    free(plan->records);
    free(plan->storage);
    free(plan);
}

/* Columns stand in order of record, field and leaf. */
uint32_t step_plan_find_column(const struct step_plan *plan, uint64_t record, uint64_t field,
                               uint64_t leaf)
{
    uint32_t low = 0;
    uint32_t high = plan->column_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct step_plan_column *column = &plan->columns[middle];
        if (column->record == record && column->field == field && column->leaf == leaf)
            return middle;
        bool before = column->record != record ? column->record < record
                      : column->field != field ? column->field < field
                                               : column->leaf < leaf;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return STEP_NO_INDEX;
}
