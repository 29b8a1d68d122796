/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on records, resolved once for each record type; the order of the selected records. */
#include "converter/records/record_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"
#include "converter/files/record_layout.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/step/java_records.h"

enum { MOST_NAMES = 256 };

enum comparison { EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL };

struct condition {
    char *path;        /* cut off before the operator */
    const char *value; /* the part after the operator */
    enum comparison comparison;
    bool is_number, is_negative;
    uint64_t number; /* two's complement */
};

enum target_kind { NO_TARGET, SIGNED, UNSIGNED, BYTES };

/* The field of a condition in a record type. */
struct target {
    enum target_kind kind;
    size_t slot;
};

/* The time and thread of a record type, or STEP_NO_PROPERTY_SLOT. */
struct slice_slots {
    size_t time, thread;
};

struct record_filter {
    struct step_reader *reader;
    const struct step_definition *definition;
    const struct event_selection *selected;
    struct step_selection *selection;
    struct slice_slots *slots; /* by record */
    struct condition conditions[RECORD_CONDITIONS_MOST];
    size_t condition_count;
    struct target *targets; /* by record and condition */
    uint64_t resolution_ns;
};

bool take_condition(void *record_selection_target, const char *value, const char **fault)
{
    struct record_selection *selected = record_selection_target;
    *fault = "FIELD=VALUE is expected, or != < <= > >=, at most 16 times";
    size_t field = strcspn(value, "=!<>");
    if (field == 0 || value[field] == '\0' || (value[field] == '!' && value[field + 1] != '=') ||
        selected->condition_count == RECORD_CONDITIONS_MOST)
        return false;
    selected->conditions[selected->condition_count++] = value;
    return true;
}

static const struct format_option rows_of[] = {
    {{"record", 0, "NAMES", "records: only these types and their subtypes", take_text, NULL},
     offsetof(struct record_selection, names)},
    {{"where", 0, "FIELD=VALUE",
      "records: only those whose field matches; also != < <= > >=", take_condition, NULL},
     0},
    {.place = 0}};

const struct format_options record_options = {sizeof(struct record_selection), rows_of, NULL};

struct record_selection record_selection_of(const struct format_job *job)
{
    struct record_selection selected =
        *(const struct record_selection *) format_settings_get(job->settings, &record_options);
    selected.selected = job->selected;
    return selected;
}

static enum comparison comparison_of(const char *text, size_t *length)
{
    bool equal = text[1] == '=';
    *length = 1 + (size_t) (equal && text[0] != '=');
    return text[0] == '='   ? EQUAL
           : text[0] == '!' ? NOT_EQUAL
           : text[0] == '<' ? (equal ? LESS_OR_EQUAL : LESS)
                            : (equal ? GREATER_OR_EQUAL : GREATER);
}

/* Parses a decimal or 0x number with an optional sign. */
static void record_filter_read_number(struct condition *condition)
{
    char *end;
    const char *digits = condition->value + (condition->value[0] == '-');
    condition->is_negative = digits != condition->value;
    errno = 0;
    int base = strncmp(digits, "0x", 2) == 0 ? 16 : 10;
    condition->number = strtoull(digits, &end, base);
    condition->is_number = *digits >= '0' && *digits <= '9' && *end == '\0' && errno == 0;
    if (condition->is_negative)
        condition->number = 0 - condition->number;
}

static bool read_condition(const char *text, struct condition *condition)
{
    size_t length, field = strcspn(text, "=!<>");
    condition->path = strdup(text);
    if (condition->path == NULL)
        return false;
    condition->comparison = comparison_of(text + field, &length);
    condition->value = condition->path + field + length;
    condition->path[field] = '\0';
    record_filter_read_number(condition);
    return true;
}

/* Finds a scalar by its path: names separated by dots, through nested records. */
static struct target record_filter_find_target(const struct step_definition *definition,
                                               uint32_t record, const char *path, size_t slot)
{
    const struct step_record *type = &definition->records[record];
    size_t length = strcspn(path, ".");
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        bool nested = step_field_is_nested(field);
        if (strlen(field->name) != length || strncmp(field->name, path, length) != 0) {
            slot += nested ? step_record_slot_count(definition, field->record) : 1;
            continue;
        }
        if (path[length] == '.')
            return nested ? record_filter_find_target(definition, field->record, path + length + 1,
                                                      slot)
                          : (struct target){NO_TARGET, 0};
        if (nested || field->array_depth > 0 || step_field_is_variant(field))
            break;
        bool number = field->kind == STEP_TYPE_INT || step_field_is_identifier(field);
        bool is_signed = field->kind == STEP_TYPE_INT && !step_field_is_unsigned(field);
        return (struct target){!number ? BYTES : is_signed ? SIGNED : UNSIGNED, slot};
    }
    return (struct target){NO_TARGET, 0};
}

