# SPDX-License-Identifier: Apache-2.0
# The extension in sqlite3: all tables of traces, one table, blocks that are passed over, faults.
[ -n "${EXTENSION:-}" ] && command -v sqlite3 >/dev/null || exit 77
printf '.load %s\nselect 1;\n' "$EXTENSION" | sqlite3 2>/dev/null | grep -q 1 || exit 77
steptrace convert $data/closed.txt -o a.step
ask() { { printf '.load %s\n' "$EXTENSION"; cat; } | sqlite3 2>&1; }
ask <<'SQL'
select steptrace_open('a.step') > 20, steptrace_open('a.step', 'b_') > 20;
select o.class, b.class from objects o join b_objects b using (object) order by 1 limit 1;
create virtual table one using steptrace('a.step', 'frees');
select count(*), min(time), max(object) from one;
select count(*) from allocations where time > 1e9;
select steptrace_blocks('passed') > 0;
select steptrace_damage('a.step') is null;
select count(*) from objects where class glob '*Object';
select count(*) from objects where class = 'java/lang/Object' or object = 3;
select count(*) from objects where died is null and born >= 1500.5 and size < 'x';
SQL
echo "select steptrace_open('none.step');" | ask | sed 's/.*none/none/'
echo "create virtual table x using steptrace('a.step', 'frese');" | ask | sed 's/ (there.*//; s/.*there is/there is/'
