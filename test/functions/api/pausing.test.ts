import { describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

async function publish(id: string): Promise<void> {
  await api.call("POST /workflows", { body: { ...asking, id } });
}

async function start(id: string, body: object = {}): Promise<string> {
  return (await api.call(`POST /workflows/${id}/execute`, { body })).body.execution_id;
}

const statusOf = async (id: string) => (await api.call(`GET /executions/${id}`)).body.status;

describe("a paused workflow", () => {
  it("queues new runs until it is resumed, while started runs continue", async () => {
    await publish("paused");
    const before = await start("paused");
    const { status, body } = await api.call("POST /workflows/paused/pause");
    expect([status, body]).toMatchObject([200, { id: "paused", paused_at: expect.any(String) }]);
    const during = await start("paused");
    expect(await Promise.all([statusOf(before), statusOf(during)])).toEqual([
      expect.not.stringMatching("queued"),
      "queued",
    ]);
    expect((await api.call("POST /workflows/paused/resume")).body.paused_at).toBeNull();
    expect(await statusOf(during)).not.toBe("queued");
  });

  it("holds back a run that waited for a slot of its client before the pause", async () => {
    await publish("held");
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    await api.call("PATCH /clients/acme", { body: { quotas: { max_concurrent: 1 } } });
    const [first, second] = [
      await start("held", { client_slug: "acme" }),
      await start("held", { client_slug: "acme" }),
    ];
    await api.call("POST /workflows/held/pause");
    await api.call(`POST /executions/${first}/cancel`);
    expect(await statusOf(second)).toBe("queued");
    await api.call("POST /workflows/held/resume");
    expect(await statusOf(second)).not.toBe("queued");
  });

  it("is no longer paused after it was deleted and published again", async () => {
    await publish("gone");
    await api.call("POST /workflows/gone/pause");
    expect((await api.call("DELETE /workflows/gone")).status).toBe(204);
    await publish("gone");
    expect((await api.call("GET /workflows/gone")).body.paused_at).toBeNull();
  });

  it("can be paused only by an editor of all clients, and a second pause changes nothing", async () => {
    await publish("mine");
    const pause = (key: string) => api.call("POST /workflows/mine/pause", { key });
    expect((await pause(await api.key("runner"))).status).toBe(403);
    expect((await pause(await api.key("editor", "acme"))).status).toBe(403);
    const editor = await api.key("editor");
    const [first, again] = [await pause(editor), await pause(editor)];
    expect(again.body).toEqual(first.body);
    const { items } = (await api.call("GET /audit")).body;
    const deeds = items.filter(({ subject }: { subject: string }) => subject === "mine");
    expect(deeds.map(({ action }: { action: string }) => action)).toEqual(["workflow.paused", "workflow.published"]);
  });
});
