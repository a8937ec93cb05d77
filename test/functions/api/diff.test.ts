import { beforeAll, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";

const api = useApi();
let [a, b] = ["", ""];

beforeAll(async () => {
  await api.call("POST /workflows", { body: inARow("adding", { add: "context['sum'] = context['n'] + 1" }) });
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
  await api.call("POST /clients", { body: { slug: "other", name: "Other" } });
  [a, b] = [await run(1), await run(2, "acme")];
});

async function run(n: number, client_slug = "default"): Promise<string> {
  const body = { client_slug, context: { n } };
  return (await api.call("POST /workflows/adding/execute?wait=20", { body })).body.execution_id;
}

const nobody = `exec_${"0".repeat(26)}`;

describe("two executions", () => {
  it("are compared node by node", async () => {
    const { status, body } = await api.call(`GET /executions/${a}/diff/${b}`);
    expect([status, body.next_cursor]).toEqual([200, null]);
    expect(body.items.map(({ place }: { place: string }) => place)).toEqual(["start", "add", "end"]);
    expect(body.items[1]).toEqual({
      place: "add",
      path: "both",
      definition: { same: true, was: expect.any(String), is: expect.any(String) },
      code: { same: true, was: expect.any(String), is: expect.any(String) },
      context: [{ key: "sum", was: 2, is: 3 }],
      cost: {
        was: { cost_usd: 0, execution_time_ms: expect.any(Number) },
        is: { cost_usd: 0, execution_time_ms: expect.any(Number) },
      },
    });
  });

  it.each([
    ["an invalid id", () => `${a}/diff/nothing`, () => 'there is no execution "nothing"'],
    ["an unknown id", () => `${nobody}/diff/${a}`, () => `there is no execution "${nobody}"`],
    ["an unknown second id", () => `${a}/diff/${nobody}`, () => `there is no execution "${nobody}"`],
  ])("are not found: %s", async (_, path, detail) => {
    const { status, body } = await api.call(`GET /executions/${path()}`);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(detail())]);
  });

  it("are reported as missing if one belongs to another client", async () => {
    const key = await api.key("viewer", "other");
    const own = await run(3, "other");
    expect((await api.call(`GET /executions/${own}/diff/${own}`, { key })).status).toBe(200);
    const missing = await api.call(`GET /executions/${own}/diff/${nobody}`, { key });
    for (const path of [`${own}/diff/${b}`, `${b}/diff/${own}`]) {
      const { status, body } = await api.call(`GET /executions/${path}`, { key });
      expect([status, body.detail]).toEqual([404, missing.body.detail.replaceAll(nobody, b)]);
    }
  });

  it("accept no query except a returned cursor", async () => {
    expect((await api.call(`GET /executions/${a}/diff/${b}?limit=3`)).status).toBe(400);
    expect((await api.call(`GET /executions/${a}/diff/${b}?cursor=none`)).status).toBe(400);
  });
});
