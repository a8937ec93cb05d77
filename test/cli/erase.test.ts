import { cancelExecution } from "@nova/engine";
import { expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { useServer } from "./support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);

async function wait(id: string): Promise<string> {
  await api.cloud.untilEnd(id);
  return id;
}

it("nova erase erases an execution and its restarts when all of them have ended", { timeout: 60_000 }, async () => {
  const slow = 'import time; time.sleep(context["nap"])';
  await api.call("POST /workflows", { body: inARow("kept", { one: 'context["a"] = 1', two: slow }) });
  const restart = async (id: string, nap: number) => {
    const body = { from: "two", context_patch: { nap } };
    return (await api.call(`POST /executions/${id}/restart`, { body })).body.execution_id;
  };
  const started = await api.call("POST /workflows/kept/execute", { body: { context: { nap: 0 } } });
  const first = await wait(started.body.execution_id);
  const [second, open] = [await wait(await restart(first, 0)), await restart(first, 600)];
  const { body } = await api.call(`GET /executions/${first}`);
  expect([body.restarted_from, body.restarts]).toEqual([null, [second, open]]);
  expect((await nova("trace", first)).out).toContain(`restarted as ${second}, ${open}`);
  expect((await nova("trace", second, "--json")).out).toContain(`"restarted_from":"${first}"`);
  const refused = await nova("erase", first);
  expect([refused.code, refused.err]).toEqual([
    2,
    `nova: execution ${open}, which was restarted from ${first}, is open - cancel it, or wait for its end, and erase then\n`,
  ]);
  await cancelExecution(api.cloud.ports, open);
  expect(JSON.parse((await nova("erase", first, "--json")).out)).toEqual({
    execution_id: first,
    erased: [first, second, open],
  });
  const verified = await nova("verify", second);
  expect([verified.code, verified.out]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^anchored .*\nsource gone: ${first}, whose outcomes it reuses\n`)),
  ]);
  const [{ action, subject, detail }] = (await api.call("GET /audit?limit=1")).body.items;
  expect({ action, subject, detail }).toEqual({
    action: "execution.erased",
    subject: first,
    detail: { executions: 3 },
  });
});

it("nova erase mentions mails on this machine only for an execution on this machine", async () => {
  await api.call("POST /workflows", { body: inARow("brief", { one: 'context["a"] = 1' }) });
  const run = async () => wait((await api.call("POST /workflows/brief/execute", { body: {} })).body.execution_id);
  const [here, there] = [await run(), await run()];
  expect((await onServer("erase", there)).out).toBe(`${there} is erased, or will be within minutes`);
  expect((await nova("erase", here)).out).toContain(`${here} is erased, with the mails about it in .nova/mail`);
});
