# SPDX-License-Identifier: Apache-2.0
# Patterns that match nothing are reported with the nearest name; the numbers are then those of nothing.
t=$data/traces/shop-1.step
ends() {
    "$@" >/dev/null
    echo "$? ${*//$data/DATA}"
}
for verb in stats heap leaks dump "report -o page.html" "convert -o out.txt" "convert -o out.collapsed"; do
    ends steptrace $verb --class Strnig $t
done
ends steptrace heap --class 'java.lang.Strnig[]' $t
ends steptrace stats --thread mian $t
ends steptrace stats --thread 77 $t
ends steptrace stats --thread 0 $t
ends steptrace stats --site Shop.fromat $t
ends steptrace stats --method '!Shop.mian' $t
ends steptrace heap --by site --site 'Shop.main:9999' $t
ends steptrace stats --class 'none.**' $t
ends steptrace convert --class Strnig -o lake --to=parquet --table=objects $t
ends steptrace compare $t $t --class Strnig
# a name without its package that two classes have
ends steptrace stats --class Entry $t
ends steptrace stats --class Node $t
