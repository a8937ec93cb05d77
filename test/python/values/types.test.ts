import { describe, expect, it } from "vitest";
import { Types } from "../../../packages/python/src/values/types.ts";
import { findUnfit } from "../../../packages/python/src/values/unfit.ts";
import { askedIn, pathsOf, programOf } from "../support/program.ts";

const typeIn = (source: string) => {
  const program = programOf(source);
  return new Types(program, pathsOf(program)).of(askedIn(program));
};

it.each([
  ["from datetime import datetime\n_ = datetime.now()", "datetime"],
  ["import datetime as dt\n_ = dt.datetime.now().date()", "date"],
  ["from datetime import date, timedelta\n_ = date.today() + timedelta(1)", "date"],
  ["from decimal import Decimal\n_ = Decimal(1) * 2", "Decimal"],
  ["from decimal import Decimal\nt = Decimal(0)\nfor x in y:\n  t += x\n_ = t", "Decimal"],
  ["from decimal import Decimal\n_ = sum(Decimal(x) for x in y)", "Decimal"],
  ["from decimal import Decimal\n_ = round(Decimal(1), 2)", "Decimal"],
  ["_ = set(a) - b", "set"],
  ["import pandas as pd\ndf = pd.DataFrame(x)\n_ = df[df['a'] > 1]", "DataFrame"],
  ["import pandas as pd\n_ = pd.DataFrame(x)['a'].sum()", "numpy number"],
  ["import re\n_ = re.compile('a').search(x)", "Match"],
  ["_ = open(x)", "file"],
  ["a = None\nif x:\n  a = {1}\n_ = a", "set"],
  ["class A: pass\n_ = A()", "object"],
  ["_ = float('inf')", "nan"],
  ["_ = {}.keys()", "view"],
])("the value of %j has the type %s", (source, type) => {
  expect(typeIn(source)).toBe(type);
});

it.each([
  ["from datetime import datetime\n_ = datetime.now().isoformat()"],
  ["from datetime import datetime\nd = datetime.now()\nd = str(d)\n_ = d"],
  ["from datetime import datetime\nd = datetime.now()\nif x:\n  d = str(d)\n_ = d"],
  ["from decimal import Decimal\n_ = float(Decimal(1))"],
  ["import pandas as pd\n_ = pd.DataFrame(x).to_dict('records')"],
  ["class A(dict): pass\n_ = A()"],
  ["row = find()\n_ = row.keys()"],
  ["_ = open(x).read()"],
])("the value of %j has no known type", (source) => {
  expect(typeIn(source)).toBeUndefined();
});

describe("an unfit value", () => {
  const unfitIn = (source: string, forDumps = false) => {
    const program = programOf(source);
    return findUnfit(program, new Types(program, pathsOf(program)), askedIn(program), forDumps)?.path;
  };

  it.each([
    ["_ = {'a': [{'b': {1}}]}", ".a[].b"],
    ["_ = [{1} for x in y]", "[]"],
    ["r = {'a': {1}}\n_ = r", ".a"],
    ["r = {}\nr['a'] = {1}\n_ = r", ".a"],
    ["r = []\nr.append({'a': {1}})\n_ = {'rows': r}", ".rows[].a"],
    ["_ = {1: 'a'}", ""],
  ])("is found in %j", (source, path) => {
    expect(unfitIn(source)).toBe(path);
  });

  it.each([
    ["r = {'a': {1}}\nr['a'] = sorted(r['a'])\n_ = r"],
    ["r = [{1}]\nfor x in r: fix(x)\n_ = r"],
    ["r = {'a': {1}}\nr.pop('a')\n_ = r"],
    ["_ = {'a': b'bytes', 'b': (1, 2), 'c': None}"],
  ])("is corrected in %j", (source) => {
    expect(unfitIn(source)).toBeUndefined();
  });

  it("differs between the context and json.dumps", () => {
    expect(unfitIn("_ = {'a': b'x'}", true)).toBe(".a");
    expect(unfitIn("_ = {1: 'a'}", true)).toBeUndefined();
  });
});
