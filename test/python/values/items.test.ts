import { expect, it } from "vitest";
import { Types } from "../../../packages/python/src/values/types.ts";
import { askedIn, programOf } from "../support/program.ts";

const typeIn = (source: string) => {
  const program = programOf(source);
  return new Types(program).of(askedIn(program));
};

it.each([
  ["re.finditer", "import re\nfor m in re.finditer('a', t):\n  _ = m", "Match"],
  ["finditer of a pattern", "import re\np = re.compile('a')\nfor m in p.finditer(t):\n  _ = m", "Match"],
  ["a folder", "from pathlib import Path\nfor p in Path('/tmp').glob('*'):\n  _ = p", "Path"],
  ["the parts of a mail", "import email\nm = email.message_from_string(t)\nfor p in m.walk():\n  _ = p", "Message"],
  ["a comprehension", "from decimal import Decimal\nfor d in [Decimal(x) for x in y]:\n  _ = d", "Decimal"],
  ["a sorted one", "from decimal import Decimal\nfor d in sorted(Decimal(x) for x in y):\n  _ = d", "Decimal"],
  ["one with a name", "from datetime import date\nd = [date.today() for x in y]\nfor e in d:\n  _ = e", "date"],
  ["values that are written out", "for s in ({1}, {2}):\n  _ = s", "set"],
])("knows what a loop over %s takes out", (_, source, type) => {
  expect(typeIn(source)).toBe(type);
});

it.each([
  ["values of several types", "for s in ({1}, 2):\n  _ = s"],
  ["a list that more is put into", "d = [{1} for x in y]\nd.append(1)\nfor e in d:\n  _ = e"],
  ["a list whose items are replaced", "d = [{1} for x in y]\nd[0] = 1\nfor e in d:\n  _ = e"],
  ["a dict", "for k in {i: {1} for i in y}:\n  _ = k"],
  ["a parameter", "def f(rows):\n  for r in rows:\n    _ = r"],
  ["an unknown method", "for r in x.walk():\n  _ = r"],
])("does not know it of %s", (_, source) => {
  expect(typeIn(source)).toBeUndefined();
});
