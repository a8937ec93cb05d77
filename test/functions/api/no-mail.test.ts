import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const mail = { mail: ["ops@example.com"] };
const webhook = { webhook: "https://pager.example.com/" };
const sentence =
  /^NOVA sends no mail, because it has no sender address - name a webhook, or deploy with NOVA_MAIL_FROM/;

describe("a deployment that cannot send mail", () => {
  beforeAll(async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    delete api.ports.mailer;
  });

  it("reports a finding for a definition that reports failures by mail", async () => {
    const { body } = await api.call("POST /workflows/validate", { body: { ...asking, on_failure: mail } });
    const found = { code: "NOVA131", path: "$.on_failure.mail", message: expect.stringMatching(sentence) };
    expect(body).toMatchObject({ valid: false, findings: [found] });
  });

  it("refuses to publish a definition that reports failures by mail", async () => {
    const { status, body } = await api.call("POST /workflows", { body: { ...asking, on_failure: mail } });
    expect([status, body.findings[0].code]).toEqual([422, "NOVA131"]);
  });

  it("refuses a mail address for the failures of a client", async () => {
    const { status, body } = await api.call("PATCH /clients/acme", { body: { on_failure: mail } });
    expect([status, body.detail]).toEqual([422, expect.stringContaining("on_failure.mail: NOVA sends no mail")]);
    expect((await api.call("GET /clients/acme")).body.on_failure).toEqual({});
  });

  it("accepts an approval that names mail addresses, with a warning", async () => {
    const [start, ask, end] = asking.nodes;
    const named = (to: string[], more = {}) => ({ ...asking, nodes: [start, { ...ask, to, ...more }, end] });
    const { body } = await api.call("POST /workflows/validate", { body: named(["boss@example.com", "accounting"]) });
    const message = expect.stringMatching(/^the mail addresses of "ask" get no mail: NOVA sends no mail, because/);
    expect(body.valid).toBe(true);
    expect(body.findings).toContainEqual(expect.objectContaining({ code: "NOVA133", severity: "warning", message }));
    const { body: approving } = await api.call("POST /workflows/validate", {
      body: named([], { approvers: { any: ["cfo@example.com"] } }),
    });
    expect(approving.findings).toEqual([expect.objectContaining({ code: "NOVA133", message })]);
    const { body: without } = await api.call("POST /workflows/validate", { body: named(["accounting"]) });
    expect(without.findings.map(({ code }: { code: string }) => code)).toEqual(["NOVA433"]);
  });

  it("accepts a webhook for the failures of a workflow and of a client", async () => {
    const published = await api.call("POST /workflows", { body: { ...asking, on_failure: webhook } });
    expect(published.status).toBe(201);
    expect((await api.call("PATCH /clients/acme", { body: { on_failure: webhook } })).status).toBe(200);
  });
});

it("a laptop publishes a definition that reports failures by mail, because it can always send mail", async () => {
  api.ports.mailer = api.cloud.service.mailer as NonNullable<typeof api.ports.mailer>;
  const { status } = await api.call("POST /workflows", { body: { ...asking, id: "told", on_failure: mail } });
  expect(status).toBe(201);
});
