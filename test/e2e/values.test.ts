import { createHash } from "node:crypto";
import { membersOf, renderJson } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, historyText, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;
const blobsRead: string[] = [];

beforeAll(async () => {
  cloud = await openTestCloud({
    faults: {
      s3({ operation, key }) {
        if (operation === "GetObject") blobsRead.push(key);
        return undefined;
      },
    },
  });
});

afterAll(async () => {
  await cloud.close();
});

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function valuesOf(text: string): Record<string, string> {
  return Object.fromEntries(membersOf(text).map(({ key, json }) => [key, json]));
}

/** Values that a caller sends as JSON, each with the `repr` that Python prints for it in a node. */
const sent: [json: string, repr: string][] = [
  ["12345678901234567890", "12345678901234567890"],
  ["850.0", "850.0"],
  ["-0.0", "-0.0"],
  ["1E2", "100.0"],
  ["0.1000000000000000055511151231257827", "0.1"],
  [String.raw`"\ud83d\ude00 \u00e9 \/"`, "'😀 é /'"],
  ['[1.50, {"deep": 99999999999999999999.0}]', "[1.5, {'deep': 1e+20}]"],
  ['{"__proto__": 1, "": null}', "{'__proto__': 1, '': None}"],
  ["[[], {}, null, true]", "[[], {}, None, True]"],
];

