# SPDX-License-Identifier: Apache-2.0
# closed.txt has no sizes, and no call is open where it allocates
steptrace heap $data/closed.txt
steptrace heap $data/closed.txt --by site+class --at 2800ns
steptrace heap $data/closed.txt --at gc:1 --allocated --by thread
steptrace heap $data/closed.txt --tree top-down --by class+site --at 2800ns --least 0
steptrace heap $data/closed.txt --tree bottom-up --at 2800ns --least 0
steptrace heap $data/closed.txt --diff 2800ns end
steptrace heap $data/closed.txt --diff 2800ns,end --json
steptrace heap $data/closed.txt --at end --csv --by class+site+thread --allocated
steptrace heap $data/closed.txt --ages
steptrace heap - --ages <$data/closed.txt
steptrace heap $data/closed.txt --class 'pack/*'
steptrace heap $data/closed.txt --at gc:2 || echo $?
steptrace heap $data/closed.txt --at noon || echo $?
steptrace heap $data/closed.txt --tree sideways || echo $?
steptrace heap $data/closed.txt --tree top-down --json || echo $?
echo "-- a time after the end is no moment"
for verb in heap report; do
    steptrace $verb $data/traces/shop-1.step --at 378ms $([ $verb = report ] && echo -o page.html)
    echo $?
done
echo "-- at the end of a JVM there is garbage that no collection has found"
for at in end 377ms; do steptrace heap $data/traces/shop-1.step --at $at --top 1 | sed -n 2p; done
steptrace stats $data/traces/shop-1.step --alive-at 1s
echo $?
steptrace heap $data/traces/shop-1.step --at 377ms --top 1 | head -n 1
echo "-- classes of one name, of several loaders"
loaders=$data/traces/loaders.step
steptrace heap $loaders --class 'Loaders$Item' | tail -n 2
steptrace heap $loaders --class 'Loaders$Item' --csv
