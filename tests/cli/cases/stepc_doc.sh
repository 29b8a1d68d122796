# SPDX-License-Identifier: Apache-2.0
# Documentation and schema of a definition.
stepc --doc $data/all_of_it.step
stepc --doc=man $data/all_of_it.step | tee page.5
command -v mandoc >/dev/null && mandoc -Tlint -Werror page.5
stepc --json $data/all_of_it.step >schema.json
command -v python3 >/dev/null && python3 - <<'END'
import json
schema = json.load(open("schema.json"))
records = {record["name"]: record for record in schema["records"]}
assert list(records) == ["Figure", "p.q.R", "p.S", "p.q.T", "p.R"], list(records)
s = records["p.S"]
assert s["extends"] == "p.q.R" and s["attributes"] == []
fields = {field["name"]: field for field in s["fields"]}
assert fields["addresses"]["array"] == 2 and fields["a"]["unsigned"] and not fields["b"]["unsigned"]
assert fields["parent"]["identifier"] and fields["rs"]["record"] == "p.q.R" and fields["r"]["record"] == "p.q.R"
END
