import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { withLeaf } from "../support/forging/edits.ts";
import { type Item, RawTable } from "../support/forging/raw-table.ts";
import { useServer } from "./support/on-server.ts";

const api = useApi();
const { nova } = useServer(api);

const labels = { order: "{{order.id}}", what: "{{order.kind}} of {{shop}}", none: "{{order.missing}}" };
const work = { one: 'context["a"] = 1' };

async function ran(workflow: string, context: object): Promise<string> {
  const { body } = await api.call(`POST /workflows/${workflow}/execute`, { body: { context } });
  await api.cloud.untilEnd(body.execution_id);
  return body.execution_id;
}

async function idsOf(...args: string[]): Promise<string[]> {
  const { items } = JSON.parse((await nova("executions", "--json", ...args)).out);
  return items.map(({ execution_id }: { execution_id: string }) => execution_id);
}

describe("labels of runs", { timeout: 60_000 }, () => {
  let [first, second, other] = ["", "", ""];

  beforeAll(async () => {
    for (const id of ["labelled", "others"]) await api.call("POST /workflows", { body: inARow(id, work, { labels }) });
    first = await ran("labelled", { order: { id: "PO-10", kind: "a sale" }, shop: "Löwen" });
    second = await ran("labelled", { order: { id: "PO-10" } });
    other = await ran("others", { order: { id: 12345678901234567890n.toString(), kind: null }, shop: "x".repeat(300) });
  });

  it("have the values that their templates find in the initial context, and are absent if there is no value", async () => {
    const labelsOf = async (id: string) => (await api.call(`GET /executions/${id}`)).body.labels;
    expect(await labelsOf(first)).toEqual({ order: "PO-10", what: "a sale of Löwen" });
    expect(await labelsOf(second)).toEqual({ order: "PO-10" });
    expect(await labelsOf(other)).toEqual({ order: "12345678901234567890" });
  });

  it("select the runs that have them, newest first, page by page, together with other filters", async () => {
    expect(await idsOf("--label", "order=PO-10")).toEqual([second, first]);
    expect(await idsOf("--label", "order=PO-10", "--limit", "1")).toEqual([second]);
    expect(await idsOf("--label", "what=a sale of Löwen")).toEqual([first]);
    expect(await idsOf("--label", "order=PO-1")).toEqual([]);
    expect(await idsOf("--label", "order=PO-10", "--workflow", "others")).toEqual([]);
    expect(await idsOf("--label", "order=PO-10", "--status", "failed")).toEqual([]);
    const paged: string[] = [];
    for (let cursor = ""; cursor !== "end"; ) {
      const { body } = await api.call(`GET /executions?label=order%3DPO-10&limit=1${cursor && `&cursor=${cursor}`}`);
      paged.push(...body.items.map((one: { execution_id: string }) => one.execution_id));
      cursor = body.next_cursor ?? "end";
    }
    expect(paged).toEqual([second, first]);
    expect((await api.call("GET /executions?label=order")).status).toBe(400);
  });

  it("appear in lists and traces", async () => {
    expect((await nova("executions", "--label", "order=PO-10")).out).toContain("order=PO-10, what=a sale of Löwen");
    expect((await nova("trace", first)).out).toContain("label order=PO-10\n");
  });

  it("are compared by nova verify with the labels in entry 0 of the chain, and any difference is reported", async () => {
    const table = new RawTable();
    const record = (await table.itemsOf(first)).find(({ pk }) => pk?.S === `E#${first}`) as Item;
    expect((await nova("verify", "--label", "order=PO-10")).out).toContain("2 runs: 2 anchored");
    for (const forged of [undefined, { M: {} }, { M: { order: { S: "PO-11" } } }, { S: "order" }]) {
      await table.put([withLeaf(record, ["labels"], forged)]);
      const { code, out } = await nova("verify", first);
      expect([code, out]).toEqual([1, expect.stringMatching(/labels/)]);
    }
    await table.put([withLeaf(record, ["labels", "order"], { S: "PO-11" })]);
    expect(await idsOf("--label", "order=PO-10")).toEqual([second]);
    await table.put([record]);
    expect((await nova("verify", first)).code).toBe(0);
  });

  it("select the deliveries that started the runs, and are shown with these deliveries", async () => {
    const sent = { labels: { order: "{{webhook.body.order.id}}" }, triggers: [{ id: "bell", type: "webhook" }] };
    await api.call("POST /workflows", { body: inARow("rung", work, sent) });
    const started = async (id: string) => {
      const { status, body } = await api.call("POST /hooks/bell", {
        key: null,
        body: JSON.stringify({ order: { id } }),
      });
      expect(status).toBe(202);
      await api.cloud.untilEnd(body.execution_id);
      return body.execution_id;
    };
    const [one, two] = [await started("PO-20"), await started("PO-21")];
    const deliveriesOf = async (label?: string) => {
      const { out } = await nova("deliveries", "--json", ...(label === undefined ? [] : ["--label", label]));
      return JSON.parse(out).items.map((one: Record<string, unknown>) => [one.execution_id, one.labels]);
    };
    expect(await deliveriesOf("order=PO-20")).toEqual([[one, { order: "PO-20" }]]);
    expect(await deliveriesOf("order=PO-22")).toEqual([]);
    expect((await deliveriesOf()).map(([id]: [string]) => id)).toEqual([two, one]);
    expect((await nova("deliveries", "--label", "order=PO-21")).out).toContain("order=PO-21");
  });

  it("select the runs that nova erase erases, and are erased with these runs", async () => {
    const { out } = await nova("erase", "--label", "order=PO-10", "--json");
    expect(JSON.parse(out)).toEqual({ label: "order=PO-10", erased: [first, second] });
    expect(await idsOf("--label", "order=PO-10")).toEqual([]);
    const { body } = await api.call(`GET /executions/${first}`);
    expect(body.labels).toEqual({});
    const verified = await nova("verify", first);
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining("entry 0: labels was erased")]);
    expect(await idsOf("--label", "order=12345678901234567890")).toEqual([other]);
    expect((await nova("erase")).code).toBe(2);
  });
});