static bool record_filter_fits(const struct condition *condition, enum target_kind kind)
{
    return kind == BYTES || (kind != NO_TARGET && condition->is_number);
}

/* `order` is negative, 0 or positive, as the value compares with the condition's. */
static bool holds(enum comparison comparison, int order)
{
    switch (comparison) {
    case EQUAL:
        return order == 0;
    case NOT_EQUAL:
        return order != 0;
    case LESS:
        return order < 0;
    case LESS_OR_EQUAL:
        return order <= 0;
    case GREATER:
        return order > 0;
    case GREATER_OR_EQUAL:
        return order >= 0;
    }
    return false;
}

static int compare_bytes(const struct step_bytes *bytes, const char *text)
{
    size_t length = strlen(text), shared = bytes->length < length ? bytes->length : length;
    int order = shared > 0 ? memcmp(bytes->data, text, shared) : 0;
    return order != 0 ? order : (bytes->length > length) - (bytes->length < length);
}

static int compare_number(const struct condition *condition, enum target_kind kind, uint64_t value)
{
    uint64_t other = condition->number;
    if (kind == UNSIGNED && condition->is_negative && other != 0)
        return 1;
    if (kind == SIGNED && !condition->is_negative && other > INT64_MAX)
        return -1;
    if (kind == SIGNED && condition->is_negative && other != 0 && other <= INT64_MAX)
        return 1; /* the other is below -2^63 */
    if (kind == SIGNED)
        return ((int64_t) value > (int64_t) other) - ((int64_t) value < (int64_t) other);
    return (value > other) - (value < other);
}

static bool meets(const struct condition *condition, const struct target *target,
                  const uint64_t *slots)
{
    if (!record_filter_fits(condition, target->kind))
        return false;
    int order = target->kind == BYTES
                    ? compare_bytes(step_slot_bytes(slots[target->slot]), condition->value)
                    : compare_number(condition, target->kind, slots[target->slot]);
    return holds(condition->comparison, order);
}

static bool is_in_slice(const struct record_filter *filter, const struct step_record_view *view)
{
    const struct event_selection *selected = filter->selected;
    const struct slice_slots *slots = &filter->slots[view->record];
    uint64_t ns = 0;
    if (slots->time != STEP_NO_PROPERTY_SLOT &&
        __builtin_mul_overflow(view->slots[slots->time], filter->resolution_ns, &ns))
        ns = UINT64_MAX;
    if (slots->time != STEP_NO_PROPERTY_SLOT && (ns < selected->from_ns || ns > selected->to_ns))
        return false;
    uint64_t number;
    return !event_selection_one_thread(selected, &number) ||
           (slots->thread != STEP_NO_PROPERTY_SLOT && view->slots[slots->thread] == number);
}

bool record_filter_takes(const struct record_filter *filter, const struct step_record_view *view)
{
    const struct target *targets = &filter->targets[view->record * RECORD_CONDITIONS_MOST];
    bool takes = is_in_slice(filter, view);
    for (size_t i = 0; takes && i < filter->condition_count; i++)
        takes = meets(&filter->conditions[i], &targets[i], view->slots);
    return takes;
}

/* Converts a list like "a,b" to a selection. */
static enum step_status select_records(struct record_filter *filter,
                                       const struct record_selection *selected,
                                       struct step_error *error)
{
    const char *names[MOST_NAMES];
    size_t count = 0;
    char *copy = strdup(selected->names != NULL ? selected->names : "");
    if (copy == NULL)
        return no_memory(error);
    char *rest = NULL;
    for (char *at = strtok_r(copy, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest))
        if (count < MOST_NAMES)
            names[count++] = at;
    enum step_status status = step_selection_create(filter->definition, names, count,
                                                    selected->maps, &filter->selection, error);
    free(copy);
    if (status == STEP_STATUS_NOT_FOUND) /* the requested name is the error */
        status = error->status = STEP_STATUS_INVALID;
    return status;
}

static enum step_status find_targets(struct record_filter *filter, struct step_error *error)
{
    const uint8_t *wanted = step_selection_wanted(filter->selection);
    for (size_t k = 0; k < filter->condition_count; k++) {
        const struct condition *condition = &filter->conditions[k];
        bool found = false;
        for (uint32_t i = 0; i < filter->definition->record_count; i++) {
            struct target *target = &filter->targets[i * RECORD_CONDITIONS_MOST + k];
            *target = record_filter_find_target(filter->definition, i, condition->path, 0);
            found = found || (wanted[i] && record_filter_fits(condition, target->kind));
        }
        if (!found)
            return step_error_set(
                error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                "no selected record has a single value '%.80s' that can be compared with '%.80s'",
                condition->path, condition->value);
    }
    return STEP_STATUS_OK;
}

