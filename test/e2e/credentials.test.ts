import type { AddressInfo } from "node:net";
import { readTrace, renderJson, startExecution, type Trace } from "@nova/engine";
import { setCredential } from "@nova/service";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, historyText, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";
import { everythingKept } from "../support/secrets/everything-kept.ts";

/**
 * Returns every form of a secret that NOVA promises to find. Computes the forms without NOVA's code, so that a mistake
 * of that code is not repeated here.
 */
function guaranteedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll("\\", "\\\\").replaceAll("'", "\\'"),
    hex,
    hex.toUpperCase(),
    ...["base64", "base64url"].flatMap((alphabet) => [0, 1, 2].map((offset) => inside(bytes, offset, alphabet))),
  ];
}

/** Returns the part of a base64 text that depends only on the secret, not on the bytes before and after it. */
function inside(bytes: Buffer, offset: number, alphabet: string): string {
  const [one, other] = ["\0", "\u00ff"].map((filling) => {
    const around = Buffer.from(filling.repeat(3), "latin1");
    const text = Buffer.concat([around.subarray(0, offset), bytes, around]).toString(alphabet as BufferEncoding);
    return Array.from(text);
  }) as [string[], string[]];
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  return one.filter((char, index) => index < end && char === other[index]).join("");
}

/** Python code that puts every form that NOVA promises to find into the list `forms`. The secret is in `value`. */
const pythonForms = `
import base64, urllib.parse
raw = value.encode()
forms = [value, json.dumps(value), repr(value), repr(value.encode()), urllib.parse.quote(value), urllib.parse.quote(value, safe=''),
         urllib.parse.quote_plus(value), raw.hex(), raw.hex().upper()]
for pad in (b'', b'a', b'ab'):
    forms += [base64.b64encode(pad + raw + b'z').decode(), base64.urlsafe_b64encode(pad + raw + b'z').decode()]
`;

const password = 'S3cret/"pass\\wort+17';
const dbPassword = "Änöther&'Secret\"=42";
const mails: string[] = [];
let cloud: TestCloud;
let server: ModelServer;
let smtp: SMTPServer;

const value = `
all_forms = []
for value in (context['db_password'], context['email_password']):
${pythonForms.replaceAll("\n", "\n    ")}
    all_forms += forms
forms = all_forms
`;
const login = `
import smtplib
with smtplib.SMTP(context['smtp_host'], context['smtp_port'], timeout=10) as server:
    server.login(context['email_user'], context['email_password'])
    server.sendmail(context['email_user'], ['x@y.test'], f"Subject: {context['email_password']}\\r\\n\\r\\nhello")
`;
const written = [
  `${value}\nprint(forms)\nraise ValueError(value)`,
  "context['leak'] = [context['email_password']]",
  `${login}\ncontext['mailed'] = 'by a model'`,
];
const analysis = "result = {'password': context['email_password'], 'port': context['imap_port']}";

beforeAll(async () => {
  smtp = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 1000,
    onAuth: ({ username, password }, _session, done) => done(null, { user: `${username} ${password}` }),
    onData: (stream, session, done) => {
      mails.push(String(session.user));
      stream.resume().on("end", () => done());
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  server = await modelServer((request) => answering({ needsAnalysis: true, analysis, code: written }, request));
  Object.assign(process.env, server.environment);
  cloud = await openTestCloud();
  const email = {
    user: "billing@acme.test",
    password,
    imap_host: "imap.acme.test",
    imap_port: 993,
    smtp_host: "127.0.0.1",
    smtp_port: (smtp.server.address() as AddressInfo).port,
  };
  const database = { host: "db.acme.test", name: "invoices", user: "nova", password: dbPassword };
  await cloud.service.clients.create({ format: 1, slug: "acme", name: "Acme", pins: {}, createdAt: "2026-01-01" });
  await store("email", "email", email);
  await store("support", "email", { ...email, user: "help@acme.test", password: "support-S3cret" });
  await store("database", "database", database);
});

afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(server.environment)) delete process.env[name];
  await server[Symbol.asyncDispose]();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

function store(name: string, kind: "email" | "database", values: object) {
  return setCredential(cloud.service, null, { owner: { client: "acme" }, name, kind, values });
}

async function run(definition: object): Promise<Trace> {
  const version = await cloud.publish(definition);
  const { id } = await startExecution(cloud.ports, { version, context: "{}", client: "acme" });
  await cloud.untilEnd(id);
  return readTrace(cloud.ports, id, { full: true });
}

