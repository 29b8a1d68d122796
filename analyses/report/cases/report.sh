# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || exit 77
steptrace report $data/closed.txt -o page.html --title 'A </script> & B' --at end
python3 - page.html <<'END'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
text = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
data = json.loads(text)
print(data["title"], data["gaps"], data["summary"]["events"], data["moment"]["label"])
for row in data["classes"]:
    print(row)
for row in data["methods"]:
    print(row)
print([thread["number"] for thread in data["threads"]])
print(sorted(set(re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page))), re.findall(r"https?:[^\"]*", page.replace("http://www.w3.org/2000/svg", "")))
END
echo "exit $?"
steptrace report $data/closed.txt
echo "exit $?"
steptrace report $data/closed.txt -o x.html --at gc:99
echo "exit $?"
steptrace report $data/closed.txt -o x.html --at nonsense
echo "exit $?"
steptrace report $data/bad_line.txt -o cut.html
echo "exit $?"
steptrace report nothing.step -o x.html
echo "exit $?"
ls