static enum step_status record_filter_fill(struct record_filter *filter,
                                           const struct record_selection *selected,
                                           struct step_error *error)
{
    size_t count = filter->definition->record_count;
    filter->slots = calloc(count + 1, sizeof *filter->slots);
    filter->targets = calloc((count + 1) * RECORD_CONDITIONS_MOST, sizeof *filter->targets);
    bool good = filter->slots != NULL && filter->targets != NULL;
    for (; good && filter->condition_count < selected->condition_count; filter->condition_count++)
        good = read_condition(selected->conditions[filter->condition_count],
                              &filter->conditions[filter->condition_count]);
    if (!good)
        return no_memory(error);
    for (uint32_t i = 0; i < count; i++)
        filter->slots[i] =
            (struct slice_slots){step_record_find_property(filter->definition, i, "time"),
                                 step_record_find_property(filter->definition, i, "thread")};
    enum step_status status = select_records(filter, selected, error);
    return status == STEP_STATUS_OK ? find_targets(filter, error) : status;
}

enum step_status record_filter_create(struct step_reader *reader,
                                      const struct record_selection *selected,
                                      struct record_filter **out, struct step_error *error)
{
    struct record_filter *filter = *out = calloc(1, sizeof *filter);
    if (filter == NULL)
        return no_memory(error);
    filter->reader = reader;
    filter->selected = selected->selected;
    filter->definition = step_reader_borrow_definition(reader);
    filter->resolution_ns = trace_resolution_ns(reader);
    enum step_status status = record_filter_fill(filter, selected, error);
    if (status != STEP_STATUS_OK) {
        record_filter_destroy(filter);
        *out = NULL;
    }
    return status;
}

void record_filter_destroy(struct record_filter *filter)
{
    if (filter == NULL)
        return;
    step_selection_destroy(filter->selection);
    for (size_t i = 0; i < RECORD_CONDITIONS_MOST; i++)
        free(filter->conditions[i].path);
    free(filter->slots);
    free(filter->targets);
    free(filter);
}

struct step_selection *record_filter_selection(const struct record_filter *filter)
{
    return filter->selection;
}

struct record_order {
    struct step_selection *selection;
    struct step_records *records;
    const uint8_t *wanted;    /* NULL: all */
    size_t *time_slots;       /* by record */
    struct java_records java; /* empty if it is not a Java trace, which has no ranks */
};

static const uint8_t *record_filter_wanted_of(void *user, const struct step_block_info *info)
{
    const struct record_order *order = user;
    return block_has_wanted(info, order->wanted) ? order->wanted : NULL;
}

/* A record without time follows the one before it. */
static bool record_filter_take_front(void *user, struct step_records_front *front)
{
    const struct record_order *order = user;
    size_t slot = order->time_slots[front->view.record];
    if (slot != STEP_NO_PROPERTY_SLOT)
        front->time = front->view.slots[slot];
    front->rank = order->java.count > 0
                      ? java_rank(java_kind_of(&order->java, front->view.record), front->stream)
                      : 0;
    return true;
}

enum step_status record_order_create(struct step_reader *reader, struct step_selection *selection,
                                     struct record_order **out, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct record_order *order = calloc(1, sizeof *order);
    *out = order;
    if (order == NULL ||
        (order->time_slots = calloc(definition->record_count + 1, sizeof(size_t))) == NULL)
        return no_memory(error);
    order->selection = selection;
    order->wanted = step_selection_wanted(selection);
    for (uint32_t i = 0; i < definition->record_count; i++)
        order->time_slots[i] = step_record_find_property(definition, i, "time");
    enum step_status status = STEP_STATUS_OK;
    if (step_definition_find(definition, "java.VMDeath") != STEP_NO_RECORD)
        status = java_records_init(&order->java, reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_records_rules rules = {
        .user = order, .wanted = record_filter_wanted_of, .front = record_filter_take_front};
    return step_records_create_ordered(reader, &rules, &order->records, error);
}

enum step_status record_order_next(struct record_order *order, struct step_record_view *view,
                                   struct step_error *error)
{
    struct step_record_view found;
    enum step_status status;
    while ((status = step_records_next(order->records, &found, error)) == STEP_STATUS_OK &&
           !step_selection_view(order->selection, &found, view))
        continue;
    return status;
}

void record_order_destroy(struct record_order *order)
{
    if (order == NULL)
        return;
    step_records_destroy(order->records);
    java_records_reset(&order->java);
    free(order->time_slots);
    free(order);
}
