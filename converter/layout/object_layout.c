/* SPDX-License-Identifier: Apache-2.0 */
/* Parses layouts, and computes where the elements of arrays begin. */
#include "converter/layout/object_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/reader.h"

#define NEW_ARRAYS_SINCE 23u /* JDK: elements of less than 8 bytes follow the length at once */

/* ---- what --as gives ---- */

static bool is_alignment(uint32_t value)
{
    return value >= 8 && value <= 256 && (value & (value - 1)) == 0;
}

/* Reads a word, which sets a flag, or "KEY=NUMBER", each at most once.  Returns its end, or NULL.
 */
static const char *object_layout_take_part(const char *at, struct layout_change *change)
{
    static const char *const keys[] = {"values", "fields=old",
                                       "header=", "reference=", "alignment="};
    bool *const flags[] = {&change->values, &change->old_fields};
    uint32_t *const numbers[] = {&change->header, &change->reference, &change->alignment};
    const size_t flag_count = sizeof flags / sizeof flags[0];
    size_t i = 0;
    while (i < sizeof keys / sizeof keys[0] && strncmp(at, keys[i], strlen(keys[i])) != 0)
        i++;
    if (i == sizeof keys / sizeof keys[0])
        return NULL;
    at += strlen(keys[i]);
    if (i < flag_count) {
        bool is_second = *flags[i];
        *flags[i] = true;
        return is_second ? NULL : at;
    }
    char *end = NULL;
    uint32_t *number = numbers[i - flag_count];
    if (*at < '1' || *at > '9' || *number != 0)
        return NULL;
    unsigned long value = strtoul(at, &end, 10);
    *number = value <= 256 ? (uint32_t) value : 1;
    return end;
}

static bool is_possible(const struct layout_change *change)
{
    return (change->header == 0 || change->header == 8 || change->header == 12 ||
            change->header == 16) &&
           (change->reference == 0 || change->reference == 4 || change->reference == 8) &&
           (change->alignment == 0 || is_alignment(change->alignment));
}

bool take_layout_change(void *changes_target, const char *value, const char **fault)
{
    struct layout_changes *changes = changes_target;
    struct layout_change change = {.text = value};
    const char *at = value;
    *fault = "header=8|12|16, reference=4|8, alignment=8..256, fields=old and values are expected, "
             "joined by commas";
    while ((at = object_layout_take_part(at, &change)) != NULL && *at == ',')
        at++;
    if (at == NULL || *at != '\0' || !is_possible(&change) ||
        strlen(value) >= sizeof((struct object_layout *) 0)->name)
        return false;
    if (change.old_fields && change.values) {
        *fault = "no JDK has both fields=old and values";
        return false;
    }
    if (changes->count == LAYOUTS_MOST - 1) {
        *fault = "15 layouts are possible";
        return false;
    }
    changes->items[changes->count++] = change;
    return true;
}

/* ---- what was traced ---- */

static uint32_t header_of_arrays(uint32_t byte_elements_at)
{
    switch (byte_elements_at) {
    case 12:
        return 8;
    case 16:
        return 12;
    case 20:
    case 24:
        return 16;
    default:
        return 0;
    }
}

const char *object_layout_of_property(const char *layout, const char *vm_version,
                                      struct object_layout *traced)
{
    unsigned alignment, reference, at[ELEMENT_SHIFTS];
    char rest;
    if (sscanf(layout, "alignment=%3u,reference=%1u,elements=%2u/%2u/%2u/%2u%c", &alignment,
               &reference, &at[0], &at[1], &at[2], &at[3], &rest) != 6)
        return "the property `layout` is not valid";
    unsigned long major = vm_version != NULL ? strtoul(vm_version, NULL, 10) : 0;
    *traced = (struct object_layout){.name = "as traced",
                                     .header = header_of_arrays(at[0]),
                                     .reference = reference,
                                     .alignment = alignment,
                                     .old_arrays =
                                         at[0] == 24 || (at[0] != 20 && major < NEW_ARRAYS_SINCE)};
    if (traced->header == 0 || !is_alignment(alignment) || (reference != 4 && reference != 8))
        return "the object layout of this JVM is unknown";
    for (unsigned shift = 0; shift < ELEMENT_SHIFTS; shift++)
        if (object_layout_elements_at(traced, shift) != at[shift])
            return "the array layout of this JVM is unknown";
    return NULL;
}

static bool has_flag(const char *command_line, const char *flag)
{
    return command_line != NULL && strstr(command_line, flag) != NULL;
}

struct object_layout object_layout_guess(const char *command_line)
{
    struct object_layout guess = {
        .name = "guessed", .header = 12, .reference = 4, .alignment = 8, .old_arrays = true};
    if (has_flag(command_line, "-XX:+UseCompactObjectHeaders"))
        guess.header = 8;
    else if (has_flag(command_line, "-XX:-UseCompressedClassPointers"))
        guess.header = 16;
    if (has_flag(command_line, "-XX:-UseCompressedOops") || has_flag(command_line, "-XX:+UseZGC"))
        guess.reference = 8;
    return guess;
}

struct object_layout object_layout_changed(const struct object_layout *traced,
                                           const struct layout_change *change)
{
    struct object_layout layout = *traced;
    snprintf(layout.name, sizeof layout.name, "%s", change->text);
    if (change->header != 0)
        layout.header = change->header;
    if (change->reference != 0)
        layout.reference = change->reference;
    if (change->alignment != 0)
        layout.alignment = change->alignment;
    layout.values = change->values;
    layout.old_fields = change->old_fields;
    layout.old_arrays |= change->old_fields;
    return layout;
}

const char *object_layout_fault(const struct object_layout *layout)
{
    bool is_new = layout->header == 8 || (layout->header == 12 && layout->reference == 8);
    if (layout->old_fields && is_new)
        return "fields=old: before JDK 15 headers have 12 bytes with references of 4, or 16: add "
               "header= or reference=";
    return NULL;
}

/* The length has 4 bytes and follows the header.  No JDK with the old rule has headers of 8
 * bytes. */
uint32_t object_layout_elements_at(const struct object_layout *layout, unsigned shift)
{
    uint32_t end = layout->header + 4;
    bool is_aligned = shift == 3 || (layout->old_arrays && layout->header != 8);
    return is_aligned ? (end + 7) & ~UINT32_C(7) : end;
}

bool object_layout_of_trace(const struct step_reader *reader, struct object_layout *layout)
{
    const char *property = step_reader_property(reader, "layout");
    bool is_described =
        property != NULL &&
        object_layout_of_property(property, step_reader_property(reader, "java-vm-version"),
                                  layout) == NULL;
    if (!is_described)
        *layout = object_layout_guess(step_reader_property(reader, "command-line"));
    return is_described;
}

bool object_layout_array_length(const struct object_layout *layout, char element, uint64_t size,
                                uint32_t padding, bool has_padding, uint64_t *length)
{
    static const char by_shift[] = "ZBCSFIDJ"; /* two types of each size */
    const char *found = element != '\0' ? strchr(by_shift, element) : NULL;
    unsigned shift =
        found != NULL ? (unsigned) (found - by_shift) / 2 : object_layout_reference_shift(layout);
    uint64_t rest = object_layout_elements_at(layout, shift);
    bool is_known = has_padding && padding < layout->alignment && size >= rest + padding;
    if (is_known)
        rest += padding;
    *length = size > rest ? (size - rest) >> shift : 0;
    return is_known;
}
