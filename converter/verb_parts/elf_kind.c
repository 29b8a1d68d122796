/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of ELF files. */
#include "converter/verb_parts/elf_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct elf_kind {
    unsigned char class; /* ELFCLASS64 */
    unsigned char order; /* ELFDATA2LSB */
    Elf64_Half machine;  /* EM_X86_64 */
    bool is_musl;        /* a program that musl's loader starts */
};

static const char *machine_name(const struct elf_kind *kind)
{
    static const struct {
        Elf64_Half machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},  {EM_AARCH64, "AArch64"}, {EM_386, "32-bit x86"},
                 {EM_ARM, "32-bit ARM"}, {EM_RISCV, "RISC-V"},    {EM_PPC64, "POWER"},
                 {EM_S390, "s390"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == kind->machine)
            return names[i].name;
    return "another machine";
}

/* Does the program ask for musl's loader? */
static bool asks_for_musl(int file, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        char name[PATH_MAX];
        off_t place = (off_t) (header->e_phoff + i * sizeof part);
        if (pread(file, &part, sizeof part, place) != sizeof part)
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        ssize_t length = pread(file, name, sizeof name - 1, (off_t) part.p_offset);
        name[length > 0 ? length : 0] = '\0';
        return strstr(name, "/ld-musl-") != NULL;
    }
    return false;
}

static bool read_kind(const char *path, struct elf_kind *kind)
{
    Elf64_Ehdr header;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_elf = file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header &&
                  memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (is_elf) {
        *kind = (struct elf_kind){header.e_ident[EI_CLASS], header.e_ident[EI_DATA],
                                  header.e_machine, false};
        kind->is_musl = kind->class == ELFCLASS64 && asks_for_musl(file, &header);
    }
    if (file >= 0)
        close(file);
    return is_elf;
}

/* As execvp() finds it. */
static bool find_command(const char *command, char *path, size_t size)
{
    const char *directories = getenv("PATH");
    if (strchr(command, '/') != NULL)
        return snprintf(path, size, "%s", command) < (int) size;
    for (const char *at = directories; at != NULL && *at != '\0';) {
        int length = (int) strcspn(at, ":");
        int written = snprintf(path, size, "%.*s/%s", length, at, command);
        if (written < (int) size && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

bool elf_kinds_fit(const char *library, const char *command, char *reason, size_t size)
{
    char path[PATH_MAX];
    struct elf_kind of_library, of_program;
    if (!read_kind(library, &of_library))
        return true; /* its loader will tell */
    if ((!find_command(command, path, sizeof path) || !read_kind(path, &of_program)) &&
        !read_kind("/proc/self/exe", &of_program))
        return true;
    if (of_library.class != of_program.class || of_library.order != of_program.order ||
        of_library.machine != of_program.machine) {
        snprintf(reason, size, "it is for %s, %s for %s: take the one of that machine",
                 machine_name(&of_library), command, machine_name(&of_program));
        return false;
    }
#ifdef __GLIBC__
    if (of_program.is_musl) {
        snprintf(reason, size, "it is for glibc, %s for musl: take a JDK for glibc", command);
        return false;
    }
#endif
    return true;
}
