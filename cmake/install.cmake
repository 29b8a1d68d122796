# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the pkg-config file.  Targets and files that this
# configuration does not have are passed over.

# Components: runtime (programs, man pages, definitions), library, agent, java, dev, doc.

# The library, static and shared, its headers (those that stepc generates too), the definitions.
# The public headers mark what the shared library exports; what stepc generates is for everybody.
set_target_properties(${STEPTRACE_DEFINITION_TARGETS} PROPERTIES
  C_VISIBILITY_PRESET default)
set_target_properties(steptrace_shared PROPERTIES EXPORT_NAME steptrace)
install(TARGETS steptrace_shared EXPORT StepTrace
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS steptrace_static EXPORT StepTraceStatic
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/format/include/ ${STEPTRACE_GENERATED}/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/format/definitions/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/steptrace COMPONENT runtime
  FILES_MATCHING PATTERN "*.step" PATTERN "*.dtd")

# find_package(StepTrace): StepTrace::steptrace, and with the component `static` that library too.
include(CMakePackageConfigHelpers)
set(STEPTRACE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/StepTrace)
foreach(set StepTrace StepTraceStatic)
  install(EXPORT ${set} FILE ${set}Targets.cmake NAMESPACE StepTrace::
    DESTINATION ${STEPTRACE_CMAKE_DIR} COMPONENT dev)
endforeach()
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/StepTraceConfig.cmake.in
  ${CMAKE_BINARY_DIR}/StepTraceConfig.cmake INSTALL_DESTINATION ${STEPTRACE_CMAKE_DIR}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/StepTraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/StepTraceConfig.cmake
  ${CMAKE_BINARY_DIR}/StepTraceConfigVersion.cmake
  DESTINATION ${STEPTRACE_CMAKE_DIR} COMPONENT dev)

# The programs.  agent/ and malloc-recorder/ install what others load.
foreach(program steptrace stepc metatfc)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  endif()
endforeach()
include(manuals)
include(sbom)

if(TARGET steptrace_sqlite)
  install(TARGETS steptrace_sqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/steptrace
    COMPONENT runtime)
endif()

# Man pages by their section, and the documentation, whose links keep leading somewhere.
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.${section})
  set(component runtime)
  if(section EQUAL 3)
    set(component dev)
  endif()
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
    COMPONENT ${component})
endforeach()
list(JOIN STEPTRACE_DOCS_WITHOUT " " without) # pages that a package has elsewhere
install(CODE "execute_process(COMMAND \"${CMAKE_SOURCE_DIR}/scripts/install-docs.py\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\" ${without}
  COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT doc)

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
set(PC_REQUIRES_PRIVATE "zlib, minizip")
if(STEPTRACE_ZSTD)
  string(APPEND PC_REQUIRES_PRIVATE ", libzstd")
endif()
if(STEPTRACE_XZ)
  string(APPEND PC_REQUIRES_PRIVATE ", liblzma")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/steptrace.pc.in ${CMAKE_BINARY_DIR}/steptrace.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/steptrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT dev)

# An install into a temporary prefix, and a program that is built against it; the headers, each
# alone; what the shared library exports.
if(STEPTRACE_TESTS AND NOT (STEPTRACE_SANITIZE OR STEPTRACE_TSAN))
  add_test(NAME install COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-install.sh ${CMAKE_BINARY_DIR}
    ${CMAKE_INSTALL_LIBDIR})
  add_test(NAME headers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-headers.sh ${CMAKE_BINARY_DIR})
  if(TARGET steptrace AND TARGET steptrace-drain)
    add_test(NAME sbom COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-sbom.py
      ${CMAKE_BINARY_DIR}/steptrace.spdx.json $<TARGET_FILE:steptrace>
      $<TARGET_FILE:steptrace-drain>)
    set_tests_properties(sbom PROPERTIES LABELS cli TIMEOUT 60)
  endif()
  add_test(NAME signing COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-signing.sh
    ${CMAKE_BINARY_DIR}/signing)
  add_test(NAME exports COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-exports.sh
    $<TARGET_FILE:steptrace_shared> ${CMAKE_SOURCE_DIR}/format/include ${STEPTRACE_GENERATED})
  add_test(NAME abi COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-abi.sh
    $<TARGET_FILE:steptrace_shared>)
  set_tests_properties(install headers signing exports abi PROPERTIES LABELS cli TIMEOUT 120
    SKIP_RETURN_CODE 77 ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endif()
