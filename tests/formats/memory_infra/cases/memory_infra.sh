# SPDX-License-Identifier: Apache-2.0
note=$data/note.memory-infra.json
# the heap dump note's own example: its tables by backtrace and by type, <other> inferred
steptrace heap $note --tree top-down --least 0
steptrace heap $note --by class
steptrace heap $note --tree top-down --by class+site --least 48 --heap partition_alloc
steptrace heap $note --heap malloc --by site | head -n 3
# an old dump, whose sizes are those of the frames themselves, and a new one in the same file
steptrace heap $data/old.memory-infra.json --at gc:1 --tree top-down --least 0
steptrace heap $data/old.memory-infra.json --diff gc:1 gc:2 --by site
# what is converted is the same
steptrace convert $note -o out.collapsed && cat out.collapsed
steptrace convert $note -o out.memory-infra.json --least 0
steptrace heap $note --tree top-down --by class+site --least 0 | tail -n +3 >a
steptrace heap out.memory-infra.json --tree top-down --by class+site --least 0 | tail -n +3 >b
cmp a b
steptrace convert - --from memory-infra -o out.pb.gz <$note && gzip -t out.pb.gz
steptrace convert $note -o v2.memory-infra.json.gz --v2
steptrace heap v2.memory-infra.json.gz --by site --depth 0 --csv
steptrace convert $note -o out.hatf || echo $?
steptrace heap $note --by thread || echo $?
steptrace heap $note --at gc:2 || echo $?
steptrace convert $data/closed.txt -o x.memory-infra.json --kind OA || echo $?
steptrace convert $data/closed.txt -o x.pb.gz --every gc || echo $?
ls x.* 2>&1
