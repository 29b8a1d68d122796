# SPDX-License-Identifier: Apache-2.0
# The JDKs that tests use, each version once: jdks has their directories, jdk_versions their
# versions.  Those in /usr/lib/jvm come first; others may lie in a directory that scripts/jdks.sh
# made: of a JDK of version N there, jdk_run_N is the command that runs a command with that
# directory as its root directory, where `jdks` has the JDK's place; jdk_base_N is the directory.
set(STEPTRACE_JDKS "$ENV{STEPTRACE_JDKS}" CACHE PATH "made by scripts/jdks.sh; JDKs for the tests")

# jdk_version(VARIABLE HOME): 0 where it is no JDK.
function(steptrace_jdk_version variable home)
  set(${variable} 0 PARENT_SCOPE)
  if(EXISTS ${home}/bin/javac AND EXISTS ${home}/release)
    file(STRINGS ${home}/release line REGEX "^JAVA_VERSION=")
    string(REGEX MATCH "[0-9]+" version "${line}")
    set(${variable} ${version} PARENT_SCOPE)
  endif()
endfunction()

macro(steptrace_find_jdks)
  set(jdks)
  set(jdk_versions)
  foreach(base "" ${STEPTRACE_JDKS})
    file(GLOB homes ${base}/usr/lib/jvm/*)
    foreach(home ${homes})
      file(REAL_PATH ${home} home)
      steptrace_jdk_version(version ${home})
      if(version VERSION_LESS 17 OR version IN_LIST jdk_versions)
        continue()
      endif()
      if(base)
        set(jdk_base_${version} ${base})
        set(jdk_run_${version} ${CMAKE_SOURCE_DIR}/scripts/jdks.sh run ${base})
        file(RELATIVE_PATH home ${base} ${home})
        string(PREPEND home /)
      endif()
      list(APPEND jdks ${home})
      list(APPEND jdk_versions ${version})
    endforeach()
  endforeach()
endmacro()
