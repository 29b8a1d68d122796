# SPDX-License-Identifier: Apache-2.0
# cmake -DFILE=FILE -DOUT=FILE -DSTRIP=PROGRAM -P pack_native.cmake: copies the agent or the
# command without its debugging information, and writes the copy's SHA-256 beside it.
get_filename_component(directory ${OUT} DIRECTORY)
file(MAKE_DIRECTORY ${directory})
execute_process(COMMAND ${STRIP} --strip-unneeded -o ${OUT} ${FILE} COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 ${OUT} digest)
file(WRITE ${OUT}.sha256 "${digest}\n")
