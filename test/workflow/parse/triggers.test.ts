import {
  defineWorkflow,
  type EventTrigger,
  end,
  parseWorkflow,
  type ScheduleTrigger,
  start,
  type Trigger,
  textOfJson,
  workflowHash,
  writeTriggers,
} from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { codesOf, type Loose, mustParse, parse, row } from "../definition.ts";

const mail = { type: "mail", address: "invoices" };
const with1 = (trigger: unknown): Loose => ({ ...row(), triggers: [trigger] });
const textWith = (...triggers: string[]) =>
  JSON.stringify({ ...row(), triggers: "-" }).replace('"-"', `[${triggers.join()}]`);
const parseText = (text: string) => parseWorkflow({ text, fileName: "workflow.json", files: {} });
const triggersOf = (...triggers: string[]) => parseText(textWith(...triggers)).workflow?.triggers ?? [];
const normalised = (trigger: Loose): Trigger | undefined => mustParse(with1(trigger)).triggers?.[0];

const signed = { type: "webhook", id: "vendor", signature: { header: "x-signature", secret: "vendor" } };

describe("a trigger", () => {
  it.each<[Loose, Trigger]>([
    [mail, { type: "mail", id: "mail-1", address: "invoices" }],
    [
      { ...mail, id: "in", from: ["Anna@Example.com", "@B.example"], client: "acme" },
      { type: "mail", id: "in", address: "invoices", from: ["anna@example.com", "@b.example"], client: "acme" },
    ],
    [
      { type: "imap", client: "acme" },
      {
        type: "imap",
        id: "imap-1",
        client: "acme",
        credential: "email",
        mailbox: "INBOX",
        everySeconds: 300,
      },
    ],
    [
      { type: "webhook", id: "stripe" },
      { type: "webhook", id: "stripe" },
    ],
    [
      {
        type: "webhook",
        id: "hub",
        dedupe: "headers.X-Delivery",
        wait: 20,
        signature: { header: "X-Signature", secret: "hub", prefix: "sha256=" },
      },
      {
        type: "webhook",
        id: "hub",
        dedupe: "headers.x-delivery",
        waitSeconds: 20,
        signature: { header: "x-signature", secret: "hub", algorithm: "sha256", prefix: "sha256=" },
      },
    ],
    [
      { type: "schedule", cron: " 0 9  ? * mon-fri * ", timezone: "Europe/Madrid", context: { a: 1 } },
      {
        type: "schedule",
        id: "schedule-1",
        timezone: "Europe/Madrid",
        context: { a: 1 },
        when: { kind: "cron", cron: "0 9 ? * MON-FRI *" },
      },
    ],
    [
      { type: "schedule", every: "2h" },
      { type: "schedule", id: "schedule-1", when: { kind: "every", everySeconds: 7200 } },
    ],
    [
      { type: "schedule", at: "2026-01-31T09:00" },
      { type: "schedule", id: "schedule-1", when: { kind: "at", at: "2026-01-31T09:00:00" } },
    ],
    [
      { type: "event", pattern: { source: ["shop"] } },
      { type: "event", id: "event-1", pattern: { source: ["shop"] }, bus: "nova" },
    ],
  ])("written as %j is parsed into %j", (written, expected) => {
    expect(normalised(written)).toEqual(expected);
  });

  it.each([
    mail,
    { ...mail, id: "in", from: ["anna@example.com"], client: "acme" },
    { type: "imap", client: "acme", every: "10m" },
    { ...signed, dedupe: "body.id", wait: 20 },
    { ...signed, signature: { header: "stripe-signature", secret: "stripe", tolerance: "5m" } },
    { type: "schedule", cron: "0 9 ? * MON-FRI *", timezone: "Europe/Madrid", context: { a: 1 } },
    { type: "schedule", every: "2h", client: "acme" },
    { type: "schedule", at: "2099-01-31T09:00" },
    { type: "event", pattern: { source: ["shop"] }, bus: "default" },
  ])("written as %j is the same after it is written again and parsed", (written) => {
    const trigger = normalised(written) as Trigger;
    const { triggers } = JSON.parse(JSON.stringify(writeTriggers({ triggers: [trigger] })));
    expect(normalised(triggers[0])).toEqual(trigger);
  });

  it("keeps the exact numbers of its context and its pattern when it is written again", () => {
    const triggers = triggersOf(
      '{"type":"schedule","every":"2h","context":{"limit":850.0}}',
      '{"type":"event","pattern":{"detail":{"n":[12345678901234567890]}}}',
    );
    const text = JSON.stringify(writeTriggers({ triggers }));
    expect(text).toContain('{"limit":850.0}');
    expect(text).toContain("[12345678901234567890]");
  });

  it.each<[unknown, string[]]>([
    ["mail", ["NOVA104 $.triggers[0]"]],
    [{}, ["NOVA106 $.triggers[0]"]],
    [{ type: "email" }, ["NOVA120 $.triggers[0].type"]],
    [{ type: "constructor" }, ["NOVA120 $.triggers[0].type"]],
    [{ ...mail, id: "Nightly run" }, ["NOVA121 $.triggers[0].id"]],
    [{ ...mail, adress: "x" }, ["NOVA105 $.triggers[0].adress"]],
    [{ type: "mail" }, ["NOVA106 $.triggers[0]"]],
    [{ type: "mail", address: "invoices@example.com" }, ["NOVA122 $.triggers[0].address"]],
    [{ type: "mail", address: "a+b" }, ["NOVA122 $.triggers[0].address"]],
    [{ ...mail, from: [] }, ["NOVA122 $.triggers[0].from"]],
    [{ ...mail, from: ["anna"] }, ["NOVA122 $.triggers[0].from[0]"]],
    [{ type: "imap" }, ["NOVA106 $.triggers[0]"]],
    [{ type: "imap", client: "Acme Ltd." }, ["NOVA126 $.triggers[0].client"]],
    [{ type: "imap", client: "acme", every: "90s" }, ["NOVA123 $.triggers[0].every"]],
    [{ type: "webhook" }, ["NOVA106 $.triggers[0]"]],
    [{ type: "webhook", id: "a", dedupe: "id" }, ["NOVA104 $.triggers[0].dedupe"]],
    [{ type: "webhook", id: "a", wait: 30 }, ["NOVA104 $.triggers[0].wait"]],
    [{ type: "webhook", id: "a", signature: { header: "x" } }, ["NOVA106 $.triggers[0].signature"]],
    [
      { type: "webhook", id: "a", signature: { header: "x", secret: "y", algorithm: "md5" } },
      ["NOVA104 $.triggers[0].signature.algorithm"],
    ],
    [{ type: "imap", client: "acme", credential: "my mail" }, ["NOVA104 $.triggers[0].credential"]],
    [
      { type: "webhook", id: "a", signature: { header: "x", secret: "A B" } },
      ["NOVA104 $.triggers[0].signature.secret"],
    ],
    [{ ...signed, dedupe: "headers.X-Delivery" }, ["NOVA132 $.triggers[0].dedupe"]],
    [{ ...signed, dedupe: "body.id" }, []],
    [{ type: "webhook", id: "open", dedupe: "headers.x-delivery" }, []],
    [{ type: "schedule" }, ["NOVA123 $.triggers[0]"]],
    [{ type: "schedule", cron: "0 9 * * ? *", every: "1d" }, ["NOVA123 $.triggers[0].every"]],
    [{ type: "schedule", cron: "0 9 * * 1-5" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", every: 90 }, ["NOVA123 $.triggers[0].every"]],
    [{ type: "schedule", at: "2026-01-31T09:00Z" }, ["NOVA123 $.triggers[0].at"]],
    [{ type: "schedule", cron: "0 9 30 2 ? *" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", cron: "0 9 31 4,6,9,11 ? *" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", cron: "0 9 29 2 ? 2099" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", cron: "0 9 29 2 ? 2096" }, []],
    [{ type: "schedule", cron: "0 9 ? 2 2#5 2099" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", cron: "30 2 28 3 ? 2027", timezone: "Europe/Madrid" }, ["NOVA123 $.triggers[0].cron"]],
    [{ type: "schedule", cron: "30 2 ? 3 1L *" }, []],
    [{ type: "schedule", cron: "0 9 * * ? 2020" }, []],
    [{ type: "schedule", at: "2020-01-31T09:00" }, []],
    [{ type: "schedule", at: "2097-03-31T02:30", timezone: "Europe/Madrid" }, ["NOVA123 $.triggers[0].at"]],
    [{ type: "schedule", at: "2199-01-31T09:00:00" }, []],
    [{ type: "schedule", at: "2026-01-31T09:00", timezone: "CEST" }, ["NOVA124 $.triggers[0].timezone"]],
    [{ type: "schedule", every: "1d", timezone: "UTC" }, ["NOVA124 $.triggers[0].timezone"]],
    [{ type: "event" }, ["NOVA106 $.triggers[0]"]],
    [{ type: "event", pattern: { source: "shop" } }, ["NOVA125 $.triggers[0].pattern.source"]],
    [{ type: "event", pattern: { source: ["shop"] }, bus: "own" }, ["NOVA104 $.triggers[0].bus"]],
  ])("written as %j gets the findings %j", (trigger, expected) => {
    expect(codesOf(with1(trigger))).toEqual(expected);
  });

  it.each([
    [250_100, ["NOVA130 $.triggers[0]"]],
    [249_000, []],
  ])("with a context of %i bytes gets the findings %j", (bytes, expected) => {
    expect(codesOf(with1({ type: "schedule", every: "1d", context: { letter: "x".repeat(bytes) } }))).toEqual(expected);
  });

  it.each(["9007199254740993", "12345678901234567890", "1e-200", "850.0", "1e2", "-0"])(
    "keeps the number %s in its context and its pattern as it is written",
    (number) => {
      const [schedule, event] = triggersOf(
        `{"type": "schedule", "every": "1d", "context": {"n": ${number}}}`,
        `{"type": "event", "pattern": {"detail": {"n": [${number}]}}}`,
      );
      expect(textOfJson((schedule as ScheduleTrigger).context ?? {})).toBe(`{"n":${number}}`);
      expect(textOfJson((event as EventTrigger).pattern)).toBe(`{"detail":{"n":[${number}]}}`);
    },
  );

  it("gets a finding if a number in it exceeds the range of doubles", () => {
    const { findings } = parseText(
      textWith('{"type": "schedule", "every": "1d", "context": {"n": [0, {"m": -1e400}]}}'),
    );
    expect(findings.map(({ path, message }) => [path, message])).toEqual([
      [
        "$.triggers[0].context.n[1].m",
        "the trigger at $.triggers[0] has a number beyond 1.8e308, which no node could read - write it as a text",
      ],
    ]);
  });

  it("gets a finding if a key of its context begins with $, which marks references", () => {
    const context = { $blob: { sha256: "0" }, plain: { $blob: 1 } };
    expect(codesOf(with1({ type: "schedule", every: "1d", context }))).toEqual(["NOVA502 $.triggers[0].context.$blob"]);
  });

  it("gets a finding if a text in it contains half a surrogate pair", () => {
    const context = { letter: "\ud800" };
    expect(codesOf(with1({ type: "schedule", every: "1d", context }))).toEqual([
      "NOVA104 $.triggers[0].context.letter",
    ]);
  });

  it("gets a finding if it is too large, measured in bytes and not in characters", () => {
    const { findings } = parse(with1({ type: "event", id: "euros", pattern: { source: ["€".repeat(100_000)] } }));
    expect(findings[0]?.message).toMatch(
      /^trigger "euros" has 300,\d+ bytes, and NOVA keeps up to 250,000 - move long values into a node, or a file beside it$/,
    );
  });

  it("gets a finding that suggests the nearest type if its type is unknown", () => {
    expect(parse(with1({ type: "webhok" })).findings[0]?.message).toMatch(/did you mean "webhook"\?/);
  });
});

describe("the triggers of a workflow", () => {
  it("get a finding if they are not a list", () => {
    expect(codesOf({ ...row(), triggers: mail })).toEqual(["NOVA104 $.triggers"]);
  });

  it("get ids from their type and a number if they name none", () => {
    const triggers = [mail, { type: "schedule", every: "1d" }, { ...mail, address: "bills" }];
    expect(mustParse({ ...row(), triggers }).triggers?.map(({ id }) => id)).toEqual(["mail-1", "schedule-1", "mail-2"]);
  });

  it.each<[string, Loose[]]>([
    ["ids", [mail, { type: "schedule", id: "mail-1", every: "1d" }]],
    ["addresses", [mail, { ...mail, client: "acme" }]],
  ])("get a finding if two of them have equal %s", (_what, triggers) => {
    expect(codesOf({ ...row(), triggers })).toEqual(["NOVA121 $.triggers[1]"]);
  });

  it("are read even if the definition has them inside graph_definition", () => {
    const { id, ...graph_definition } = row();
    expect(codesOf({ id, graph_definition: { ...graph_definition, triggers: [{ type: "email" }] } })).toEqual([
      "NOVA120 $.graph_definition.triggers[0].type",
    ]);
  });

  it("change the version of the workflow, unless the list is empty", () => {
    const plain = mustParse(row());
    expect(workflowHash(mustParse({ ...row(), triggers: [] }))).toBe(workflowHash(plain));
    expect(workflowHash(mustParse(with1(mail)))).not.toBe(workflowHash(plain));
  });

  it("have the same fields in the TypeScript builder as in JSON", () => {
    const written = defineWorkflow({
      name: "test",
      triggers: [{ type: "mail", address: "invoices" }],
      nodes: { start: start(), end: end() },
      edges: [{ from: "start", to: "end" }],
    });
    expect(mustParse(written).triggers).toEqual([normalised(mail)]);
    // @ts-expect-error: a mail trigger has no cron
    defineWorkflow({ name: "x", triggers: [{ type: "mail", address: "a", cron: "" }], nodes: {}, edges: [] });
  });
});
