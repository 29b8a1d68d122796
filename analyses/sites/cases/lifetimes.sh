# SPDX-License-Identifier: Apache-2.0
# each object with the number of allocations before its death, for simulators
cat >run.txt <<'END'
VS:0
VI:1
CL:1:A
CL:1:B"c
OA:2:A:10
OA:3:B"c:11
OF:4:A:10
OA:5:A:12
OA:6:A:13
OF:7:B"c:11
OF:7:A:13
VD:8
END
steptrace convert run.txt -o run.lifetimes.csv && cat run.lifetimes.csv
steptrace convert run.txt -o part.lifetimes.csv --class A && cat part.lifetimes.csv
# no allocation, and no death
printf 'VS:0\nVI:1\nVD:2\n' >none.txt
steptrace convert none.txt -o none.lifetimes.csv && cat none.lifetimes.csv
# more than one page, against another count of the same events
awk 'BEGIN { print "VS:0\nVI:1\nCL:1:A"
    for (i = 1; i <= 20000; i++) {
        print "OA:" i + 1 ":A:" i
        if (i % 3 == 0) print "OF:" i + 1 ":A:" int(i / 2) + 1
    }
    print "VD:30000" }' >long.txt
steptrace convert long.txt -o long.lifetimes.csv
awk -F: '$1 == "OA" { made++; number[$4] = made; freed[made] = "" }
    $1 == "OF" { if (freed[number[$4]] == "") freed[number[$4]] = made }
    END { print "alloc_seq,free_at_seq,size,type"
        for (i = 1; i <= made; i++) print i "," freed[i] ",,\"A\"" }' long.txt >wanted
cmp wanted long.lifetimes.csv && wc -l <wanted
# a native program, with sizes
steptrace convert $data/heap.hatf.txt -o heap.lifetimes.csv && head -n 5 heap.lifetimes.csv
echo "-- classes of one name, of several loaders"
steptrace lifetimes $data/traces/loaders.step --depth 1 --top 0 | grep -o 'Loaders$Item .*'
