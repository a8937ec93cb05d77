import { beforeAll, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

async function started(workflow: object, body: object = {}): Promise<string> {
  const { body: published } = await api.call("POST /workflows", { body: workflow });
  const { body: begun } = await api.call(`POST /workflows/${published.id}/execute`, { body });
  return begun.execution_id;
}

async function ended(workflow: object, body: object = {}): Promise<string> {
  const id = await started(workflow, body);
  await api.cloud.untilEnd(id);
  return id;
}

describe("GET /executions/{id}/proof", { timeout: 60_000 }, () => {
  let id: string;

  beforeAll(async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    id = await ended(inARow("proved", { one: "context['text'] = 'x' * 90_000" }), { client_slug: "acme" });
  });

  it("returns a proof file with heads and records of steps, or with other contents if the query asks for them", async () => {
    const files = await Promise.all(
      ["", "?contents=none", "?contents=digests", "?contents=all"].map((query) =>
        api.call(`GET /executions/${id}/proof${query}`),
      ),
    );
    expect(files.map(({ status, body }) => [status, body.kind, body.contents])).toEqual([
      [200, "nova-proof", "digests"],
      [200, "nova-proof", "none"],
      [200, "nova-proof", "digests"],
      [200, "nova-proof", "all"],
    ]);
    const [usual, none, , all] = files.map(({ body }) => body.runs[0].scopes[0].entries[1]);
    expect(Object.keys(usual)).toEqual(["head"]);
    expect(usual).toEqual(none);
    expect(all).toEqual({ head: usual.head, contents: { context: { text: expect.any(String) } } });
  });

  it("refuses unknown parameters, and values of `contents` that do not exist", async () => {
    await expectRefusal(
      api.call(`GET /executions/${id}/proof?contents=some`),
      400,
      'the query does not fit: $.contents: it has to be "none" or "digests" or "all"',
    );
    await expectRefusal(api.call(`GET /executions/${id}/proof?with=all`), 400, /"with" is not known here/);
  });

  it("answers 404 for an unknown run, and to a viewer of another client", async () => {
    const [own, other] = [await api.key("viewer", "acme"), await api.key("viewer", "default")];
    expect((await api.call(`GET /executions/${id}/proof?contents=all`, { key: own })).status).toBe(200);
    const unknown = `exec_${"0".repeat(26)}`;
    await expectRefusal(api.call(`GET /executions/${unknown}/proof`), 404, new RegExp(unknown));
    await expectRefusal(api.call(`GET /executions/${id}/proof`, { key: other }), 404, new RegExp(id));
  });

  it("answers 409 for an open run", async () => {
    const open = await started(asking);
    await api.taskOf(open);
    await expectRefusal(
      api.call(`GET /executions/${open}/proof`),
      409,
      `execution "${open}" is open - its proof exists after its end`,
    );
    await api.call(`POST /executions/${open}/cancel`);
  });

  it("answers 303 with a signed address if the proof file has more than 4 MB", async () => {
    const code = "for i in range(6): context[f'text{i}'] = chr(97 + i) * 900_000";
    const large = await ended(inARow("large", { one: code }), { client_slug: "acme" });
    const key = await api.key("viewer", "acme");
    const headers = { authorization: `Bearer ${key}` };
    const url = `${api.url}/executions/${large}/proof?contents=all`;
    const answer = await fetch(url, { headers, redirect: "manual" });
    expect([answer.status, await answer.text()]).toEqual([303, ""]);
    const address = answer.headers.get("location") ?? "";
    expect(new URL(address).pathname).toContain(`/proofs/files/acme/${large}/${large}-`);
    const file = await fetch(address);
    expect(file.headers.get("content-disposition")).toBe(`attachment; filename="${large}.proof.json"`);
    const text = await file.text();
    expect(text.length).toBeGreaterThan(6 * 1_200_000);
    expect(Object.keys(JSON.parse(text).blobs)).toHaveLength(6);
    const unsigned = await fetch(address.replace(/\?.*$/, ""));
    expect(unsigned.status).toBeGreaterThanOrEqual(400);
    await api.call(`POST /executions/${large}/erase`);
    expect((await fetch(address)).status).toBe(404);
    const erased = await api.call(`GET /executions/${large}/proof?contents=all`);
    expect(erased.body.runs[0].scopes[0].entries[1].contents).toEqual({ context: { withheld: "erased" } });
  });
});
