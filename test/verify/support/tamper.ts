import { keyAt, type Loose, sha256, stranger } from "./make-proof.ts";
import type { Choices } from "./random.ts";

type Change = (proof: Loose, choices: Choices) => unknown;

const pickRun = (proof: Loose, choices: Choices): Loose => choices.pick(proof.runs);
const pickScope = (proof: Loose, choices: Choices): Loose => choices.pick(pickRun(proof, choices).scopes);
const pickEntry = (proof: Loose, choices: Choices): Loose => choices.pick(pickScope(proof, choices).entries);

const odd: readonly Loose[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e300,
  999999999999999,
  "",
  "x",
  [],
  {},
  "a".repeat(64),
  [null],
];

/** Changes one field of an object in the file to a value of any type, removes a field, or adds one. */
function changeField(object: Loose, choices: Choices): void {
  const names = Object.keys(object);
  const name = choices.pick([...names, "added"]);
  if (choices.chance(0.3)) delete object[name];
  else if (typeof object[name] === "number" && choices.chance(0.5)) object[name] += choices.pick([1, -1]);
  else if (typeof object[name] === "string" && choices.chance(0.5)) object[name] += "1";
  else object[name] = choices.pick(odd);
}

const fieldsOfHead = [
  ...[
    "execution_id",
    "scope",
    "seq",
    "client",
    "root",
    "workflow_id",
    "workflow_version",
    "node_id",
    "node_type",
    "status",
  ],
  ...[
    "timestamp",
    "nodes",
    "path_taken",
    "prev",
    "steps",
    "digests",
    "definition",
    "machine",
    "inner",
    "frozen",
    "sealed",
  ],
  ...["child", "reused_from", "parent", "plan", "close", "format"],
];

const likely: Record<string, readonly Loose[]> = {
  path_taken: [null, "done", "n1", "b0", "n1.join"],
  node_id: ["done", "n1", "b0", "(close)"],
  node_type: ["end", "close", "join", "action"],
  inner: [0, 1, 2, 3, 7],
  seq: [0, 1, 2, 3],
  nodes: [0, 1, 2, 5],
  close: [
    { status: "completed", count: 3 },
    { status: "failed", count: 4 },
  ],
  frozen: [true, false, 1],
};

/**
 * Changes a field of a head, often to the value of the same field in another entry. If the field is an object, may
 * change a field of that object instead.
 */
export const changeHead: Change = (proof, choices) => {
  const [entry, other] = [pickEntry(proof, choices), JSON.parse(pickEntry(proof, choices).head)];
  const head = JSON.parse(entry.head);
  const name = choices.pick(
    choices.chance(0.5) ? fieldsOfHead : Object.keys(head).filter((one) => fieldsOfHead.includes(one)),
  );
  const value = head[name];
  if (value && typeof value === "object" && Object.keys(value).length > 0 && choices.chance(0.6))
    changeField(value, choices);
  else if (typeof value === "number" && choices.chance(0.5)) head[name] += choices.pick([1, -1]);
  else head[name] = choices.pick([other[name], other[name], ...(likely[name] ?? []), choices.pick(odd)]);
  if (head[name] === undefined) delete head[name];
  entry.head = JSON.stringify(head);
};

