# SPDX-License-Identifier: Apache-2.0
# Questions in SQL: rows, formats, joins, several traces, wrong names, damage.
steptrace help | grep -q '^  sql ' || exit 77
steptrace sql x.step "select 1" 2>&1 | grep -q 'this build has no SQLite' && exit 77
steptrace convert $data/closed.txt -o a.step
steptrace convert $data/closed.txt -o b.step --class 'java.lang.Object'
steptrace sql a.step "select object, class, thread, size, born, died, alive, survived, existing from objects order by 1"
steptrace sql --csv a.step "select * from frees; select * from allocations where time < 2500 order by object limit 2"
steptrace sql --json a.step "select x'00ff' as bytes, '00ff' as text"
steptrace sql --json a.step "select call, parent, method, entry, exit, ended from calls order by call limit 2"
steptrace sql a.step "select collection, freed_objects, live_objects from collections; select thread, name, started, ended from threads"
echo "-- two traces, and a join"
steptrace sql new=a.step old=b.step "select (select count(*) from new.allocations) n, (select count(*) from old.allocations) o, (select count(*) from allocations) main"
steptrace sql a.step "select c.class, count(*) n from objects o join classes c using (class_id) group by 1 order by 2 desc, 1"
echo "-- a record type"
steptrace sql a.step "select count(*) from \"java.ObjectAlloc\""
echo "-- wrong names"
steptrace sql a.step "select * from objcts" || echo "exit $?"
steptrace sql a.step "select clas from objects" || echo "exit $?"
steptrace sql a.step "selekt" || echo "exit $?"
steptrace sql $data/closed.txt "select 1" 2>&1 | sed 's/.*: tables/tables/'
steptrace sql none.step "select 1" 2>/dev/null || echo "exit $?"
echo "-- cut"
head -c $(($(wc -c <a.step) - 20)) a.step >cut.step
steptrace sql cut.step "select count(*) from objects" || echo "exit $?"
echo "-- reading alone"
cp a.step other.step
for text in "create virtual table temp.x using steptrace('other.step', 'objects')" "create virtual table temp.x using steptrace('none.step', 'objects')" \
    "select steptrace_open('other.step')" "select steptrace_open('none.step')" "select fts3_tokenizer('simple')" \
    "create table t (x)" "create temp view v as select 1" "attach ':memory:' as y" "begin" "pragma writable_schema=1" "vacuum into 'copy.db'"; do
    steptrace sql a.step "$text" 2>&1 | sed 's/.*authoriz.*/refused/'
done
echo "-- functions that read"
steptrace sql --csv a.step "select count(*) > 5 from pragma_table_info('objects'); select name from pragma_table_list('threads') where schema = 'main';
    select value from json_each('[4,5]'); select fullkey from json_tree('[4]') limit 1; select max(name) = 'threads' from sqlite_schema where name < 'u'"
echo "-- limits"
steptrace sql a.step "select length(zeroblob(100000000))" 2>&1
steptrace sql a.step "select 1 where 'a' like '$(printf '%2000s' '')'" 2>&1
echo "-- two classes of one name, from two loaders; a name with a point among those of an IN; a collation"
loaders=$data/traces/loaders.step
steptrace sql $loaders "select class, class_id, loader, count(*) objects, sum(size) bytes from objects join classes using (class_id, class)
    where class = 'Loaders\$Item' group by class_id; select class, sum(size) bytes from objects where class = 'Loaders\$Item' group by class;
    select method, class_id, count(*) calls from calls join methods using (method_id, method, class) where method glob 'Loaders\$Item.make' group by class_id"
steptrace sql --csv $loaders "select count(*) from calls where class in ('Loaders\$Item', 'Loaders\$\$Lambda\$1.0x00007f9bed000c10', 'Loaders');
    select count(*) from calls where class = 'LOADERS\$ITEM' collate nocase"
echo "-- a full disk ends a query without an end"
for form in -- --csv --json; do
    timeout 60 "$STEPTRACE" sql $form a.step "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c" >/dev/full || echo "exit $?"
done
