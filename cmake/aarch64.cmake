# SPDX-License-Identifier: Apache-2.0
# Toolchain: AArch64 on another machine.  STEPTRACE_SYSROOT has Debian's packages of arm64
# (scripts/sysroot.sh); qemu runs what the build makes and runs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STEPTRACE_SYSROOT)
if(NOT STEPTRACE_SYSROOT)
  get_filename_component(STEPTRACE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-sysroot-arm64
    ABSOLUTE)
endif()
set(CMAKE_SYSROOT ${STEPTRACE_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${STEPTRACE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${STEPTRACE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(STEPTRACE_JDK_INCLUDE ${STEPTRACE_SYSROOT}/usr/lib/jvm/java-17-openjdk-arm64/include
  CACHE PATH "Directory of jvmti.h")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${STEPTRACE_SYSROOT})
