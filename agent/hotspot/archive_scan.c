/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM has its archive mapped, and all its classes are structures in one region of it.  Each
 * begins with the address of one of the few tables of virtual methods that the archive has for
 * them, by which it is found; the region has no list of them that debuggers know.
 */
#include "agent/hotspot/archive_scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agent/hotspot/vm_structs.h"

#define REGIONS 3u
/* Classes, those of class loaders, of mirrors and of references. */
#define KINDS 4u
#define TABLES_LIMIT 32u

struct range {
    uintptr_t base, end;
};

static bool is_inside(const struct range *range, uintptr_t at, size_t size)
{
    return at >= range->base && at < range->end && size <= range->end - at;
}

/* The region in which class Object is. */
static bool find_region(const struct vm_archive *vm, const struct range *all, struct range *region)
{
    for (size_t i = 0; i < REGIONS; i++) {
        uintptr_t at = vm->header + vm->header_regions + i * vm->region_size;
        region->base = vm_word(at, vm->region_base);
        region->end = region->base + vm_word(at, vm->region_used);
        if (is_inside(region, vm->object_class, sizeof(uintptr_t)) && region->base % 8 == 0 &&
            is_inside(all, region->base, region->end - region->base))
            return true;
    }
    return false;
}

/* An entry of the list; later JDKs have offsets in it.  The table comes behind its size. */
static uintptr_t table_at(const struct range *all, uintptr_t entry)
{
    uintptr_t at = vm_word(entry, 0);
    return (at < all->base ? all->base + at : at) + sizeof at;
}

/* The tables come in the order of the kinds; the first is that of Object. */
static bool find_tables(const struct vm_archive *vm, const struct range *all,
                        uintptr_t tables[KINDS])
{
    uintptr_t list = all->base + vm->vtables_offset, wanted = vm_word(vm->object_class, 0);
    for (size_t i = 0; i < TABLES_LIMIT; i++) {
        if (!is_inside(all, list + i * sizeof wanted, KINDS * sizeof wanted))
            return false;
        for (size_t kind = 0; kind < KINDS; kind++)
            tables[kind] = table_at(all, list + (i + kind) * sizeof wanted);
        if (tables[0] == wanted)
            return true;
    }
    return false;
}

static void report_object(const struct vm_archive *vm, const struct range *all, uintptr_t class,
                          void (*found)(const char *name, size_t length))
{
    uintptr_t symbol = vm_word(class, vm->class_name);
    uint16_t length;
    if (!is_inside(all, symbol, vm->symbol_body))
        return;
    memcpy(&length, (const char *) symbol + vm->symbol_length, sizeof length);
    if (is_inside(all, symbol, vm->symbol_body + length))
        found((const char *) symbol + vm->symbol_body, length);
}

void archive_scan(void (*found)(const char *name, size_t length))
{
    struct vm_archive vm;
    struct range region;
    uintptr_t tables[KINDS];
    if (!vm_archive_get(&vm))
        return;
    struct range all = {vm.base, vm.top};
    if (!find_region(&vm, &all, &region) || !find_tables(&vm, &all, tables))
        return;
    size_t head = vm.class_name + sizeof(uintptr_t);
    for (uintptr_t at = region.base; is_inside(&region, at, head); at += sizeof(uintptr_t)) {
        uintptr_t word = vm_word(at, 0);
        if (word == tables[0] || word == tables[1] || word == tables[2] || word == tables[3])
            report_object(&vm, &all, at, found);
    }
}
