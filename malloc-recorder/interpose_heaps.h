/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of jemalloc and mimalloc beside malloc's family, with their heaps. */
#ifndef MALLOC_RECORDER_INTERPOSE_HEAPS_H
#define MALLOC_RECORDER_INTERPOSE_HEAPS_H

/* Puts the recorder's functions in front of those, where a library that is loaded has them: nobody
 * who looks for them finds them where they are not. */
void interpose_heaps(void);

#endif
