import { expect, it, vi } from "vitest";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";

const api = useApi();
const { nova, onServer, startOnServer } = useServer(api);

/** Code that prints and runs until it is stopped. */
const code = `
import time
print("begun with", context["pin"])
print(context["pin"][:6], end="", flush=True)
time.sleep(600)
`;

async function begin(): Promise<string> {
  const inputs = { type: "object", properties: { pin: { type: "string", secret: true } } };
  await api.call("POST /workflows", { body: inARow("endless", { endless: code }, { inputs }) });
  const body = { context: { pin: "4711-secret" } };
  return (await api.call("POST /workflows/endless/execute", { body })).body.execution_id;
}

it("the running node and its output are shown by the API and by the command line, local or remote", async () => {
  const id = await begin();
  const logs = `GET /executions/${id}/chain/1/logs`;
  const printed = await vi.waitFor(
    async () => {
      const { body } = await api.call(logs);
      expect(body.text).toMatch(/begun/); // before its turn there is no such entry, and no text
      return body;
    },
    { timeout: 20_000 },
  );
  // A possible start of a secret is held back until more output follows.
  expect(printed).toEqual({ text: "begun with ***\n", left_out: 0, next: expect.stringMatching(/^0-1-\d+$/) });
  expect((await api.call(`${logs}?after=${printed.next}`)).body.text).toBe("");
  const { at_work } = (await api.call(`GET /executions/${id}`)).body;
  expect(at_work).toMatchObject({ count: 1, nodes: [{ node_id: "endless", seq: 1, attempt: 1, waits_for: null }] });
  expect((await nova("trace", id)).out).toMatch(/\nworking endless since \S+ \(\d.*\)\n/);
  expect(JSON.parse((await onServer("trace", id, "--json")).out)).toMatchObject({ at_work });

  const following = startOnServer("logs", id, "--follow");
  await vi.waitFor(() => expect(following.terminal.stdout).toContain("begun"), { timeout: 20_000 });
  await api.call(`POST /executions/${id}/cancel`);
  const { code, out } = await following.ended;
  expect([code, out]).toMatchObject([0, expect.stringMatching(/^1 endless\n {2}begun with \*\*\*\n/)]);
  expect(out.match(/begun/g)).toHaveLength(1);
  expect((await api.call(logs)).body).toEqual({ text: "", left_out: 0, next: null });
}, 60_000);