/** Changes that do not compute the hashes and signatures again. */
export const changes: Record<string, Change> = {
  "changes a character of a head": (proof, choices) => {
    const entry = pickEntry(proof, choices);
    const at = choices.between(0, entry.head.length - 1);
    entry.head = entry.head.slice(0, at) + choices.pick([...'0aZ{}",', " "]) + entry.head.slice(at + 1);
  },
  "changes a field of a head": changeHead,
  "drops an entry": (proof, choices) => {
    const { entries } = pickScope(proof, choices);
    entries.splice(choices.between(0, entries.length - 1), 1);
  },
  "repeats an entry": (proof, choices) => {
    const { entries } = pickScope(proof, choices);
    const at = choices.between(0, entries.length - 1);
    entries.splice(at, 0, structuredClone(entries[at]));
  },
  "moves an entry": (proof, choices) => {
    const { entries } = pickScope(proof, choices);
    const [entry] = entries.splice(choices.between(0, entries.length - 1), 1);
    pickScope(proof, choices).entries.push(entry);
  },
  "cuts off the end": (proof, choices) => {
    const { entries } = pickScope(proof, choices);
    entries.length = choices.between(0, entries.length - 1);
  },
  "adds an entry after the end": (proof, choices) => {
    const scope = pickScope(proof, choices);
    scope.entries.push(structuredClone(pickEntry(proof, choices)));
  },
  "swaps two scopes": (proof, choices) => {
    const { scopes } = pickRun(proof, choices);
    const [a, b] = [choices.between(0, scopes.length - 1), choices.between(0, scopes.length - 1)];
    [scopes[a], scopes[b]] = [scopes[b], scopes[a]];
  },
  "swaps the entries of two scopes": (proof, choices) => {
    const [a, b] = [pickScope(proof, choices), pickScope(proof, choices)];
    [a.entries, b.entries] = [b.entries, a.entries];
  },
  "drops a scope": (proof, choices) => {
    const { scopes } = pickRun(proof, choices);
    scopes.splice(choices.between(0, scopes.length - 1), 1);
  },
  "renames a scope": (proof, choices) => {
    const branches = proof.runs.flatMap((run: Loose) => run.scopes.slice(1));
    const scope: Loose = choices.pick(branches.length > 0 ? branches : proof.runs[0].scopes);
    scope.scope = choices.pick([
      "/a@0.b",
      "/a@00.b",
      "a@1.b",
      "/@1.b",
      "/a@1.",
      `${scope.scope}/n1@1.0`,
      scope.scope.slice(0, -1),
      "/a@1.b\n",
    ]);
    if (choices.chance(0.3)) return;
    for (const entry of scope.entries) entry.head = JSON.stringify({ ...JSON.parse(entry.head), scope: scope.scope });
  },
  "repeats a scope": (proof, choices) => {
    const run = pickRun(proof, choices);
    run.scopes.push(structuredClone(choices.pick(run.scopes)));
  },
  "drops a run": (proof, choices) => proof.runs.splice(choices.between(0, proof.runs.length - 1), 1),
  "repeats a run": (proof, choices) => {
    const run = structuredClone(pickRun(proof, choices));
    if (choices.chance(0.5)) run.execution = "exec_other";
    proof.runs.push(run);
  },
  "swaps two runs": (proof, choices) => {
    const [a, b] = [choices.between(0, proof.runs.length - 1), choices.between(0, proof.runs.length - 1)];
    [proof.runs[a], proof.runs[b]] = [proof.runs[b], proof.runs[a]];
    if (choices.chance(0.5)) proof.execution = proof.runs[0].execution;
  },
  "changes a signature": (proof, choices) => {
    const run = pickRun(proof, choices);
    const owner = run.erasure && choices.chance(0.3) ? "erasure" : "signature";
    const text = run[owner];
    const at = choices.between(0, text.length - 1);
    run[owner] = text.slice(0, at) + choices.pick([..."AQgwx-_.="]) + text.slice(at + 1);
  },
  "signs with a key of a stranger": (proof, choices) => {
    const run = pickRun(proof, choices);
    run.signature = stranger.sign(`nova close v1\n${sha256(run.scopes[0].entries.at(-1).head)}`);
    if (choices.chance(0.7)) proof.keys.keys.push(stranger.jwk);
  },
  "puts the key of a stranger under the name of a key": (proof, choices) => {
    const key = choices.pick(proof.keys.keys) as Loose;
    Object.assign(key, choices.pick([{ x: stranger.jwk.x }, { x: stranger.jwk.x, y: stranger.jwk.y }, { y: key.x }]));
  },
  "changes the period of a key": (proof, choices) => {
    const key = choices.pick(proof.keys.keys) as Loose;
    if (choices.chance(0.5)) key.nbf += choices.pick([86_400 * 40, 1, 300, 86_400]);
    else key.exp = choices.pick([key.nbf, key.nbf + 86_400, key.exp]);
  },
  "signs at the edge of a period": (proof, choices) => {
    const seconds = Math.floor(Date.parse(JSON.parse(proof.runs[0].scopes[0].entries.at(-1).head).timestamp) / 1000);
    for (const key of proof.keys.keys) {
      if (choices.chance(0.5)) key.nbf = seconds + choices.pick([299, 300, 301, 302]);
      else key.exp = seconds - choices.pick([298, 299, 300, 301]);
    }
  },
  "drops a key": (proof, choices) => proof.keys.keys.splice(choices.between(0, proof.keys.keys.length - 1), 1),
  "repeats a key": (proof, choices) => proof.keys.keys.push(structuredClone(choices.pick(proof.keys.keys))),
  "changes a field of a key": (proof, choices) => changeField(choices.pick(proof.keys.keys), choices),
  "drops the note of an erasure": (proof, choices) => {
    const run = choices.pick(proof.runs.filter((run: Loose) => run.erasure).concat(pickRun(proof, choices))) as Loose;
    delete run.erasure;
  },
  "adds a note of an erasure": (proof, choices) => {
    const run = pickRun(proof, choices);
    run.erasure = choices
      .pick([stranger, keyAt(1.77e9)])
      ?.sign(`nova erasure v1\n${choices.pick([run.execution, "exec_x"])}`);
  },
  "changes a content": (proof, choices) => {
    const entry = choices.pick([pickEntry(proof, choices), ...(pickEntry(proof, choices).steps ?? [])]);
    entry.contents ??= {};
    const name = choices.pick([...Object.keys(entry.contents), "context"]);
    const values = [
      { text: "changed" },
      { blob: true },
      { withheld: "erased" },
      { withheld: "secret" },
      { text: null },
      { blob: "x" },
      {},
    ];
    entry.contents[name] = choices.pick([...values, { withheld: "lost" }, undefined]);
  },
  "moves a content": (proof, choices) => {
    const [a, b] = [pickEntry(proof, choices), pickEntry(proof, choices)];
    [a.contents, b.contents] = [b.contents, a.contents];
  },
  "changes a step": (proof, choices) => {
    const entry = choices.pick(
      proof.runs.flatMap((run: Loose) => run.scopes.flatMap((scope: Loose) => scope.entries)),
    ) as Loose;
    entry.steps ??= [];
    const kind = choices.between(0, 3);
    if (kind === 0) entry.steps.push({ text: "{}", contents: {} });
    else if (kind === 1) entry.steps.pop();
    else if (kind === 2) entry.steps.reverse();
    else if (entry.steps[0])
      entry.steps[0].text = choices.pick([null, "{", `${entry.steps[0].text} `, '{"a":1,"a":2}']);
  },
  "changes a blob": (proof, choices) => {
    proof.blobs ??= {};
    const name = choices.pick([...Object.keys(proof.blobs), choices.hex(64)]);
    const values = [
      "",
      "AAAA",
      "AAA=",
      "AAB=",
      "AA",
      "A===",
      "AA==",
      "AB==",
      "AAAA\n",
      "*",
      { withheld: "erased" },
      { withheld: "size" },
    ];
    proof.blobs[name] = choices.pick([...values, null]);
  },
  "adds a blob": (proof) => {
    proof.blobs ??= {};
    proof.blobs[sha256("added")] = Buffer.from("added").toString("base64");
  },
  "drops a blob": (proof, choices) => {
    const names = Object.keys(proof.blobs ?? {});
    if (names.length > 0) delete proof.blobs[choices.pick(names)];
  },
  "changes a definition": (proof, choices) => {
    pickRun(proof, choices).definition = choices.pick(["{}", "", null]);
  },
  "changes the path to the root": (proof, choices) => {
    const { path } = proof.inclusion ?? { path: [] };
    const kind = choices.between(0, 4);
    if (kind === 0) path.push(choices.hex(64));
    else if (kind === 1) path.pop();
    else if (kind === 2) path.reverse();
    else if (kind === 3 && proof.inclusion) proof.inclusion.index += choices.pick([1, -1, 1000, 0.5]);
    else path[0] = choices.pick([choices.hex(64), "x", choices.hex(64).toUpperCase()]);
  },
  "changes the root": (proof, choices) => {
    const { root } = proof;
    if (!root) return;
    const kind = choices.between(0, 4);
    const fields = JSON.parse(root.text);
    if (kind === 0) root.text = root.text.replace(fields.tree, choices.hex(64));
    else if (kind === 1) root.signature = stranger.sign(`nova root v1\n${root.text}`);
    else if (kind === 2) root.text += " ";
    else {
      const size = choices.pick([fields.size + 1, Math.max(1, fields.size - 1), 0, 1e15, "2"]);
      const other = choices.pick([
        { size },
        { at: "2026-13-01T00:00:00.000Z" },
        { previous: null },
        { number: 1 },
        { at: "2020-01-01T00:00:00.000Z" },
      ]);
      root.text = JSON.stringify({ ...fields, ...other });
      root.signature = keyAt(Date.parse(fields.at) / 1000)?.sign(`nova root v1\n${root.text}`);
    }
  },
  "drops the root or the path": (proof, choices) => {
    proof[choices.pick(["root", "inclusion", "stamp"])] = null;
  },
  "adds a stamp that is none": (proof, choices) => {
    proof.stamp = {
      token: choices.pick([
        "",
        "MAA=",
        "AAAA",
        "MIAGCSqGSIb3DQEHAqCAAAA=",
        Buffer.from(choices.hex(200), "hex").toString("base64"),
      ]),
    };
  },
  "changes a field of the file": (proof, choices) => changeField(proof, choices),
  "changes a field of a run": (proof, choices) => changeField(pickRun(proof, choices), choices),
  "changes a field of a scope": (proof, choices) => changeField(pickScope(proof, choices), choices),
  "changes a field of an entry": (proof, choices) => changeField(pickEntry(proof, choices), choices),
  "claims other contents": (proof, choices) => {
    proof.contents = choices.pick(["none", "digests", "all", "some"]);
  },
  "proves another run": (proof, choices) => {
    proof.execution = choices.pick(proof.runs.map((run: Loose) => run.execution).concat("exec_other"));
  },
  "changes the time of the file": (proof, choices) => {
    proof.made_at = choices.pick([
      "2026-02-30T00:00:00.000Z",
      "1969-12-31T23:59:59.999Z",
      "2026-11-28",
      "2026-11-28T24:00:00.000Z",
      "2028-02-29T00:00:00.000Z",
      "0000-01-01T00:00:00.000Z",
    ]);
  },
};

