/* SPDX-License-Identifier: Apache-2.0 */
/* Finds import slots by the relocations in each library's dynamic section. */
#include "malloc-recorder/import_slots.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) ((type) < 0) /* unknown machine: no slot is found */
#endif
#define PAGE UINT64_C(4096)

struct library {
    const struct dl_phdr_info *info;
    const ElfW(Sym) * symbols;
    const char *names;
    uint64_t first, end;       /* addresses */
    uint64_t fixed, fixed_end; /* those that are read-only after relocation */
    import_visit visit;
    void *user;
};

/* On most systems the dynamic linker has relocated these entries. */
static const void *address_in(const struct dl_phdr_info *info, uint64_t value)
{
    return (const void *) (value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static void visit_table(const struct library *library, const ElfW(Rela) * table, size_t bytes)
{
    for (size_t i = 0; table != NULL && i < bytes / sizeof *table; i++) {
        if (!IS_SLOT(ELF64_R_TYPE(table[i].r_info)))
            continue;
        uint64_t place = library->info->dlpi_addr + table[i].r_offset;
        const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(table[i].r_info)];
        uint64_t value = *(const uint64_t *) place;
        const struct import_slot slot = {
            .name = library->names + symbol->st_name,
            .library = library->info->dlpi_name,
            .place = (void **) place,
            .first = (const char *) library->first,
            .end = (const char *) library->end,
            .is_read_only = place >= library->fixed && place < library->fixed_end,
            .is_inside = value >= library->first && value < library->end};
        library->visit(library->user, &slot);
    }
}

static const ElfW(Dyn) * read_headers(struct library *library)
{
    const struct dl_phdr_info *info = library->info;
    const ElfW(Dyn) *dynamic = NULL;
    library->first = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *) start;
        if (part->p_type == PT_LOAD && start < library->first)
            library->first = start;
        if (part->p_type == PT_LOAD && end > library->end)
            library->end = end;
        if (part->p_type == PT_GNU_RELRO) {
            library->fixed = start;
            library->fixed_end = end;
        }
    }
    return dynamic;
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library library = *(struct library *) data;
    const ElfW(Rela) *calls = NULL, *others = NULL;
    size_t call_bytes = 0, other_bytes = 0;
    (void) size;
    library.info = info;
    const ElfW(Dyn) *entry = read_headers(&library);
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        const void *address = address_in(info, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            library.symbols = address;
            break;
        case DT_STRTAB:
            library.names = address;
            break;
        case DT_JMPREL:
            calls = address;
            break;
        case DT_RELA:
            others = address;
            break;
        case DT_PLTRELSZ:
            call_bytes = entry->d_un.d_val;
            break;
        case DT_RELASZ:
            other_bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (library.symbols != NULL && library.names != NULL) {
        visit_table(&library, calls, call_bytes);
        visit_table(&library, others, other_bytes);
    }
    return 0;
}

void import_slots_each(import_visit visit, void *user)
{
    struct library library = {.visit = visit, .user = user};
    dl_iterate_phdr(visit_library, &library);
}

void import_slot_set(const struct import_slot *slot, void *function)
{
    void *page = (void *) ((uintptr_t) slot->place / PAGE * PAGE);
    if (slot->is_read_only && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
        return;
    *slot->place = function;
    if (slot->is_read_only)
        mprotect(page, PAGE, PROT_READ);
}
