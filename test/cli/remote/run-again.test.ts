import { beforeAll, describe, expect, it } from "vitest";
import { confirmRestart, confirmRestarts } from "../../../packages/cli/src/commands/restart.ts";
import type { Asking } from "../../../packages/cli/src/output/terminal.ts";
import { createExactClient } from "../../../packages/mcp/src/exact-client.ts";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { onServer } = useServer(api);
const bad = "raise ValueError('bad')";
const definition = inARow("paying", {
  make: { code: "context['made'] = True", effects: true },
  count: { code: "context['n'] = 1", effects: false },
  pay: { code: bad, effects: true },
});

let id: string;
let runner: ReturnType<typeof createExactClient>;
beforeAll(async () => {
  runner = createExactClient({ url: api.url, apiKey: await api.key("runner"), fetch });
  const { body } = await api.call("POST /workflows", { body: definition });
  id = (await api.call(`POST /workflows/${body.id}/execute?wait=25`, { body: "{}" })).body.execution_id;
});

function answering(yes: boolean): Asking & { asked: string[] } {
  const asked: string[] = [];
  return {
    isInteractive: true,
    asked,
    async ask(question, unsaid) {
      asked.push(`${question} (${unsaid})`);
      return yes;
    },
  };
}

describe("nova restart", { timeout: 60_000 }, () => {
  it("asks the user before it runs nodes with effects a second time, and takes an empty answer as no", async () => {
    for (const yes of [true, false]) {
      const asking = answering(yes);
      expect(await confirmRestart(runner, id, { changes: {}, json: false }, asking)).toBe(yes);
      expect(asking.asked).toEqual([`pay will run again, with its effects - restart ${id}? (no)`]);
    }
    const asking = answering(true);
    expect(await confirmRestart(runner, id, { changes: { from: "make" }, json: false }, asking)).toBe(true);
    expect(asking.asked[0]).toMatch(/^make, pay will run again/);
    expect(await confirmRestarts(runner, "paying", { changes: {}, json: false, count: 3 }, asking)).toBe(true);
    expect(asking.asked[1]).toMatch(/^make, pay may run again.* - restart 3 executions\? \(no\)$/);
  });

  it("asks no question without a terminal, but prints a warning on stderr unless --yes is given", async () => {
    const said = "nova: pay will run again, with its effects\n";
    const told = await onServer("restart", id, "--json");
    expect(told.err).toContain(said);
    expect(JSON.parse(told.out)).toMatchObject({ status: "failed", restarted_from: id });
    const quiet = await onServer("restart", id, "--json", "--yes");
    expect(quiet.err).not.toContain("second time");
    expect(JSON.parse(quiet.out)).toMatchObject({ restarted_from: id });
  });
});
