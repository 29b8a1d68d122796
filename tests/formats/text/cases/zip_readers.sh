# SPDX-License-Identifier: Apache-2.0
# Others read our ZIP file.
steptrace convert $data/closed.txt -o a.zip
command -v unzip >/dev/null && { unzip -tq a.zip >/dev/null || echo unzip is not content; unzip -p a.zip trace | cmp - $data/closed.txt; }
command -v python3 >/dev/null || exit 77
python3 - <<'END'
import os, struct, zipfile
text = open(os.environ["data"] + "/closed.txt", "rb").read()
with zipfile.ZipFile("a.zip") as z:
    assert z.testzip() is None
    [entry] = z.infolist()
    assert (entry.filename, entry.compress_type, entry.file_size) == ("trace", 8, len(text))
    assert z.read("trace") == text
raw = open("a.zip", "rb").read()
# the local header has a ZIP64 field
length, extra = struct.unpack("<HH", raw[26:30])
assert struct.unpack("<H", raw[30 + length:32 + length])[0] == 1 and extra >= 20, raw[:64]
# and we read what others write, stored or deflated, with other entries beside it
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(f"b{method}.zip", "w", method) as z:
        z.writestr("readme", "no trace")
        z.writestr("trace", text)
with zipfile.ZipFile("other.zip", "w") as z:
    z.writestr("readme", "no trace")
END
steptrace dump b0.zip | cmp - $data/closed.txt
steptrace dump b8.zip | cmp - $data/closed.txt
steptrace dump other.zip
