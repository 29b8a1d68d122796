# SPDX-License-Identifier: Apache-2.0
"""A listener to USDT probes, by the kernel's uprobes: the notes of an ELF file (written from the description
of <sys/sdt.h>'s format, not from the header), and perf events at their addresses, with the arguments' registers."""
import ctypes
import mmap
import os
import re
import struct

from session import Skip

# What perf calls them: the bits of sample_regs_user, and the names in operands of eight bytes.
REGISTERS = {"x86_64": {"rax": 0, "rbx": 1, "rcx": 2, "rdx": 3, "rsi": 4, "rdi": 5, "rbp": 6,
                        **{f"r{i}": 8 + i for i in range(8, 16)}},
             "aarch64": {f"x{i}": i for i in range(31)}}[os.uname().machine]
CALLS = {"x86_64": 298, "aarch64": 241}  # perf_event_open
PAGES = 1024
TID, REGS_USER, SAMPLE, LOST = 1 << 1, 1 << 12, 9, 2


class Elf:
    """The sections of a 64-bit file of little bytes, and where its addresses lie in it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.segments, self.sections = [], {}
        segments, sections = struct.unpack_from("<QQ", self.data, 32)
        size, count, entry, number, names = struct.unpack_from("<HHHHH", self.data, 54)
        for i in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", self.data, segments + i * size)
            if kind == 1:
                self.segments.append((address, offset, length))
        heads = [struct.unpack_from("<IIQQQQ", self.data, sections + i * entry) for i in range(number)]
        for name, _, _, address, offset, length in heads:
            start = heads[names][4] + name
            self.sections[self.data[start:self.data.index(b"\0", start)].decode()] = (address, offset, length)

    def offset(self, address):
        """Where it lies in the file; a place that the file does not have is a fault."""
        for start, offset, length in self.segments:
            if start <= address < start + length:
                return address - start + offset
        raise ValueError(f"{address:#x} is in no segment of the file")


class Probe:
    def __init__(self, elf, description):
        place, base, semaphore = struct.unpack_from("<QQQ", description)
        provider, name, operands = description[24:].split(b"\0")[:3]
        moved = elf.sections[".stapsdt.base"][0] - base
        self.name, self.operands = f"{provider.decode()}:{name.decode()}", operands.decode().split()
        self.address, self.semaphore = place + moved, semaphore + moved if semaphore else 0
        self.offset = elf.offset(self.address)
        self.semaphore_offset = elf.offset(self.semaphore) if semaphore else 0


def probes_of(path):
    """The probes of a file, by name."""
    elf = Elf(path)
    _, at, length = elf.sections.get(".note.stapsdt", (0, 0, 0))
    found, end = {}, at + length
    while at < end:
        owner, size, kind = struct.unpack_from("<III", elf.data, at)
        at += 12 + (owner + 3) // 4 * 4
        if kind == 3:
            probe = Probe(elf, elf.data[at:at + size])
            found[probe.name] = probe
        at += (size + 3) // 4 * 4
    return found


class Listener:
    """Listens to probes of a file, in whatever process maps it, until it is closed."""

    def __init__(self, path, probes):
        self.path, self.rings, self.opened, self.type = os.fsencode(path), [], [], 0
        try:
            with open("/sys/bus/event_source/devices/uprobe/type", encoding="utf-8") as file:
                self.type = int(file.read())
            for probe in probes:
                for cpu in sorted(os.sched_getaffinity(0)):
                    self.open(probe, cpu)
        except OSError as refused:
            self.close()
            raise Skip(f"the kernel allows no uprobes: {refused}") from refused

    def open(self, probe, cpu):
        registers = [REGISTERS[re.fullmatch(r"-?8@%?(\w+)", text).group(1)] for text in probe.operands]
        mask = sum(1 << number for number in set(registers))
        path = ctypes.create_string_buffer(self.path)
        attributes = struct.pack("<IIQQQQQIIQQQQIiQIHH", self.type, 112, probe.semaphore_offset << 32, 1, TID | REGS_USER, 0, 0,
                                 0, 0, ctypes.addressof(path), probe.offset, 0, mask, 0, 0, 0, 0, 0, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        descriptor = libc.syscall(CALLS[os.uname().machine], attributes, -1, cpu, -1, 8)
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.opened.append(descriptor)
        order = sorted(set(registers))
        self.rings.append((probe.name, [order.index(number) for number in registers],
                           mmap.mmap(descriptor, (1 + PAGES) * mmap.PAGESIZE)))

    def events(self, process):
        """What this process reported, of each probe in the order of each processor: (name, arguments)."""
        found = []
        for name, order, ring in self.rings:
            head, _, start, size = struct.unpack_from("<QQQQ", ring, 1024)
            if head > size:
                raise ValueError("the ring is too small")
            data, at = ring[start:start + size], 0
            while at < head:
                kind, _, length = struct.unpack_from("<IHH", data, at)
                if kind == LOST:
                    raise ValueError("events were lost")
                if kind == SAMPLE and struct.unpack_from("<I", data, at + 8)[0] == process:
                    values = struct.unpack_from(f"<{(length - 24) // 8}Q", data, at + 24)
                    found.append((name, tuple(values[index] for index in order)))
                at += length
        return found

    def close(self):
        for _, _, ring in self.rings:
            ring.close()
        for descriptor in self.opened:
            os.close(descriptor)
        self.rings, self.opened = [], []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
