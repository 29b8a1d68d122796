# SPDX-License-Identifier: Apache-2.0
# What a folder adds to `steptrace` by one line in its CMakeLists.txt: commands, what analyses
# offer to the commands of the heart, formats and tables.  A folder that is not built adds
# nothing.

# steptrace_verb(NAME GROUP PLACE [MEMORY] SUMMARY): the command NAME, whose function is
# verb_NAME.
#   GROUP    of the help: RECORD, LOOK, COMPARE, CONVERT, STUDY or OTHER (converter/cli/verb.h)
#   PLACE    three digits: its place in the group, the most used first
#   MEMORY   what it keeps grows with the trace: --memory limits it
#   SUMMARY  a line of the help, with the name in 80 columns
function(steptrace_verb name group place)
  cmake_parse_arguments(VERB "MEMORY" "" "" ${ARGN})
  list(FIND STEPTRACE_VERB_GROUPS ${group} number)
  string(REPLACE - _ function ${name})
  set(memory false)
  if(VERB_MEMORY)
    set(memory true)
  endif()
  steptrace_registers()
  set(row "\"${name}\", \"${VERB_UNPARSED_ARGUMENTS}\", verb_${function}")
  set(row "{${row}, ${memory}, VERBS_${group}},")
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_VERBS "${number}|${place}|${function}|${row}")
endfunction()
set(STEPTRACE_VERB_GROUPS RECORD LOOK COMPARE CONVERT STUDY OTHER)

# steptrace_verbs_of(FOLDER VARIABLE): the commands that a folder below this one would register.
function(steptrace_verbs_of folder variable)
  file(GLOB_RECURSE lists ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
  set(verbs)
  foreach(list ${lists})
    file(STRINGS ${list} lines REGEX "^steptrace_verb")
    foreach(line ${lines})
      string(REGEX REPLACE "^steptrace_verb.([a-z-]+) .*" "\\1" verb "${line}")
      list(APPEND verbs ${verb})
    endforeach()
  endforeach()
  set(${variable} ${verbs} PARENT_SCOPE)
endfunction()

# steptrace_offer(KIND OBJECT): what a command of the heart uses where there is one; KIND is a
# row of STEPTRACE_OFFERS, OBJECT a constant `struct KIND`.
function(steptrace_offer kind object)
  steptrace_registers()
  set_property(GLOBAL PROPERTY STEPTRACE_OFFER_${kind} ${object})
endfunction()
# The kinds, each with the header that has its structure.
set(STEPTRACE_OFFERS page_maker:converter/recorders/recording.h
  findings_maker:converter/statistics/findings_maker.h)

# steptrace_formats(LAYER NAME...): more formats, at the end of the list of formats; format_NAME
# is defined in LAYER.  steptrace_tables(LAYER NAME...): more tables of Java traces, NAME_table.
function(steptrace_formats layer)
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_MORE_FORMATS ${ARGN})
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_MORE_FORMATS_LAYERS ${layer})
endfunction()
function(steptrace_tables layer)
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_MORE_TABLES ${ARGN})
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_MORE_TABLES_LAYERS ${layer})
endfunction()

# A header that defines MACRO(X) as X of each of the property's values; LAYER, which includes it,
# is linked with those that have them.
function(steptrace_list_header layer path macro)
  get_property(values GLOBAL PROPERTY STEPTRACE_${macro})
  get_property(layers GLOBAL PROPERTY STEPTRACE_${macro}_LAYERS)
  list(TRANSFORM values REPLACE "(.+)" " X(\\1)")
  list(JOIN values "" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${path} @ONLY
    CONTENT "/* Made by cmake/registry.cmake. */\n#define ${macro}(X)${text}\n")
  if(TARGET ${layer})
    target_link_libraries(${layer} PUBLIC ${layers})
  endif()
endfunction()

# The layer of the current folder is linked with what uses the registry.
function(steptrace_registers)
  file(RELATIVE_PATH layer ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE / _ layer ${layer})
  set_property(GLOBAL APPEND PROPERTY STEPTRACE_REGISTERED_LAYERS ${layer})
endfunction()

# steptrace_write_registry(LEFT_OUT...), after the last folder: writes what was registered, and the
# names of the commands that are not built.  Adds the library steptrace_registry, the table of
# commands, which brings the layers that have them.
function(steptrace_write_registry)
  steptrace_list_header(converter_formats converter/formats/more_formats.h MORE_FORMATS)
  steptrace_list_header(analyses_tables analyses/tables/more_tables.h MORE_TABLES)
  get_property(layers GLOBAL PROPERTY STEPTRACE_REGISTERED_LAYERS)
  list(REMOVE_DUPLICATES layers)
  steptrace_registry(steptrace_registry OFFERS LEFT_OUT ${ARGN} LAYERS ${layers})
endfunction()

# steptrace_registry(NAME [OFFERS] [VERBS verb...] [LEFT_OUT verb...] LAYERS layer...): the table
# of these commands (default: of all), with what analyses offer or without, as the library NAME.
function(steptrace_registry name)
  cmake_parse_arguments(REGISTRY "OFFERS" "" "VERBS;LEFT_OUT;LAYERS" ${ARGN})
  list(TRANSFORM REGISTRY_LEFT_OUT REPLACE "(.+)" "\"\\1\", " OUTPUT_VARIABLE names)
  list(JOIN names "" left_out)
  get_property(verbs GLOBAL PROPERTY STEPTRACE_VERBS)
  list(SORT verbs)
  set(declared "")
  set(rows "")
  foreach(verb ${verbs})
    string(REGEX MATCH "^[0-9]+\\|[0-9]+\\|([a-z_]+)\\|(.*)$" row "${verb}")
    if(NOT REGISTRY_VERBS OR CMAKE_MATCH_1 IN_LIST REGISTRY_VERBS)
      string(APPEND declared "VERB(${CMAKE_MATCH_1});\n")
      string(APPEND rows "    ${CMAKE_MATCH_2}\n")
    endif()
  endforeach()
  set(headers "")
  set(offers "")
  foreach(row ${STEPTRACE_OFFERS})
    string(REGEX MATCH "^(.*):(.*)$" row ${row})
    get_property(object GLOBAL PROPERTY STEPTRACE_OFFER_${CMAKE_MATCH_1})
    string(APPEND headers "#include \"${CMAKE_MATCH_2}\"\n")
    if(object AND REGISTRY_OFFERS)
      string(APPEND offers "extern const struct ${CMAKE_MATCH_1} ${object};\n")
      set(object "&${object}")
    else()
      set(object NULL)
    endif()
    string(APPEND offers "const struct ${CMAKE_MATCH_1} *const ${CMAKE_MATCH_1} = ${object};\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/converter/commands/${name}.c)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "/* Made by cmake/registry.cmake. */
#include \"converter/cli/verb.h\"
${headers}${declared}
const struct verb verbs[] = {
${rows}};
const size_t verb_count = sizeof verbs / sizeof verbs[0];
const char *const verbs_left_out[] = {${left_out}NULL};
${offers}")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PUBLIC steptrace_source_root ${REGISTRY_LAYERS}
    PRIVATE steptrace_flags)
endfunction()
