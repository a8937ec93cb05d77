import { checkNodeCode, listImportableModules, shapeOf } from "@nova/python";
import { describe, expect, it } from "vitest";
import { createTypeOf, findUnfit } from "../../../packages/python/src/values/types.ts";
import { template } from "../support/corpus.ts";
import { askedIn, pathsOf, programOf } from "../support/program.ts";

const typeIn = (source: string) => {
  const program = programOf(source);
  return createTypeOf(program, pathsOf(program))(askedIn(program));
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
])("the value _ of the Python code %j has the type %s", (source, type) => {
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
])("the value _ of the Python code %j has no known type", (source) => {
  expect(typeIn(source)).toBeUndefined();
});

describe("a value that the context cannot store", () => {
  const unfitIn = (source: string, forDumps = false) => {
    const program = programOf(source);
    return findUnfit(program, createTypeOf(program, pathsOf(program)), askedIn(program), forDumps)?.path;
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
  ])("is not found in %j", (source) => {
    expect(unfitIn(source)).toBeUndefined();
  });

  it("is found by the rules of json.dumps if the code passes the value to json.dumps: bytes are rejected, and numbers are accepted as keys", () => {
    expect(unfitIn("_ = {'a': b'x'}", true)).toBe(".a");
    expect(unfitIn("_ = {1: 'a'}", true)).toBeUndefined();
  });
});

const context = { day: shapeOf("2026-01-01"), rows: shapeOf([{ tag: "a", price: 1.5 }]), order: shapeOf({ id: 1 }) };
const head = [
  "import statistics, uuid",
  "from collections import defaultdict",
  "from datetime import datetime",
  "from decimal import Decimal",
  "from enum import Enum",
  "from pathlib import Path",
  "now = datetime.fromisoformat(context['day'])",
  "prices = [Decimal(str(row['price'])) for row in context['rows']]",
].join("\n");

async function errorsOf(source: string): Promise<string[]> {
  const facts = { nodeType: "action", context, modules: listImportableModules(template) } as const;
  const found = await checkNodeCode(`${head}\n${source}\n`, facts);
  return found.filter(({ severity }) => severity === "error").map(({ code }) => code);
}

const grouped = (more: string) =>
  `g = defaultdict(set)\nfor row in context['rows']:\n    g[row['tag']].add(row['price'])\n${more}`;

describe("checkNodeCode reports a value that the context cannot store", () => {
  it.each([
    ["in an item that is added to a list of the context", "context['log'] = []\ncontext['log'].append({'at': now})"],
    [
      "in the response that a session returns",
      "import requests\ns = requests.Session()\ncontext['r'] = s.get('https://x')",
    ],
    ["in the result of arithmetic with arrays", "import numpy as np\ncontext['r'] = np.array([1, 2]) * 2"],
    [
      "in an image that was made smaller",
      "from PIL import Image\ncontext['r'] = Image.new('L', (9, 9)).resize((3, 3))",
    ],
  ])("if the value occurs %s", async (_where, source) => {
    expect(await errorsOf(source)).toEqual(["PY150"]);
  });
});

describe("checkNodeCode accepts a value", () => {
  it.each([
    ["a dict that an update corrects", "r = {'at': now}\nr.update({'at': now.isoformat()})\ncontext['r'] = r"],
    [
      "a dict that an unknown update may correct",
      "more = {'at': str(now)}\nr = {'at': now}\nr.update(more)\ncontext['r'] = r",
    ],
    ["a dict() that is corrected", "r = dict(at=now)\nr['at'] = str(r['at'])\ncontext['r'] = r"],
    [
      "the result of a function that corrects a dict and returns it",
      "def row():\n    r = {'at': now}\n    r['at'] = str(r['at'])\n    return r\ncontext['r'] = row()",
    ],
    [
      "the result of a function, corrected by the caller",
      "def row():\n    return {'at': now}\nr = row()\nr['at'] = str(now)\ncontext['r'] = r",
    ],
    [
      "the result of a function with two results, of which only one is unfit",
      "def row(n):\n    if n:\n        return {'at': str(now)}\n    return {'at': now}\ncontext['r'] = row(1)",
    ],
    ["the maximum, converted to a number", "context['r'] = float(max(prices))"],
    ["the first item of a list, after an assignment to that item", "prices[0] = 1.5\ncontext['r'] = prices[0]"],
    ["the mean of numbers", "context['r'] = statistics.mean([1, 2])"],
    ["the names of files", "context['r'] = [str(path) for path in Path('/tmp').glob('*')]"],
    ["the value of an enum member", "class State(Enum):\n    OPEN = 'open'\ncontext['r'] = State.OPEN.value"],
    ["an enum member that is a text", "class State(str, Enum):\n    OPEN = 'open'\ncontext['r'] = State.OPEN"],
    [
      "a new dict with a sorted list for each group",
      grouped("context['g'] = {key: sorted(found) for key, found in g.items()}"),
    ],
    [
      "groups that are replaced by lists",
      grouped("for key in list(g):\n    g[key] = sorted(g[key])\ncontext['g'] = g"),
    ],
    [
      "a list that replaces a list with an unfit value",
      "context['log'] = []\ncontext['log'].append(now)\ncontext['log'] = [str(now)]",
    ],
    [
      "the JSON that a session has read",
      "import requests\ns = requests.Session()\ncontext['r'] = s.get('https://x').json()",
    ],
    ["the text of a page", "import fitz\ncontext['r'] = fitz.open('/tmp/a.pdf')[0].get_text()"],
    ["an array that is converted to a list", "import numpy as np\ncontext['r'] = (np.array([1, 2]) * 2).tolist()"],
    ["a number of numpy that is converted to a float", "import numpy as np\ncontext['r'] = float(np.sqrt(2))"],
  ])("such as %s", async (_what, source) => {
    expect(await errorsOf(source)).toEqual([]);
  });
});
