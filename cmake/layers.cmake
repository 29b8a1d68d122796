# SPDX-License-Identifier: Apache-2.0
# The layers of the tree: a folder, its target, what it may use.
set(STEPTRACE_GENERATED ${CMAKE_BINARY_DIR}/format/generated)
file(MAKE_DIRECTORY ${STEPTRACE_GENERATED}/steptrace)

# Includes carry their path from the root; what the build makes lies under the same paths.
add_library(steptrace_source_root INTERFACE)
target_include_directories(steptrace_source_root INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
  ${CMAKE_SOURCE_DIR}/format/include ${STEPTRACE_GENERATED})

# steptrace_layer(NAME SOURCES... USES... LIBRARIES...): a folder as a library.
#   USES       the layers that its files may include and call; they are linked with it
#   LIBRARIES  of the system
# scripts/check-layers.py compares this with the includes of the folder's files.
function(steptrace_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_library(${name} STATIC ${LAYER_SOURCES})
  target_link_libraries(${name}
    PUBLIC steptrace_source_root ${LAYER_USES}
    PRIVATE steptrace_flags ${LAYER_LIBRARIES})
  if("${LAYER_USES}" MATCHES "format_definitions")
    add_dependencies(${name} format_generated)
  endif()
endfunction()

# steptrace_knows_version(FILE...): of this folder; they have STEPTRACE_VERSION, a string.
function(steptrace_knows_version)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS
    STEPTRACE_VERSION="${PROJECT_VERSION}")
endfunction()