describe("the values of the context", () => {
  it("reach the code exactly as a caller sent them, and keep every digit in the result if no code changes them", async () => {
    const keys = sent.map(([json], index) => [`k${index}`, json]);
    const look = "context['seen'] = {key: repr(context[key]) for key in list(context)}";
    const version = await cloud.publish(inARow("digits", { look, idle: "x = 1", deep: "context['k1'] == 850" }));
    const trace = await cloud.run(version, `{${keys.map(([key, json]) => `"${key}":${json}`)}}`);
    const { seen, ...untouched } = valuesOf(trace.context.text);
    expect(untouched).toEqual(Object.fromEntries(keys));
    expect(valuesOf(trace.entries[0]?.changes.set.text ?? "{}")).toEqual(untouched);
    expect(Object.values(JSON.parse(seen ?? "{}"))).toEqual(sent.map(([, repr]) => repr));
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("are stored as json.dumps writes them if code sets them", async () => {
    const { context } = await cloud.runCode("context.update(a=2**64, b=850.0, c=0.1 + 0.2, d=(1, None), e='é')");
    const set = { a: "18446744073709551616", b: "850.0", c: "0.30000000000000004", d: "[1, null]" };
    const { e, ...numbers } = valuesOf(context.text);
    expect(Object.fromEntries(Object.entries(numbers).map(([k, v]) => [k, v.replace(",null", ", null")]))).toEqual(set);
    expect(JSON.parse(e ?? "")).toBe("é");
  });

  it("arrive unchanged even if they are large, and are loaded only for nodes that read them", async () => {
    const items = Array.from({ length: 2500 }, (_, n) => `{"id":1234567890123456${String(n).padStart(4, "0")}}`);
    const big = `{"items":[${items}],"price":850.0}`;
    expect(big.length).toBeGreaterThan(50_000);
    const check =
      "value = context['big']\ncontext['sum'] = [len(value['items']), value['items'][-1]['id'], value['price']]";
    const make = "context['mine'] = {'rows': [[n, 10**19 + n] for n in range(2500)]}";
    const again = "context['last'] = context['mine']['rows'][-1]";
    const trace = await cloud.run(await cloud.publish(inARow("large", { check, make, again })), `{"big":${big}}`);
    expect(JSON.parse(trace.context.text)).toMatchObject({
      big: { $blob: { type: "json", sha256: sha256(big), bytes: big.length } },
      mine: { $blob: { type: "json" } },
    });
    const { sum, last } = valuesOf(trace.context.text);
    expect([sum, last].map((text) => text?.replaceAll(" ", ""))).toEqual([
      "[2500,12345678901234562499,850.0]",
      "[2499,10000000000000002499]",
    ]);
  });

  it.each([
    ['{"$blob": {"sha256": "nothing"}}'],
    [`{"$blob": {"sha256": "${"0".repeat(64)}", "bytes": 1, "type": "bytes"}}`],
    ['[{"$$blob": {"$blob": 850.0}}]'],
  ])("stay plain data even if they look like references to blobs: %s", async (text) => {
    const copy = "context['copy'] = json.loads(context['text'])\nassert context['copy'] == context['value']";
    const again = "context['same'] = context['copy'] == context['value'] == json.loads(context['text'])";
    const version = await cloud.publish(inARow("look-alikes", { copy, again }));
    const trace = await cloud.run(version, `{"value": ${text}, "text": ${JSON.stringify(text)}}`);
    expect(trace.execution.error).toBeUndefined();
    expect(JSON.parse(trace.context.text)).toMatchObject({ same: true });
    expect(blobsRead.filter((key) => key.includes(trace.execution.id))).toEqual([]);
  });
});

describe("bytes in the context", () => {
  const pdf = Buffer.alloc(5_000_000, "%PDF 5 MB ");
  const file = {
    key: "pdf",
    sha256: sha256(pdf),
    bytes: pdf.length,
    async *open() {
      yield pdf;
    },
  };
  const reference = { $blob: { sha256: file.sha256, bytes: file.bytes, type: "bytes" } };
  const readsOf = (id: string) => blobsRead.filter((key) => key.includes(id) && key.endsWith(file.sha256)).length;

  it("of an uploaded file are stored once and not loaded for nodes that do not read them", async () => {
    const version = await cloud.publish(
      inARow("pass", { a: "context['a'] = 1", b: "context['b'] = len(context)", c: "x = 1" }),
    );
    const trace = await cloud.run(version, "{}", [file]);
    expect(JSON.parse(trace.context.text)).toEqual({ pdf: reference, a: 1, b: 2 });
    const { bytes_stored } = await cloud.counters(trace.execution.id);
    expect(bytes_stored).toBeGreaterThan(pdf.length);
    expect(bytes_stored).toBeLessThan(pdf.length * 1.05);
    expect(readsOf(trace.execution.id)).toBe(0);
  });

  it("are loaded only for the node that reads them", async () => {
    const look = "import hashlib\ncontext['hash'] = hashlib.sha256(context['pdf']).hexdigest()";
    const trace = await cloud.run(await cloud.publish(inARow("look", { a: "x = 1", look, c: "x = 1" })), "{}", [file]);
    expect(JSON.parse(trace.context.text)).toEqual({ pdf: reference, hash: file.sha256 });
    expect(readsOf(trace.execution.id)).toBe(1);
  });

  it("are stored as references with a hash if code sets them, and later nodes read them as bytes", async () => {
    const [small, large] = [Buffer.from("a\0b"), Buffer.alloc(300_000, 7)];
    const make = "context['small'] = b'a\\0b'\ncontext['deep'] = {'list': [bytes([7]) * 300_000]}";
    const look =
      "context['look'] = [context['small'].hex(), len(context['deep']['list'][0]), str(type(context['small']))]";
    const trace = await cloud.run(await cloud.publish(inARow("set-bytes", { make, look })));
    const ref = (of: Buffer) => ({ $blob: { sha256: sha256(of), bytes: of.length, type: "bytes" } });
    expect(JSON.parse(trace.context.text)).toEqual({
      small: ref(small),
      deep: { list: [ref(large)] },
      look: ["610062", 300_000, "<class 'bytes'>"],
    });
  });
});

describe("the code of a node", () => {
  it("reads the values that an earlier node set, even if a later node has changed or deleted them", async () => {
    const third =
      "context['was'] = outputs['first']['n']\ncontext['names'] = sorted(outputs)\ncontext['raw'] = len(outputs['first']['raw'])\ntry: outputs['later']\nexcept KeyError: context['missing'] = True";
    const nodes = {
      first: "context['n'] = 1; context['raw'] = b'x' * 9000",
      second: "context['n'] = 2; del context['raw']",
      third,
      later: "x = 1",
    };
    const trace = await cloud.run(await cloud.publish(inARow("outputs", nodes)));
    expect(trace.execution.error).toBeUndefined();
    expect(JSON.parse(trace.context.text)).toMatchObject({ n: 2, was: 1, raw: 9000, missing: true });
    expect(JSON.parse(trace.context.text).names).toEqual(expect.arrayContaining(["first", "second"]));
  });

  it("gets an idempotency key that differs between nodes and stays the same in a retry", async () => {
    const key = "import os\nkey = os.environ['NOVA_IDEMPOTENCY_KEY']\n";
    const tried = {
      code: `${key}class Ours(ConnectionError): pass\nraise Ours(key)`,
      retry: { attempts: 2, delay: 0, on: ["ConnectionError"] },
      onError: "other",
    };
    const version = await cloud.publish(inARow("keys", { tried, other: `${key}context['key'] = key` }));
    const trace = await cloud.run(version);
    const { error_message, steps } = entryOf(trace, "tried");
    expect(steps.map((step) => step.error_message)).toEqual([error_message, error_message]);
    expect(error_message).toContain(trace.execution.id);
    expect(`Ours: ${JSON.parse(trace.context.text).key}`).not.toBe(error_message);
  });

  it("can import the modules in the workflow's folder `lib`", async () => {
    const definition = inARow("modules", {
      use: "from tools.sums import twice\nimport words\ncontext['n'] = twice(words.COUNT)",
    });
    const files = {
      "lib/words.py": "COUNT = 21\n",
      "lib/tools/__init__.py": "",
      "lib/tools/sums.py": "def twice(n):\n    return 2 * n\n",
    };
    const trace = await cloud.run(
      await cloud.publish({ text: JSON.stringify(definition), fileName: "workflow.json", files }),
    );
    expect(trace.execution.error).toBeUndefined();
    expect(JSON.parse(trace.context.text)).toEqual({ n: 42 });
  });
});

describe("a secret input of a run", () => {
  const secret = 'p4ss "wörd" & more/than+that!';
  const [pin, pem] = [48151623, "-----BEGIN KEY-----\n".padEnd(6000, "c2VjcmV0\n")];
  const isSecret = { secret: true };
  const inputs = { properties: { token: isSecret, nested: isSecret, pin: isSecret, pem: isSecret } };
  const context = JSON.stringify({ token: secret, pin, pem, nested: { user: ["inner-secret-0815"] } });
  const imports = "import base64, sys, urllib.parse\ntoken = context['token']\n";
  const run = async (code: string) =>
    cloud.run(await cloud.publish(inARow("secrets", { work: imports + code }, { inputs })), context);

  it("is masked in logs, errors, tracebacks, contexts and the history of Step Functions", async () => {
    const forms = [
      "token",
      "json.dumps(token)",
      "repr([token])",
      "urllib.parse.quote(token)",
      "urllib.parse.quote(token, safe='')",
      "urllib.parse.quote_plus(token)",
      "token.encode().hex()",
      ...["", "a", "ab"].map((before) => `base64.b64encode(('${before}' + token + 'z').encode()).decode()`),
      "base64.urlsafe_b64encode(token.encode()).decode()",
      "context['nested']['user'][0]",
      "context['pin']",
      "context['pem']",
    ];
    const prints = forms.map((form, index) => `print('${index}:', ${form}, ':${index}')`);
    const split = "print(token[:9], end='', flush=True)\nprint(token[9:], file=sys.stdout)";
    const trace = await run([...prints, split, "print(token, file=sys.stderr)", "raise ValueError(token)"].join("\n"));
    const { logs, error_message, traceback } = entryOf(trace);
    forms.forEach((form, index) => {
      const line = logs?.split(`${index}: `)[1]?.split(` :${index}`)[0] ?? "not printed";
      expect(line.replaceAll(/[^*]/g, "").length, `${form}: ${line}`).toBeGreaterThan(0);
      expect(line.replaceAll("***", "").length, `${form}: ${line}`).toBeLessThan(10);
    });
    expect(logs?.trimEnd().split("\n").slice(-2)).toEqual(["***", "***"]);
    expect(error_message).toBe("ValueError: ***");
    expect(traceback).toContain("***");
    const history = await historyText(trace);
    const seen = `${renderJson(trace)} ${history}`;
    expect(seen).toContain("ValueError: ***");
    for (const part of ["p4ss", "wörd", "than+that", "inner-secret", "48151623", "BEGIN KEY"])
      expect(seen).not.toContain(part);
  });

  it("is masked even at the position at which a long log is shortened", async () => {
    const trace = await run("print(token + 'y' * (64 * 1024 - len(token) // 2))");
    expect(entryOf(trace).logs).toMatch(/^\(the start was not kept\)\n\[\.\.\.\][^a-x]*y+\n$/);
  });

  it.each([
    ["unchanged", "context['leak'] = token"],
    ["inside another value", "context['leak'] = {'list': [1, 'Bearer ' + token]}"],
    ["in base64", "context['leak'] = base64.b64encode(b'user:' + token.encode()).decode()"],
    ["as bytes", "context['leak'] = b'\\0' * 70000 + token.encode()"],
    ["in a large text", "context['leak'] = 'x' * 70000 + token"],
    ["in a large value", "context['leak'] = [[n, 'text'] for n in range(3000)] + [token]"],
    ["as a number", "context['leak'] = [context['pin'] + 0]"],
    ["with another character after it, if the secret is long", "context['leak'] = context['pem'] + '!'"],
    ["as a key of a value", "context['leak'] = {token: 1}"],
    [
      "in a result that the code prints",
      "print(json.dumps({'status': 'success', 'context_updates': {'leak': token}}))",
    ],
  ])(
    "fails the node that puts it into the context %s, and the error names the key of the context",
    async (_how, code) => {
      const { status, error_message } = entryOf(await run(code));
      expect({ status, error_message }).toEqual({
        status: "failed",
        error_message: expect.stringMatching(/^context\["leak"\] contains the value of a secret input/),
      });
    },
  );

  it("fails the node that uses it as a key of the context", async () => {
    const { error_message } = entryOf(await run("context[token] = 1"));
    expect(error_message).toMatch(/contains the value of a secret input/);
    expect(error_message).not.toContain("p4ss");
  });

  it("can be read by code and can stay unchanged in the context", async () => {
    const trace = await run("context['length'] = len(token + context['pem'])\ncontext['blob'] = b'bytes'");
    expect(JSON.parse(trace.context.text)).toEqual({
      token: "***",
      nested: "***",
      pin: "***",
      pem: "***",
      length: secret.length + pem.length,
      blob: { $blob: { type: "bytes", bytes: 5, sha256: sha256("bytes") } },
    });
  });
});
