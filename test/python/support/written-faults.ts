import { listImportableModules, shapeOf } from "@nova/python";
import { template } from "./corpus.ts";
import type { Fault, FaultKind } from "./faults.ts";

const context = {
  email_user: shapeOf("a@b.c"),
  email_password: shapeOf("secret"),
  email: shapeOf({ from: "a", subject: "b", attachments: [{ name: "x.pdf", size: 10 }] }),
  lines: shapeOf([{ price: 1.5, quantity: 2 }]),
  total: shapeOf(1500),
  text: shapeOf("Total: 15,00"),
};

function fault(kind: FaultKind, how: string, source: string, edges?: string[]): Fault {
  const nodeType = edges ? ("decision" as const) : ("action" as const);
  const facts = { nodeType, context, modules: listImportableModules(template), ...(edges && { edges }) };
  return { name: how, kind, how, source, facts };
}

/** Written by hand: typical mistakes of generated code, one way each. */
export const writtenFaults: Fault[] = [
  fault("undefined name", "values of the context as names", "send_email(email_user, password)\ncontext['sent'] = True"),
  fault(
    "undefined name",
    "a forgotten import in a function",
    "def f(x):\n    return re.sub('a', 'b', x)\ncontext['t'] = f(context['text'])",
  ),
  fault("undefined name", "a name of the specification", "context['x'] = get_context('total')"),
  fault("undefined name", "a name in an f-string", "context['x'] = f'{totl:.2f}'"),
  fault("syntax", "prose around the code", "Here is the code:\ncontext['a'] = 1"),
  fault("syntax", "a fence of Markdown", "```python\ncontext['a'] = 1\n```"),
  fault("syntax", "a return outside of a function", "context['a'] = 1\nreturn context"),
  fault("syntax", "an await outside of a function", "context['a'] = await fetch()"),
  fault("wrong key", "another name for the key", "context['to'] = context['user']"),
  fault("wrong key", "a key of a nested value", "context['s'] = context['email']['subjct']"),
  fault("wrong key", "a nested key by an alias", "mail = context['email']\ncontext['s'] = mail['sender']"),
  fault("wrong key", "a key by an alias of the context", "c = context\nc['gross'] = c['totl'] * 2"),
  fault(
    "wrong key",
    "a key in a function with the context",
    "def f(ctx):\n    return ctx['totals_net']\ncontext['x'] = f(context)",
  ),
  fault("wrong key", "a key of the items of a list", "context['x'] = sum(line['pirce'] for line in context['lines'])"),
  fault("wrong key", "a key that is counted up", "context['counter'] += 1"),
  fault("wrong key", "a key that is deleted", "del context['totl']"),
  fault("wrong key", "a key that is set too late", "context['a'] = context['found'] + 1\ncontext['found'] = 2"),
  fault("wrong key", "a key by a constant", "KEY = 'totl'\ncontext['x'] = context[KEY]"),
  fault(
    "wrong key",
    "a slip in one branch",
    "if context['total'] > 5:\n    context['x'] = context['emial_user']\nelse:\n    context['x'] = 1",
  ),
  fault("no result", "only a print", "print(context['total'] * 2)"),
  fault("no result", "a dict that is printed as such", "print({'status': 'success', 'context_updates': {'a': 1}})"),
  fault("no result", "words before the JSON", "print('Result:', json.dumps({'a': 1}))"),
  fault("no result", "JSON within an f-string", "print(f'Result: {json.dumps({\"a\": 1})}')"),
  fault("no result", "JSON on stderr", "import sys\nprint(json.dumps({'a': 1}), file=sys.stderr)"),
  fault("no result", "JSON in a file", "with open('/tmp/x', 'w') as f:\n    json.dump({'a': 1}, f)"),
  fault("no result", "a function that nobody calls", "def main():\n    context['x'] = context['total']\n"),
  fault("no result", "a copy of the context", "copy = dict(context)\ncopy['x'] = 1"),
  fault(
    "no result",
    "a JSON text for a request",
    "import requests\nrequests.post('https://x', data=json.dumps({'a': context['total']}))\nprint('done')",
  ),
  fault("no result", "an empty result", "total = context['total']\nprint(json.dumps({}))"),
  fault("no result", "nothing at all", "pass"),
  fault(
    "no result",
    "new lists of old items",
    "rows = [line for line in context['lines'] if line['price'] > 1]\nrows.sort(key=lambda r: r['price'])\nprint(len(rows))",
  ),
  fault("no branch_decision", "a name", "branch_decision = context['total'] > 1000", ["true", "false"]),
  fault("no branch_decision", "another key", "context['decision'] = 'true'", ["true", "false"]),
  fault("no branch_decision", "only a look at it", "if context.get('branch_decision') == 'true':\n    print('yes')", [
    "true",
    "false",
  ]),
  fault(
    "no branch_decision",
    "a result without it",
    "print(json.dumps({'status': 'success', 'context_updates': {'high': True}}))",
    ["true", "false"],
  ),
  fault("no branch_decision", "a return", "def decide():\n    return context['total'] > 5\n\ndecide()", [
    "true",
    "false",
  ]),
  fault("missing import", "a package that is not there", "import tensorflow as tf\ncontext['v'] = tf.__version__"),
  fault(
    "missing import",
    "part of a package",
    "from sklearn.linear_model import LinearRegression\ncontext['m'] = str(LinearRegression())",
  ),
  fault(
    "missing import",
    "one of several",
    "import json, bs4\ncontext['t'] = bs4.BeautifulSoup(context['text'], 'html.parser').text",
  ),
  fault(
    "missing import",
    "in a function",
    "def f():\n    import openpyxl\n    return openpyxl.__version__\ncontext['v'] = f()",
  ),
  fault("unfit value", "a datetime", "from datetime import datetime\ncontext['at'] = datetime.now()"),
  fault(
    "unfit value",
    "a date by its module",
    "import datetime as dt\nday = dt.date.today()\ncontext['day'] = day + dt.timedelta(days=3)",
  ),
  fault(
    "unfit value",
    "a Decimal sum",
    "from decimal import Decimal\ntotal = Decimal(0)\nfor line in context['lines']:\n    total += Decimal(str(line['price']))\ncontext['sum'] = total",
  ),
  fault(
    "unfit value",
    "a Decimal in rows",
    "from decimal import Decimal\nrows = []\nfor line in context['lines']:\n    rows.append({'price': Decimal(str(line['price']))})\ncontext['rows'] = rows",
  ),
  fault("unfit value", "a set", "context['words'] = set(context['text'].split())"),
  fault(
    "unfit value",
    "a set comprehension in an update",
    "context.update({'words': {w for w in context['text'].split()}})",
  ),
  fault(
    "unfit value",
    "an e-mail message",
    "import email\nmsg = email.message_from_string(context['text'])\ncontext['email_obj'] = msg",
  ),
  fault(
    "unfit value",
    "a DataFrame",
    "import pandas as pd\ndf = pd.DataFrame(context['lines'])\ncontext['df'] = df[df['price'] > 1]",
  ),
  fault(
    "unfit value",
    "a numpy number",
    "import pandas as pd\ndf = pd.DataFrame(context['lines'])\ncontext['sum'] = df['price'].sum()",
  ),
  fault("unfit value", "a match", "import re\ncontext['m'] = re.search(r'\\d+', context['text'])"),
  fault(
    "unfit value",
    "an exception",
    "try:\n    int(context['text'])\nexcept ValueError as error:\n    context['error_text'] = error",
  ),
  fault(
    "unfit value",
    "a response",
    "import requests\nresponse = requests.get('https://x')\ncontext['response'] = response",
  ),
  fault("unfit value", "an object of a class", "class Invoice:\n    pass\ncontext['invoice'] = Invoice()"),
  fault(
    "unfit value",
    "a dataclass",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ncontext['p'] = P(1)",
  ),
  fault("unfit value", "a generator", "context['prices'] = (line['price'] for line in context['lines'])"),
  fault("unfit value", "a map", "context['prices'] = map(str, context['lines'])"),
  fault("unfit value", "views of a dict", "counts = {}\ncontext['keys'] = counts.keys()"),
  fault("unfit value", "a function that is not called", "def total():\n    return 5\ncontext['total'] = total"),
  fault("unfit value", "keys that are numbers", "context['by_id'] = {1: 'a', 2: 'b'}"),
  fault("unfit value", "NaN", "context['rate'] = float('nan')"),
  fault(
    "unfit value",
    "a datetime in the printed result",
    "from datetime import datetime\nprint(json.dumps({'status': 'success', 'context_updates': {'at': datetime.now()}}))",
  ),
  fault(
    "unfit value",
    "bytes in the printed result",
    "updates = {'b64': base64.b64encode(context['text'].encode())}\nprint(json.dumps({'status': 'success', 'context_updates': updates}))",
  ),
  fault("unfit value", "an open file", "context['file'] = open('/tmp/x', 'w')"),
  fault("unfit value", "a path", "from pathlib import Path\nfolder = Path('/tmp')\ncontext['path'] = folder / 'a.txt'"),
  fault("unfit value", "a UUID in a list", "import uuid\ncontext['ids'] = [uuid.uuid4() for _ in range(3)]"),
];
