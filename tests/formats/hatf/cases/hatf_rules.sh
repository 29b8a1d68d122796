# SPDX-License-Identifier: Apache-2.0
# Rules of threads, heaps, times, reallocs and ranges; check tells, replay refuses (what it does not,
# is only checked).
look() {
    cat >$1.hatf.txt
    steptrace check $1.hatf.txt
    echo $?
    [ $# = 2 ] || steptrace replay -a glibc --on-error=refuse $1.hatf.txt 2>&1 >/dev/null | sed 's/ (--on-error.*//' >&2
}
printf 'alloc 1000 10\nalloc 1016 10\nrealloc/none 1000 20 1000\n' | look grows_over
printf 'alloc 1000 1\nalloc 1001 50\nalloc 1010 50\n' | look first_two_are_neighbours
printf 'alloc 1 50\nalloc 2 50\nfree 1\nfree 2\nalloc 5000 1\n' | look numbers_no_more check
printf '# addresses are numbers of objects\nalloc 7 50\nalloc 9 50\nrealloc/none 7 90 7\n' | look said check
printf 'createThread 0 0 0 1\nalloc 1000 10 0 77 0 500\nfree 1000 0 0 99 0 400\ndestroyThread 0 0 0 1 0 400\n' | look threads
printf 'createThread 0 0 0 1\ncreateThread 0 0 0 1\ndestroyThread 0 0 0 1\nalloc 16 8 0 1\ncreateThread 0 0 0 1\nfree 16 0 0 1\n' | look again
printf 'alloc 16 8 0 5\ncreateThread 0 0 0 5\n' | look late
printf 'alloc 16 8 0 0 3\ncreateHeap 0 0 0 0 4\ncreateHeap 0 0 0 0 4\nalloc 32 8 0 0 4\nfree 32\ndestroyHeap 0 0 0 0 4\nalloc 64 8 0 0 4\ndestroyHeap 0 0 0 0 4\n' | look heaps
printf 'alloc 16 8\nrealloc/both 16 24 64\nfree 16\nalloc 64 24\nrealloc/both 64 32 128\nalloc 128 16\nfree 64\nrealloc/free 128 0 0\n' | look own
printf 'alloc 18446744073709551600 16\nalloc 18446744073709551500 200\n' | look range
steptrace replay --decoded=8 $data/heap.hatf.txt
