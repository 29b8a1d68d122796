/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a JVM, below its root directory.  Only for the child of target_user.h: a name there may
 * be a link, a FIFO, a device or a mount point that its user has put in place a moment ago.
 */
#ifndef CONVERTER_ATTACH_TARGET_FILES_H
#define CONVERTER_ATTACH_TARGET_FILES_H

#include "converter/attach/jvm_process.h"

/* Opens a directory or file below the process's root (O_PATH); links are resolved within that root,
 * on kernels before 5.6 refused.  -1 with errno. */
int target_files_find(const struct jvm_process *process, const char *path, int flags);
/* Opens `name` in `directory` (O_PATH): neither a link nor a mount point, of this type (S_IFREG,
 * ...) and of the JVM's user.  -1 with errno; `fault` is then the reason. */
int target_files_open(const struct jvm_process *process, int directory, const char *name,
                      unsigned type, const char **fault);
/* Opens for reading what an O_PATH descriptor of a regular file refers to, and closes that one. */
int target_files_read(int file);
bool target_files_write(int file, const void *data, size_t length);

#endif
