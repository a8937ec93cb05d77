import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const pdf = Buffer.from("%PDF-1.7 of some invoice");
const sha256 = createHash("sha256").update(pdf).digest("hex");

beforeAll(async () => {
  for (const slug of ["acme", "globex"]) await api.call("POST /clients", { body: { slug, name: slug } });
  await api.call("POST /workflows", { body: asking });
});

interface Ticket {
  id: string;
  url: string;
  headers: Record<string, string>;
  expires_at: string;
}

async function ticket(body: object): Promise<Ticket> {
  const answer = await api.call("POST /uploads", { body });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function send({ url, headers }: Pick<Ticket, "url" | "headers">, body: Buffer) {
  const { "content-length": _, ...rest } = headers;
  const answer = await fetch(url, { method: "PUT", headers: rest, body });
  return { status: answer.status, text: await answer.text() };
}

const start = (context: object | string, client = "acme") => {
  const text = typeof context === "string" ? context : JSON.stringify(context);
  return api.call("POST /workflows/asking/execute", { body: `{"client_slug": "${client}", "context": ${text}}` });
};

describe("an upload", () => {
  it.each([
    ["with a declared hash", { sha256 }],
    ["without a declared hash", {}],
  ])(
    "%s becomes bytes at each position at which a context names it, and numbers in the context stay exact",
    async (_what, more) => {
      const upload = await ticket({ bytes: pdf.length, type: "application/pdf", client_slug: "acme", ...more });
      expect(await send(upload, pdf)).toMatchObject({ status: 200 });
      const { $upload } = { $upload: upload.id };
      const context = `{"pdf": {"$upload": "${$upload}"}, "total": 850.0, "mails": [{"n": 12345678901234567890, "file": {"$upload" : "${$upload}"}}]}`;
      const { status, body } = await start(context);
      expect(status).toBe(202);
      const { text } = await api.call(`GET /executions/${body.execution_id}`);
      const reference = `{"$blob":{"sha256":"${sha256}","bytes":${pdf.length},"type":"bytes"}}`;
      expect(text).toContain(`"pdf":${reference}`);
      expect(text).toContain(`[{"n":12345678901234567890,"file":${reference}}]`);
      expect(text).toContain('"total":850.0');
      const stored = await api.ports.blobs.get({ client: "acme", root: body.execution_id }, sha256);
      expect(Buffer.from(stored)).toEqual(pdf);
      const { body: link } = await api.call(`GET /executions/${body.execution_id}/blobs/${sha256}`);
      expect(Buffer.from(await (await fetch(link.url)).arrayBuffer())).toEqual(pdf);
      const absent = await api.call(`GET /executions/${body.execution_id}/blobs/${"0".repeat(64)}`);
      expect([absent.status, absent.body.detail]).toEqual([404, expect.stringMatching(/has no bytes of that hash/)]);
    },
  );

  it("belongs to its client, and another client gets the same response as for an upload that does not exist", async () => {
    const upload = await ticket({ bytes: pdf.length, client_slug: "acme" });
    await send(upload, pdf);
    const nobody = `upl_${"0".repeat(26)}`;
    const [foreign, unknown] = [
      await start({ f: { $upload: upload.id } }, "globex"),
      await start({ f: { $upload: nobody } }),
    ];
    expect([foreign.status, foreign.body.detail]).toEqual([422, unknown.body.detail.replace(nobody, upload.id)]);
    expect(unknown.body.detail).toMatch(/there is no upload "upl_0+" - POST \/uploads/);
  });

  it("is reported as missing before its bytes arrive", async () => {
    const upload = await ticket({ bytes: 5, client_slug: "acme" });
    await expectRefusal(start({ file: { $upload: upload.id } }), 409, /nothing has come for upload/);
  });

  it("is refused before it is sent if it is too large to copy within a request", async () => {
    expect((await api.call("POST /uploads", { body: { bytes: 2 ** 30 + 1 } })).status).toBe(422);
  });

  it.each(["upl_nope", "", 'a "quoted" one', "x".repeat(99)])(
    "is refused immediately with an invalid id: %j",
    async ($upload) => {
      await expectRefusal(
        start({ list: [{ file: { $upload } }] }),
        422,
        /^there is no upload ".{0,42}" - POST \/uploads/,
      );
    },
  );

  it.each(['"{\\"$upload\\": \\"upl_x\\"}"', '{"$upload": 5}', '{"a": {"$upload": "upl_x", "more": 1}}'])(
    "is not confused with a value that only looks like an upload: %s",
    async (value) => {
      const { status, body } = await start(`{"data": ${value}}`);
      expect(status).toBe(202);
      expect((await api.call(`GET /executions/${body.execution_id}`)).text).toContain(`"data":${value}`);
    },
  );
});

describe("the URL of an upload", () => {
  it.each<[string, (upload: Ticket) => Promise<{ status: number; text: string }>, string]>([
    ["more bytes", (upload) => send(upload, Buffer.concat([pdf, pdf])), "SignatureDoesNotMatch"],
    ["fewer bytes", (upload) => send(upload, pdf.subarray(1)), "SignatureDoesNotMatch"],
    ["other bytes", (upload) => send(upload, Buffer.from(pdf).reverse()), "BadDigest"],
    [
      "another type",
      (upload) => send({ ...upload, headers: { ...upload.headers, "content-type": "text/html" } }, pdf),
      "SignatureDoesNotMatch",
    ],
    [
      "another key",
      (upload) => send({ ...upload, url: upload.url.replace(upload.id, "upl_other") }, pdf),
      "SignatureDoesNotMatch",
    ],
    [
      "another client",
      (upload) => send({ ...upload, url: upload.url.replace("/acme/", "/globex/") }, pdf),
      "SignatureDoesNotMatch",
    ],
    [
      "another time to live",
      (upload) => send({ ...upload, url: upload.url.replace("X-Amz-Expires=900", "X-Amz-Expires=9000") }, pdf),
      "SignatureDoesNotMatch",
    ],
  ])("accepts only the declared upload, not %s", async (_what, put, code) => {
    const upload = await ticket({ bytes: pdf.length, client_slug: "acme", sha256 });
    const { status, text } = await put(upload);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toContain(`<Code>${code}</Code>`);
    expect((await start({ f: { $upload: upload.id } })).status).toBe(409);
  });
});
