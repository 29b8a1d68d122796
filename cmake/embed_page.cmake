# SPDX-License-Identifier: Apache-2.0
# cmake -DNAME=report_page -DPAGE=page.html -DSUBJECT=report -DVERB=report -DSTYLE=style.css
#   -DSCRIPTS=a.js,b.js -DOUT=page.c -P embed_page.cmake
# Puts the sections of PAGE into frame.html, and makes two C arrays of that page: what stands
# before the data and after.

# A part without its licence line: a page that somebody made shows what is his.
function(read_part path variable)
  file(READ "${path}" text)
  string(REGEX REPLACE "^[^\n]*SPDX-License-Identifier[^\n]*\n" "" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
read_part("${PAGE}" sections)
read_part("${STYLE}" style)
get_filename_component(folder "${PAGE}" DIRECTORY)
read_part("${folder}/frame.html" page)
set(script "")
string(REPLACE "," ";" files "${SCRIPTS}")
foreach(file IN LISTS files)
  read_part("${file}" text)
  string(APPEND script "${text}\n")
endforeach()
string(REPLACE "@@subject@@" "${SUBJECT}" page "${page}")
string(REPLACE "@@verb@@" "${VERB}" page "${page}")
string(REPLACE "@@main@@\n" "${sections}" page "${page}")
string(REPLACE "@@style.css@@" "${style}" page "${page}")
string(REPLACE "@@scripts@@" "${script}" page "${page}")
string(FIND "${page}" "@@data@@" cut)
string(SUBSTRING "${page}" 0 ${cut} before)
math(EXPR cut "${cut} + 8")
string(SUBSTRING "${page}" ${cut} -1 after)
set(source "/* Made by embed_page.cmake. */\n#include \"converter/report/report_page.h\"\n")
foreach(part before after)
  file(WRITE "${OUT}.part" "${${part}}")
  file(READ "${OUT}.part" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(APPEND source "const unsigned char ${NAME}_${part}[] = {${hex}};\n"
    "const size_t ${NAME}_${part}_bytes = sizeof ${NAME}_${part};\n")
endforeach()
file(REMOVE "${OUT}.part")
file(WRITE "${OUT}" "${source}")
