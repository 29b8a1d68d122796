# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=DIR -DOUT=commit.h -DCOMMIT= -P commit.cmake: the commit that is being built, for
# `steptrace version`; COMMIT where somebody says it, else what git knows, or "unknown".
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
  set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define STEPTRACE_COMMIT \"${COMMIT}\"\n")
