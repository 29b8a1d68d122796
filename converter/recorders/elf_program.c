/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files: the header, the program headers, and the names of symbols. */
#include "converter/recorders/elf_program.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/input_file.h"
#include "malloc-recorder/drain/sanitizers.h"

/* Looks for the loader that a program of 64 bits asks for. */
static void find_loader(int file, const Elf64_Ehdr *header, struct elf_kind *kind)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        char name[PATH_MAX];
        off_t place = (off_t) (header->e_phoff + i * sizeof part);
        if (pread(file, &part, sizeof part, place) != sizeof part)
            return;
        if (part.p_type != PT_INTERP)
            continue;
        ssize_t length = pread(file, name, sizeof name - 1, (off_t) part.p_offset);
        name[length > 0 ? length : 0] = '\0';
        kind->is_musl = strstr(name, "/ld-musl-") != NULL;
        return;
    }
    kind->is_static = true;
}

bool elf_has_magic(const char *path)
{
    char magic[SELFMAG];
    int file = input_file_open(path, INPUT_REGULAR, NULL);
    bool has = file >= 0 && pread(file, magic, sizeof magic, 0) == (ssize_t) sizeof magic &&
               memcmp(magic, ELFMAG, sizeof magic) == 0;
    if (file >= 0)
        close(file);
    return has;
}

/* Opens the file and reads its header.  Returns -1 if it is none of ELF. */
static int open_elf(const char *path, Elf64_Ehdr *header)
{
    int file = input_file_open(path, INPUT_REGULAR, NULL);
    if (file < 0 || (pread(file, header, sizeof *header, 0) == sizeof *header &&
                     memcmp(header->e_ident, ELFMAG, SELFMAG) == 0))
        return file;
    close(file);
    return -1;
}

bool elf_kind_read(const char *path, struct elf_kind *kind)
{
    Elf64_Ehdr header;
    int file = open_elf(path, &header);
    if (file < 0)
        return false;
    *kind = (struct elf_kind){header.e_ident[EI_CLASS], header.e_ident[EI_DATA], header.e_machine,
                              false, false};
    if (kind->class == ELFCLASS64)
        find_loader(file, &header, kind);
    close(file);
    return true;
}

/* ---- symbols ---- */

#define TABLE_MOST ((size_t) 64 << 20) /* the largest programs have some MiB */

/* Reads a section into memory, with a 0 behind it.  NULL: it is none, or cannot be read. */
static char *read_section(int file, const Elf64_Shdr *section)
{
    char *bytes = section->sh_size < TABLE_MOST ? malloc(section->sh_size + 1) : NULL;
    if (bytes != NULL && pread(file, bytes, section->sh_size, (off_t) section->sh_offset) ==
                             (ssize_t) section->sh_size) {
        bytes[section->sh_size] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

static enum elf_allocator allocator_of_symbol(const Elf64_Sym *symbol, const char *name)
{
    static const char *const functions[] = {"malloc", "calloc", "realloc", "free"};
    static const char *const sanitizers[] = {
#define X(function, sanitizer) #function,
        SANITIZERS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof sanitizers / sizeof sanitizers[0]; i++)
        if (strcmp(name, sanitizers[i]) == 0)
            return ELF_ALLOCATOR_SANITIZER;
    for (size_t i = 0; symbol->st_shndx != SHN_UNDEF && i < sizeof functions / sizeof functions[0];
         i++)
        if (strcmp(name, functions[i]) == 0)
            return ELF_ALLOCATOR_OWN;
    return ELF_ALLOCATOR_OTHER;
}

static enum elf_allocator allocator_of_symbols(const char *symbols, size_t bytes, const char *names,
                                               size_t name_bytes)
{
    enum elf_allocator found = ELF_ALLOCATOR_OTHER;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= bytes; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols + at, sizeof symbol);
        if (symbol.st_name >= name_bytes)
            continue;
        enum elf_allocator one = allocator_of_symbol(&symbol, names + symbol.st_name);
        found = one > found ? one : found;
    }
    return found;
}

static enum elf_allocator allocator_of_section(int file, const Elf64_Ehdr *header,
                                               const Elf64_Shdr *section)
{
    Elf64_Shdr names;
    enum elf_allocator found = ELF_ALLOCATOR_OTHER;
    off_t place = (off_t) (header->e_shoff + (uint64_t) section->sh_link * sizeof names);
    if (pread(file, &names, sizeof names, place) != sizeof names)
        return found;
    char *symbols = read_section(file, section), *texts = read_section(file, &names);
    if (symbols != NULL && texts != NULL)
        found = allocator_of_symbols(symbols, section->sh_size, texts, names.sh_size);
    free(symbols);
    free(texts);
    return found;
}

enum elf_allocator elf_allocator_find(const char *path)
{
    Elf64_Ehdr header;
    enum elf_allocator found = ELF_ALLOCATOR_OTHER;
    int file = open_elf(path, &header);
    if (file < 0)
        return found;
    for (unsigned i = 0; header.e_ident[EI_CLASS] == ELFCLASS64 && i < header.e_shnum; i++) {
        Elf64_Shdr section;
        off_t place = (off_t) (header.e_shoff + (uint64_t) i * sizeof section);
        if (pread(file, &section, sizeof section, place) == sizeof section &&
            (section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB)) {
            enum elf_allocator one = allocator_of_section(file, &header, &section);
            found = one > found ? one : found;
        }
    }
    close(file);
    return found;
}
