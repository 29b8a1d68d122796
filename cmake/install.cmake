# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the pkg-config file.  Targets and files that this
# configuration does not have are passed over.

# The library, static and shared, its headers (those that stepc generates too), the definitions.
# The public headers mark what the shared library exports; what stepc generates is for everybody.
set_target_properties(${STEPTRACE_DEFINITION_TARGETS} PROPERTIES
  C_VISIBILITY_PRESET default)
install(TARGETS steptrace_static steptrace_shared
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/format/include/ ${STEPTRACE_GENERATED}/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/format/definitions/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/steptrace FILES_MATCHING PATTERN "*.step" PATTERN "*.dtd")

# The programs.  agent/ installs libtracer.so.
foreach(program steptrace stepc metatfc)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

if(TARGET steptrace_sqlite)
  install(TARGETS steptrace_sqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/steptrace)
endif()

# Man pages by their section, and the documentation.
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/formats
  DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
  ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# steptrace_pc_path(VARIABLE DIRECTORY): relative directories follow the file's own place, so that
# `cmake --install --prefix` and moved trees work.
file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  set(PC_PREFIX "\${pcfiledir}/${pc_up}")
  string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
endif()
function(steptrace_pc_path variable directory)
  if(IS_ABSOLUTE ${directory})
    set(${variable} ${directory} PARENT_SCOPE)
  else()
    set(${variable} "\${prefix}/${directory}" PARENT_SCOPE)
  endif()
endfunction()
steptrace_pc_path(PC_BINDIR ${CMAKE_INSTALL_BINDIR})
steptrace_pc_path(PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
steptrace_pc_path(PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
steptrace_pc_path(PC_DATADIR ${CMAKE_INSTALL_DATADIR})
set(PC_REQUIRES_PRIVATE "zlib, libxxhash, minizip")
if(STEPTRACE_ZSTD)
  string(APPEND PC_REQUIRES_PRIVATE ", libzstd")
endif()
if(STEPTRACE_XZ)
  string(APPEND PC_REQUIRES_PRIVATE ", liblzma")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/steptrace.pc.in ${CMAKE_BINARY_DIR}/steptrace.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/steptrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# An install into a temporary prefix, and a program that is built against it; the headers, each
# alone; what the shared library exports.
if(STEPTRACE_TESTS AND NOT (STEPTRACE_SANITIZE OR STEPTRACE_TSAN OR STEPTRACE_FUZZ))
  add_test(NAME install COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-install.sh ${CMAKE_BINARY_DIR}
    ${CMAKE_INSTALL_LIBDIR})
  add_test(NAME headers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-headers.sh ${CMAKE_BINARY_DIR})
  add_test(NAME exports COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-exports.sh
    $<TARGET_FILE:steptrace_shared> ${CMAKE_SOURCE_DIR}/format/include ${STEPTRACE_GENERATED})
  set_tests_properties(install headers exports PROPERTIES LABELS cli TIMEOUT 120
    ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endif()
