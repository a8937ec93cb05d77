import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, it, vi } from "vitest";
import { type DevReporter, holdReports, jsonReporter, textReporter } from "../../../packages/cli/src/dev/reporter.ts";

afterEach(() => {
  vi.useRealTimers();
});

function listed(lines: string[]): DevReporter {
  return {
    published: ({ folder }) => void lines.push(`published ${folder}`),
    queued: ({ execution, workflow }) => void lines.push(`queued ${execution} of ${workflow}`),
    started: ({ execution }) => void lines.push(`started ${execution}`),
    step: ({ execution, state }) => void lines.push(`${state} ${execution}`),
    ended: ({ id }) => void lines.push(`ended ${id}`),
    unstarted: ({ id }) => void lines.push(`unstarted ${id}`),
  };
}

it("holdReports delays reports until `release` is called, then prints them in order, and prints later reports at once", () => {
  const lines: string[] = [];
  const tell = holdReports(listed(lines));
  tell.ended({ id: "exec_1" } as never);
  tell.step({ execution: "exec_2", node: "a", state: "started" });
  tell.published({ folder: "greeting" } as never);
  tell.queued({ execution: "exec_3", workflow: "pay" });
  tell.started({ execution: "exec_3" });
  expect(lines).toEqual([]);
  tell.release();
  const queued = ["queued exec_3 of pay", "started exec_3"];
  expect(lines).toEqual(["ended exec_1", "started exec_2", "published greeting", ...queued]);
  tell.step({ execution: "exec_2", node: "a", state: "succeeded" });
  expect(lines.at(-1)).toBe("succeeded exec_2");
  tell.release();
  expect(lines).toHaveLength(6);
});

it.each([
  [
    textReporter,
    [
      "09:05:07 exec_1  queued pay waits for a slot, or for the end of a pause",
      "09:05:07 exec_1  running from the queue",
    ],
  ],
  [
    jsonReporter,
    ['{"execution_id":"exec_1","workflow":"pay","state":"queued"}', '{"execution_id":"exec_1","state":"begun"}'],
  ],
])("nova dev prints a line for a queued run, and another line for its start (%#)", async (tell, expected) => {
  vi.setSystemTime(new Date(2026, 1, 1, 9, 5, 7));
  using log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  tell.queued({ execution: "exec_1", workflow: "pay" });
  tell.started({ execution: "exec_1" });
  await vi.waitUntil(() => log.mock.calls.length > 0);
  expect(log.mock.calls.map(([text]) => stripVTControlCharacters(text))).toEqual([expected.join("\n")]);
});

const mail = {
  id: "dlv_1",
  type: "mail",
  workflow: null,
  trigger: null,
  client: null,
  status: "refused",
  from: "eve@example.com",
  about: "hi\u001b[2J",
  reason: 'no workflow has the mail address "bills"',
} as const;

it.each([
  [
    textReporter,
    /^\d\d:\d\d:\d\d dlv_1 {2}refused mail from eve@example.com \(hi ?\[2J\): no workflow has the mail address "bills"$/,
  ],
  [
    jsonReporter,
    /^\{"delivery_id":"dlv_1","type":"mail","status":"refused","workflow":null,.*"reason":"no workflow has/,
  ],
])("nova dev prints a line with the reason for a delivery that starts no run (%#)", async (tell, expected) => {
  using log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  tell.unstarted(mail as never);
  await vi.waitUntil(() => log.mock.calls.length > 0);
  expect(stripVTControlCharacters(log.mock.calls[0]?.[0])).toMatch(expected);
});

it.each([
  [{ created: true, isNew: true, active: 2 }, "is published"],
  [{ created: false, isNew: true, active: 2 }, "is used by new runs again"],
  [{ created: false, isNew: false, active: 2 }, "is unchanged"],
  [
    { created: false, isNew: false, active: 1 },
    "is unchanged; new runs use version 1 - nova activate pay 2 changes that",
  ],
])("nova dev prints what a publication changed: %j", async (made, news) => {
  using log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  textReporter.published({ folder: "pay", id: "pay", version: 2, findings: [], ...made });
  await vi.waitUntil(() => log.mock.calls.length > 0);
  expect(stripVTControlCharacters(log.mock.calls[0]?.[0])).toMatch(new RegExp(`pay version 2 ${news}$`));
});
