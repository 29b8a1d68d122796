# SPDX-License-Identifier: Apache-2.0
# Libraries of the system that pkg-config knows.  One that is missing ends the configuration,
# unless its option is off: a build without it is somebody's choice.

# steptrace_library(NAME MODULE PACKAGE [OPTION VARIABLE]): PkgConfig::NAME and NAME_FOUND.
# PACKAGE is Debian's, VARIABLE the option without which the library is not used.
function(steptrace_library name module package)
  cmake_parse_arguments(LIBRARY "" "OPTION" "" ${ARGN})
  set(${name}_FOUND OFF PARENT_SCOPE)
  if(LIBRARY_OPTION AND NOT ${LIBRARY_OPTION})
    return()
  endif()
  pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${name}_FOUND)
    set(without "")
    if(LIBRARY_OPTION)
      set(without ", or configure with -D${LIBRARY_OPTION}=OFF to build without it")
    endif()
    message(FATAL_ERROR "${module} is missing: install Debian's ${package}${without}. "
      "`scripts/deps.sh build` installs all that a build needs.")
  endif()
  steptrace_link_archives(${name})
  set(${name}_FOUND ON PARENT_SCOPE)
endfunction()

# Lets programs with the property STEPTRACE_ALONE (with STEPTRACE_STATIC all) link the archives of
# the library PkgConfig::NAME, and of all that it needs but glibc's.  An archive that is missing is
# added to the property STEPTRACE_MISSING_ARCHIVES: such programs cannot be built.
function(steptrace_link_archives name)
  get_target_property(shared PkgConfig::${name} INTERFACE_LINK_LIBRARIES)
  set(archives "")
  foreach(library ${${name}_STATIC_LIBRARIES})
    if(library MATCHES "^(m|dl|pthread|c)$")
      list(APPEND archives ${library})
      continue()
    endif()
    find_library(STEPTRACE_ARCHIVE_${library} lib${library}.a)
    mark_as_advanced(STEPTRACE_ARCHIVE_${library})
    if(STEPTRACE_ARCHIVE_${library})
      list(APPEND archives ${STEPTRACE_ARCHIVE_${library}})
    elseif(STEPTRACE_STATIC)
      message(FATAL_ERROR "STEPTRACE_STATIC: there is no lib${library}.a")
    else()
      set_property(GLOBAL APPEND PROPERTY STEPTRACE_MISSING_ARCHIVES ${name})
    endif()
  endforeach()
  if(NOT STEPTRACE_STATIC)
    set(alone "$<BOOL:$<TARGET_PROPERTY:STEPTRACE_ALONE>>")
    list(TRANSFORM archives REPLACE "(.+)" "$<${alone}:\\1>")
    list(TRANSFORM shared REPLACE "(.+)" "$<$<NOT:${alone}>:\\1>")
    list(APPEND archives ${shared})
  endif()
  set_property(TARGET PkgConfig::${name} PROPERTY INTERFACE_LINK_LIBRARIES ${archives})
endfunction()
