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
  if(STEPTRACE_STATIC)
    steptrace_link_statically(${name})
  endif()
  set(${name}_FOUND ON PARENT_SCOPE)
endfunction()

# Replaces what PkgConfig::NAME links by the archives of all libraries that it needs but glibc's.
function(steptrace_link_statically name)
  set(archives "")
  foreach(library ${${name}_STATIC_LIBRARIES})
    if(library MATCHES "^(m|dl|pthread|c)$")
      list(APPEND archives ${library})
    else()
      find_library(STEPTRACE_ARCHIVE_${library} lib${library}.a REQUIRED)
      list(APPEND archives ${STEPTRACE_ARCHIVE_${library}})
    endif()
  endforeach()
  set_property(TARGET PkgConfig::${name} PROPERTY INTERFACE_LINK_LIBRARIES ${archives})
endfunction()