describe("a run whose code tries to leak the password of a credential", () => {
  let trace: Trace;
  let prompts: string[];

  beforeAll(async () => {
    const failing = {
      stores: "context['leak'] = {'in': 'Bearer ' + context['email_password']}",
      stores_large: `${value}context['large'] = 'x' * 70000 + ''.join(forms)`,
      stores_bytes: "context['bytes'] = b'\\0' * 70000 + context['email_password'].encode()",
      names_a_key: "context[context['email_password']] = 1",
      changes: "context['smtp_port'] = 25",
      raises: `${value}raise ValueError(forms)`,
    };
    const names = [...Object.keys(failing), "mails"];
    const nodes = Object.entries(failing).map(([name, code], i) => [name, { code, onError: names[i + 1] }] as const);
    const each = { id: "each", type: "map", items: "addresses", as: "address", into: "sent", tolerated_failures: 2 };
    const body = { id: "one", type: "action", code: `${value}print(forms)\ncontext['sent'] = value` };
    const definition = inARow("leaky", {
      prints: `${value}print(forms)\nprint(value[:5], end='')\nprint(value[5:])\ncontext['addresses'] = [1, 2]`,
      ...Object.fromEntries(nodes),
      mails: login,
      asks: { executor: "prompt", prompt: "Send the mail." },
      each: { ...each, nodes: [body], edges: [] },
      honest: "context['port'] = context['imap_port']\ncontext['at'] = context['db_name']\nprint(json.dumps(context))",
    });
    trace = await run(definition);
    prompts = server.requests.map(({ body }) => JSON.stringify(body));
  });

  it("can log in to the mail server with the password, from handwritten code and from code that a model wrote", async () => {
    expect(trace.execution).toMatchObject({ status: "completed" });
    expect(mails).toEqual(Array(2).fill(`billing@acme.test ${password}`));
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it.each([
    ["stores", /^context\["leak"\] contains the value of a secret/],
    ["stores_large", /^context\["large"\] contains the value of a secret/],
    ["stores_bytes", /^context\["bytes"\] contains the value of a secret/],
    ["names_a_key", /^context\["\*\*\*"\] contains the value of a secret/],
    ["changes", /^context\["smtp_port"\] belongs to a credential/],
    ["raises", /^ValueError: \['\*\*\*/],
  ])("fails at its node `%s`, and the error says why", (node, reason) => {
    expect(entryOf(trace, node)).toMatchObject({ status: "failed", error_message: expect.stringMatching(reason) });
  });

  it("keeps its other data unchanged, and contains no credentials in its final context", () => {
    expect(JSON.parse(trace.context.text)).toMatchObject({ port: 993, at: "invoices", mailed: "by a model" });
    const keys = Object.keys(JSON.parse(trace.context.text));
    expect(keys.filter((key) => /^(email|smtp|imap|db|support)_/.test(key))).toEqual([]);
  });

  it("shows models only the names and types of the values of a credential", () => {
    expect(prompts.join()).toContain("integer of a credential");
    expect(prompts.join()).toContain("support_email_password");
    expect(prompts.join()).not.toContain("billing@acme.test");
  });

  it.each(["everything stored", "prompts", "trace", "history"])(
    "leaves no form of the password in %s",
    async (place) => {
      const places: Record<string, () => Promise<Iterable<[string, string]>>> = {
        "everything stored": () => everythingKept(cloud.dataDir),
        prompts: async () => prompts.map((text, index): [string, string] => [`prompt ${index}`, text]),
        trace: async () => [["trace", renderJson(trace)]],
        history: async () => [["history", await historyText(trace)]],
      };
      const texts = [...((await places[place]?.()) ?? [])];
      expect(texts.length).toBeGreaterThan(place === "everything stored" ? 30 : 0);
      const found = texts.flatMap(([name, text]) =>
        [password, dbPassword].flatMap((secret) =>
          guaranteedForms(secret)
            .flatMap((form) => [form, Buffer.from(form).toString("latin1"), JSON.stringify(form).slice(1, -1)])
            .filter((form) => text.includes(form))
            .map((form) => `${name}: ${form}`),
        ),
      );
      expect(found).toEqual([]);
    },
  );
});

describe("an inner run, started by a workflow node,", () => {
  it("gets the client's credentials, which are masked in the error of the inner run", async () => {
    const code = "print(context['db_password'])\nraise ValueError(context['db_password'])";
    await cloud.publish(inARow("inside", { look: { code, credentials: ["database"] } }));
    const trace = await run(inARow("outside", { inner: { type: "workflow", workflow: "inside", output: {} } }));
    expect(entryOf(trace, "inner").error_message).toMatch(/node "look": ValueError: \*\*\*/);
    expect(renderJson(trace)).not.toContain("Änöther");
  });
});

describe("a credential that a node declares", () => {
  it("is the only credential that the code of the node gets", async () => {
    const look = "context['seen'] = sorted(key for key in context if key.endswith('_password'))";
    const seen = async (node: object, workflow: object = {}) =>
      JSON.parse((await run(inARow("declared", { look: { code: look, ...node } }, workflow))).context.text).seen;
    expect(await seen({})).toEqual(["db_password", "email_password", "support_email_password"]);
    expect(await seen({ credentials: ["support"] })).toEqual(["email_password"]);
    expect(await seen({}, { credentials: ["database"] })).toEqual(["db_password"]);
    expect(await seen({ credentials: [] }, { credentials: ["database"] })).toEqual([]);
  });

  it("fails the node if the client does not have it", async () => {
    const trace = await run(inARow("missing", { look: { code: "x = 1", credentials: ["ftp"] } }));
    expect(trace.execution).toMatchObject({
      status: "failed",
      error: { class: "NodeFailed", message: expect.stringMatching(/"acme" has no credential "ftp" - store it with/) },
    });
  });

  it("lets the code connect to the credential's server even if the node itself allows no host", async () => {
    const network = { allow: [] };
    const code = `${login}\nimport socket\ntry: socket.create_connection(("127.0.0.1", 1), 1)\nexcept OSError as error: context['other'] = str(error)`;
    const trace = await run(inARow("walled", { mail: { code, network, credentials: ["email"] } }));
    expect(trace.execution.error).toBeUndefined();
    expect(mails).toHaveLength(3);
  });
});
