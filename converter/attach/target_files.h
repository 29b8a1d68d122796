/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files of a JVM, below its root directory.  For use only in the child of target_user.h: any
 * name there may be a link, a FIFO, a device or a mount point that the JVM's user has just created.
 */
#ifndef CONVERTER_ATTACH_TARGET_FILES_H
#define CONVERTER_ATTACH_TARGET_FILES_H

#include "converter/attach/jvm_process.h"

/* Opens a directory or file below the process's root (O_PATH).  Resolves links within that root;
 * kernels before 5.6 refuse them.  Returns -1 with errno on failure. */
int target_files_find(const struct jvm_process *process, const char *path, int flags);
/* Opens `name` in `directory` (O_PATH).  It must be of this type (S_IFREG, ...), belong to the
 * JVM's user, and be neither a link nor a mount point.  Returns -1 with errno on failure and sets
 * `fault` to the reason. */
int target_files_open(const struct jvm_process *process, int directory, const char *name,
                      unsigned type, const char **fault);
/* Opens the regular file of an O_PATH descriptor for reading, and closes that descriptor. */
int target_files_read(int file);
bool target_files_write(int file, const void *data, size_t length);

#endif
