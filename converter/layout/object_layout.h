/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of HotSpot's object layout: headers, references, alignment (docs/layout.md). */
#ifndef CONVERTER_LAYOUT_OBJECT_LAYOUT_H
#define CONVERTER_LAYOUT_OBJECT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_reader;

#define LAYOUTS_MOST 16u
#define ELEMENT_SHIFTS 4u /* elements of 1, 2, 4 and 8 bytes */

struct object_layout {
    char name[64];
    uint32_t header;    /* bytes before the first field: 8, 12 or 16 */
    uint32_t reference; /* bytes: 4 or 8 */
    uint32_t alignment; /* of an object's size: a power of two, 8 to 256 */
    bool values;        /* the value classes are flattened into fields and arrays */
    bool old_fields;    /* JDK 14 and before: fields are not packed into gaps of superclasses */
    bool old_arrays;    /* JDK 22 and before: all elements begin at a multiple of 8 */
};

/* What `--as` gives; 0: as traced. */
struct layout_change {
    const char *text; /* borrowed from the command line */
    uint32_t header, reference, alignment;
    bool values, old_fields;
};
struct layout_changes {
    struct layout_change items[LAYOUTS_MOST];
    size_t count;
};

/* Parses "header=8,reference=8,alignment=16" for an option's table (base/arguments.h). */
bool take_layout_change(void *changes_target, const char *value, const char **fault);

/* Sets the layout that the agent described: property `layout`, and `java-vm-version` (NULL:
 * unknown). Returns NULL, or what is wrong with it. */
const char *object_layout_of_property(const char *layout, const char *vm_version,
                                      struct object_layout *traced);
/* Returns what the JVM's command line (NULL: unknown) says about a trace without the property. */
struct object_layout object_layout_guess(const char *command_line);
/* Sets the layout of a trace.  Returns true if the agent described it, else it is a guess. */
bool object_layout_of_trace(const struct step_reader *reader, struct object_layout *layout);
/* Returns the traced layout with a change. */
struct object_layout object_layout_changed(const struct object_layout *traced,
                                           const struct layout_change *change);
/* Returns NULL, or why no JDK has such a layout. */
const char *object_layout_fault(const struct object_layout *layout);

/* Returns the logarithm of a reference's size. */
static inline unsigned object_layout_reference_shift(const struct object_layout *layout)
{
    return layout->reference == 8 ? 3 : 2;
}
/* Returns where an array's elements of 1 << shift bytes begin. */
uint32_t object_layout_elements_at(const struct object_layout *layout, unsigned shift);

/* Sets the length of an array whose elements have this descriptor ('L' or '[': references).
 * `padding`: bytes after the elements, if the trace `has_padding`.  Returns true if that is so:
 * without the padding, a size stands for several lengths, and this is the greatest. */
bool object_layout_array_length(const struct object_layout *layout, char element, uint64_t size,
                                uint32_t padding, bool has_padding, uint64_t *length);

/* Rounds up to the layout's alignment. */
static inline uint64_t object_layout_align(const struct object_layout *layout, uint64_t bytes)
{
    return (bytes + layout->alignment - 1) & ~(uint64_t) (layout->alignment - 1);
}

#endif
