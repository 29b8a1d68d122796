# SPDX-License-Identifier: Apache-2.0
"""An HPROF 1.0.2 reader, written from the format's description (hprof_b_spec.h, the manual of the JDK's
HPROF agent): it shares nothing with the writer."""
import struct

TYPE_SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ROOT_SIZES = {0xff: 8, 0x01: 16, 0x02: 16, 0x03: 16, 0x04: 12, 0x05: 8, 0x06: 12, 0x07: 8, 0x08: 16}


class Dump:
    def __init__(self, path, of_jvm=False):
        self.of_jvm = of_jvm  # it has values of primitive arrays, and names in modified UTF-8
        self.data = open(path, 'rb').read()
        self.names, self.class_names, self.classes = {}, {}, {}
        self.instances, self.arrays, self.primitives = {}, {}, {}
        self.roots = []
        self.read()

    def take(self, form):
        values = struct.unpack_from('>' + form, self.data, self.at)
        self.at += struct.calcsize('>' + form)
        return values if len(values) > 1 else values[0]

    def read(self):
        assert self.data.startswith(b'JAVA PROFILE 1.0.2\0')
        self.at = 19
        assert self.take('I') == 8
        self.milliseconds = self.take('Q')
        ended = False
        while self.at < len(self.data):
            tag, _, length = self.take('BII')
            end = self.at + length
            assert end <= len(self.data) and not ended
            if tag == 0x01:
                number = self.take('Q')
                self.names[number] = self.data[self.at:end].decode(errors='replace' if self.of_jvm else 'strict')
            elif tag == 0x02:
                _, number, _, name = self.take('IQIQ')
                self.class_names[number] = self.names[name]
            elif tag == 0x1c:
                while self.at < end:
                    self.read_part()
            elif tag == 0x2c:
                ended = True
            else:
                assert tag in (0x04, 0x05), tag  # FRAME: of the JVM's own dumps
            if tag in (0x01, 0x04, 0x05):
                self.at = end
            assert self.at == end
        assert ended

    def value(self, kind):
        return self.take({1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[TYPE_SIZES[kind]])

    def read_part(self):
        tag = self.take('B')
        if tag in ROOT_SIZES:
            self.roots.append((tag, struct.unpack_from('>Q', self.data, self.at)[0]))
            self.at += ROOT_SIZES[tag]
        elif tag == 0x20:
            number, _, above = self.take('QIQ')
            self.take('QQQQQ')
            size = self.take('I')
            for _ in range(self.take('H')):
                self.take('H')
                self.value(self.take('B'))
            statics = {}
            for _ in range(self.take('H')):
                name, kind = self.take('QB')
                statics[self.names[name]] = self.value(kind)
            fields = [self.take('QB') for _ in range(self.take('H'))]
            self.classes[number] = (above, size, statics, [(self.names[n], k) for n, k in fields])
        elif tag == 0x21:
            number, _, of, length = self.take('QIQI')
            end = self.at + length
            values, at_class = {}, of
            while at_class:
                above, _, _, fields = self.classes[at_class]
                for name, kind in fields:
                    values[name] = self.value(kind)
                at_class = above
            assert self.at == end
            self.instances[number] = (of, values)
        elif tag == 0x22:
            number, _, count, of = self.take('QIIQ')
            self.arrays[number] = (of, [self.take('Q') for _ in range(count)])
        elif tag == 0x23:
            number, _, count, kind = self.take('QIIB')
            assert self.of_jvm or not any(self.data[self.at:self.at + count * TYPE_SIZES[kind]])
            self.at += count * TYPE_SIZES[kind]
            self.primitives[number] = (kind, count)
        else:
            raise AssertionError(f'tag {tag:#x} at {self.at}')
