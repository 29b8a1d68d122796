# SPDX-License-Identifier: Apache-2.0
# steptrace_flags: what every target of ours is compiled with.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(steptrace_flags INTERFACE)
target_compile_definitions(steptrace_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(steptrace_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
  -Wmissing-prototypes -Wstrict-prototypes -Wundef)
# Checks at run time, but in what is measured: there they cost 1 to 3 % of the instructions
# (docs/portability.md).  A target with the property STEPTRACE_HOT has none.  The sanitizers have
# their own.
set(cold "$<NOT:$<BOOL:$<TARGET_PROPERTY:STEPTRACE_HOT>>>")
if(NOT (STEPTRACE_SANITIZE OR STEPTRACE_TSAN))
  target_compile_options(steptrace_flags INTERFACE $<${cold}:-fstack-protector-strong>
    $<$<AND:${cold},$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now)
if(STEPTRACE_WERROR)
  target_compile_options(steptrace_flags INTERFACE -Werror)
endif()
if(STEPTRACE_SANITIZE)
  target_compile_options(steptrace_flags INTERFACE -fsanitize=address,undefined
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # The sanitizers' functions are the program's: a shared object leaves them undefined.
  target_link_options(steptrace_flags INTERFACE -fsanitize=address,undefined -Wl,-z,undefs)
endif()
if(STEPTRACE_TSAN)
  target_compile_options(steptrace_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(steptrace_flags INTERFACE -fsanitize=thread -Wl,-z,undefs)
endif()
# With Clang the build with AddressSanitizer is that of the libFuzzer targets, too.
set(STEPTRACE_FUZZ OFF)
if(STEPTRACE_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  set(STEPTRACE_FUZZ ON)
  target_compile_options(steptrace_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Generated parsers: our warnings are not for them.
add_library(steptrace_generated_flags INTERFACE)
target_compile_options(steptrace_generated_flags INTERFACE -w)
