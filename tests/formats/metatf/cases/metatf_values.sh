# SPDX-License-Identifier: Apache-2.0
# Values that take no bytes: a count of 4 bytes stands for 4,194,303 of them, a tag of 1 for 1,000.  A file may have 64 a byte
# and 2^22 more; what came before is kept.
cat >make.py <<'END'
import struct


def write(path, dtd, data):
    """A file of one section, without its DTD, which lies beside it."""
    name = path.encode() + b'.dtd'
    with open(path + '.dtd', 'w', encoding='ascii') as file:
        file.write('tag.width = 1; n.width = 4; n.interpretation = none; x.width = 1; x.interpretation = default 7;\n' + dtd)
    start = 16 + 12 + len(name) + 12
    with open(path + '.mtf', 'wb') as file:
        file.write(b'\x7fMTF' + bytes([1, 1, len(name)]) + bytes(9) + struct.pack('<III', 1, start, 0) + name +
                   struct.pack('<III', 1, start, len(data)) + data)


def counted(count):
    return b'\x04' + struct.pack('<I', count)


names = [f'f{i}' for i in range(1000)]
write('repeated', 'section s 1 { r : (tag, n*x) { tag.value = 4; } }\n', counted((1 << 22) - 1) * 4000)
write('paid', 'y.width = 1; y.interpretation = none;\nsection s 1 { r : (tag, n*(x, y)) { tag.value = 4; } }\n',
      (counted(400000) + bytes(400000)) * 20)
write('fields', ''.join(f'{name}.width = 1; {name}.interpretation = default 7;\n' for name in names) +
      'section s 1 { r : (tag, ' + ', '.join(names) + ') { tag.value = 4; } }\n', b'\x04' * 100000)
END
python3 make.py || exit 1
for verb in check info dump "convert --to=jsonl -o o.jsonl" stats; do
    timeout 60 "$STEPTRACE" ${verb%% *} repeated.mtf ${verb#"${verb%% *}"} >out 2>err
    echo "${verb%% *}: $? $(sed 's/^steptrace: //' err | tail -n 1)"
    [ "$(wc -c <out)" -lt 30000000 ] || echo "$(wc -c <out) bytes"
done
for name in fields paid; do
    timeout 60 "$STEPTRACE" info $name.mtf | grep records
    timeout 60 "$STEPTRACE" check $name.mtf 2>&1
done