/** Changes of the text of the file. */
export const textChanges: Record<string, (text: string, choices: Choices) => string | Uint8Array> = {
  "cuts off the text": (text, choices) => text.slice(0, choices.between(0, text.length - 1)),
  "changes a character": (text, choices) => {
    const at = choices.between(0, text.length - 1);
    return text.slice(0, at) + choices.pick([...'{}[]",:0 a\\\n\u0000é']) + text.slice(at + 1);
  },
  "drops characters": (text, choices) => {
    const at = choices.between(0, text.length - 1);
    return text.slice(0, at) + text.slice(at + choices.between(1, 20));
  },
  "repeats a name": (text, choices) => {
    const names = [...text.matchAll(/"(\w+)":/g)];
    const { index, 0: name } = choices.pick(names);
    return `${text.slice(0, index)}${choices.pick([name, name.replace("e", "\\u0065")])}1,${text.slice(index)}`;
  },
  "nests deeply": (text, choices) => {
    const levels = choices.pick([62, 63, 64, 65, 100_000]);
    return text.replace(/"made_at":"[^"]*"/, `"made_at":${"[".repeat(levels)}${"]".repeat(levels)}`);
  },
  "nests a head deeply": (text, choices) => {
    const levels = choices.pick([61, 62, 63, 64, 5000]);
    return text.replace('{\\"format\\":1', `{\\"deep\\":${"[".repeat(levels)}${"]".repeat(levels)},\\"format\\":1`);
  },
  "has half of a surrogate pair": (text, choices) => {
    const half = choices.pick(["\\ud800", "\\udfff", "\\ud83d\\ud83d", "\\\\ud800", "\\ud83d\\ude00"]);
    return text.replace(/"(execution|scope|head|client)":"/, (found) => `${found}${half}`);
  },
  "writes a number in another way": (text, choices) => {
    const numbers = [...text.matchAll(/(?<=":)\d+(?=[,}])/g)];
    const { index, 0: number } = choices.pick(numbers);
    const others = [
      `${number}.0`,
      `${number}e0`,
      `-${number}`,
      `0${number}`,
      `${number}0000000000000000`,
      "1e999",
      "NaN",
      "Infinity",
      "9".repeat(5000),
    ];
    return text.slice(0, index) + choices.pick(others) + text.slice(index + number.length);
  },
  "writes a number in a head in another way": (text, choices) => {
    const numbers = [...text.matchAll(/(?<=\\":)\d+(?=[,}])/g)];
    const { index, 0: number } = choices.pick(numbers);
    return (
      text.slice(0, index) +
      choices.pick([`${number}.0`, `${number}e0`, `-${number}`, "1E999", "-0"]) +
      text.slice(index + number.length)
    );
  },
  "has a name of Object.prototype": (text, choices) =>
    text.replace(
      choices.pick(['{"head"', '{\\"format\\"', '{"kind"']),
      (found) =>
        `${found.replace(/\\?"\w+\\?"/, (name) => choices.pick([name.replace(/\w+/, "__proto__"), name.replace(/\w+/, "constructor")]))}:1,${found.slice(1)}`,
    ),
  "starts with a byte order mark": (text) => `\ufeff${text}`,
  "has other spaces": (text, choices) =>
    choices.pick([` \t\r\n${text}\n`, `\u00a0${text}`, `${text}\f`, `${text},`, `${text}{}`]),
  "is not UTF-8": (text, choices) => {
    const bytes = Buffer.from(text);
    bytes[choices.between(0, bytes.length - 1)] = choices.pick([0xff, 0xc0, 0xed, 0x80]);
    return bytes;
  },
  "is another file": (_, choices) =>
    choices.pick(["", "{}", "[]", "null", "1", '"nova-proof"', '{"kind":"nova-proof"}', "\u0000"]),
};
