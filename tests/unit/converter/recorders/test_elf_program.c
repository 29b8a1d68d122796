/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a program before it is recorded, of whole and of hostile files. */
#include <CUnit/Basic.h>
#include <elf.h>
#include <string.h>

#include "converter/recorders/elf_program.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

/* An ELF file: header, a program header, two sections (symbols and names), their contents. */
struct small_elf {
    Elf64_Ehdr header;
    Elf64_Phdr loader;
    Elf64_Shdr sections[2];
    Elf64_Sym symbols[2];
    char names[32];
    char interpreter[32];
};

static struct small_elf whole_elf(const char *symbol, unsigned section, const char *interpreter)
{
    struct small_elf elf = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_machine = EM_AARCH64,
                   .e_phoff = offsetof(struct small_elf, loader),
                   .e_phnum = 1,
                   .e_shoff = offsetof(struct small_elf, sections),
                   .e_shnum = 2},
        .loader = {.p_type = PT_INTERP, .p_offset = offsetof(struct small_elf, interpreter)},
        .sections = {{.sh_type = SHT_DYNSYM,
                      .sh_offset = offsetof(struct small_elf, symbols),
                      .sh_size = sizeof elf.symbols,
                      .sh_link = 1},
                     {.sh_type = SHT_STRTAB,
                      .sh_offset = offsetof(struct small_elf, names),
                      .sh_size = sizeof elf.names}},
        .symbols = {{.st_name = 0}, {.st_name = 1, .st_shndx = (Elf64_Section) section}}};
    strncpy(elf.names + 1, symbol, sizeof elf.names - 2);
    strncpy(elf.interpreter, interpreter, sizeof elf.interpreter - 1);
    return elf;
}

static const char *put(const struct small_elf *elf)
{
    return scratch_put("program", elf, sizeof *elf);
}

static void test_kinds(void)
{
    struct elf_kind kind;
    struct small_elf elf = whole_elf("main", 1, "/lib/ld-musl-aarch64.so.1");
    CU_ASSERT_TRUE(elf_has_magic(put(&elf)));
    CU_ASSERT_TRUE(elf_kind_read(put(&elf), &kind));
    CU_ASSERT(kind.machine == EM_AARCH64 && kind.class == ELFCLASS64 && kind.order == ELFDATA2LSB);
    CU_ASSERT(kind.is_musl && !kind.is_static);
    elf = whole_elf("main", 1, "/lib64/ld-linux-x86-64.so.2");
    CU_ASSERT_TRUE(elf_kind_read(put(&elf), &kind));
    CU_ASSERT(!kind.is_musl && !kind.is_static);
    elf.loader.p_type = PT_LOAD;
    CU_ASSERT_TRUE(elf_kind_read(put(&elf), &kind));
    CU_ASSERT_TRUE(kind.is_static);
    CU_ASSERT_TRUE(elf_kind_read("/proc/self/exe", &kind));
    CU_ASSERT_FALSE(kind.is_static || kind.is_musl);
}

static void test_none(void)
{
    struct elf_kind kind;
    struct small_elf elf = whole_elf("main", 1, "");
    CU_ASSERT_FALSE(elf_has_magic(scratch_path("none")));
    CU_ASSERT_FALSE(elf_kind_read(scratch_put_text("script", "#!/bin/sh\n"), &kind));
    CU_ASSERT_FALSE(elf_kind_read(scratch_put("short", &elf, sizeof elf.header - 1), &kind));
    CU_ASSERT_TRUE(elf_has_magic(scratch_put("short", &elf, 4)));
    CU_ASSERT_FALSE(elf_has_magic(scratch_put("short", &elf, 3)));
    CU_ASSERT_FALSE(elf_has_magic("/tmp")); /* a directory */
    CU_ASSERT_EQUAL(elf_allocator_find(scratch_path("none")), ELF_ALLOCATOR_OTHER);
}

static void test_allocators(void)
{
    static const struct {
        const char *symbol;
        unsigned section;
        enum elf_allocator allocator;
    } cases[] = {{"malloc", 1, ELF_ALLOCATOR_OWN},
                 {"malloc", SHN_UNDEF, ELF_ALLOCATOR_OTHER},
                 {"free", 5, ELF_ALLOCATOR_OWN},
                 {"mallocs", 1, ELF_ALLOCATOR_OTHER},
                 {"__asan_init", SHN_UNDEF, ELF_ALLOCATOR_SANITIZER},
                 {"__tsan_init", 1, ELF_ALLOCATOR_SANITIZER},
                 {"main", 1, ELF_ALLOCATOR_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct small_elf elf = whole_elf(cases[i].symbol, cases[i].section, "");
        CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), cases[i].allocator);
    }
}

/* Places and lengths beyond the file, numbers that wrap, names without an end: nothing is found,
 * and nothing outside is read. */
static void test_hostile(void)
{
    static const Elf64_Xword odd[] = {0, 1, 1 << 20, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct elf_kind kind;
        struct small_elf elf = whole_elf("malloc", 1, "");
        elf.sections[0].sh_size = odd[i];
        CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
        elf = whole_elf("malloc", 1, "");
        elf.sections[1].sh_size = odd[i];
        CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
        elf = whole_elf("malloc", 1, "");
        elf.sections[1].sh_offset = odd[i] | 1 << 19;
        CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
        elf = whole_elf("malloc", 1, "");
        elf.header.e_shoff = odd[i] | 1 << 19;
        elf.header.e_phoff = odd[i] | 1 << 19;
        elf.header.e_shnum = elf.header.e_phnum = UINT16_MAX;
        CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
        CU_ASSERT_TRUE(elf_kind_read(put(&elf), &kind));
        CU_ASSERT_FALSE(kind.is_musl || kind.is_static);
    }
    struct small_elf elf = whole_elf("malloc", 1, "");
    elf.symbols[1].st_name = UINT32_MAX;
    CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
    elf = whole_elf("malloc", 1, "");
    elf.sections[1].sh_size = 4; /* the name is cut: "mal" */
    CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
    elf.sections[0].sh_link = UINT32_MAX;
    CU_ASSERT_EQUAL(elf_allocator_find(put(&elf)), ELF_ALLOCATOR_OTHER);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("ELF programs", scratch_begin, scratch_end);
    CU_add_test(suite, "kinds", test_kinds);
    CU_add_test(suite, "no programs", test_none);
    CU_add_test(suite, "allocators", test_allocators);
    CU_add_test(suite, "hostile files", test_hostile);
}
