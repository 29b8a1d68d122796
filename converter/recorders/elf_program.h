/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into the file of a program that is to be recorded: for which machine it is, and whether it
 * has an allocator of its own. */
#ifndef CONVERTER_RECORDERS_ELF_PROGRAM_H
#define CONVERTER_RECORDERS_ELF_PROGRAM_H

#include <elf.h>
#include <stdbool.h>

/* Identification in the header of ELF files. */
struct elf_kind {
    unsigned char class; /* ELFCLASS64 */
    unsigned char order; /* ELFDATA2LSB */
    Elf64_Half machine;  /* EM_X86_64 */
    bool is_musl;        /* the program uses musl's loader */
    bool is_static;      /* of 64 bits, and uses no loader */
};

/* Returns true if the file begins as one of ELF, whatever follows. */
bool elf_has_magic(const char *path);
/* Returns false if the file is none of ELF. */
bool elf_kind_read(const char *path, struct elf_kind *kind);

/* Whose malloc() and free() a program calls, whatever is preloaded. */
enum elf_allocator {
    ELF_ALLOCATOR_OTHER,     /* those of libraries; or unknown */
    ELF_ALLOCATOR_OWN,       /* those that it defines itself, exported or not */
    ELF_ALLOCATOR_SANITIZER, /* those of AddressSanitizer, ThreadSanitizer or their kin */
};

/* Goes by the names of the program's symbols.  One whose own allocator is stripped of its names is
 * not recognised. */
enum elf_allocator elf_allocator_find(const char *path);

#endif
