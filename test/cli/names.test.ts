import { createClient } from "@nova/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readNames } from "../../packages/cli/src/commands/names.ts";
import { traceLines } from "../../packages/cli/src/output/trace.ts";
import { ScriptedServer } from "../client/support/scripted-server.ts";
import { traceOf } from "./support/trace-of.ts";

const ulid = "01KBA0000000000000000000AB";
const draft = `draft-${ulid.toLowerCase()}`;
const isTerminal = process.stdout.isTTY;

beforeEach(() => {
  process.stdout.isTTY = true;
});

afterEach(() => {
  process.stdout.isTTY = isTerminal;
});

async function readNamesOf(ids: readonly string[], ...expected: ConstructorParameters<typeof ScriptedServer>) {
  const server = new ScriptedServer(...expected);
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const nameOf = await readNames(nova, ids);
  server.expectDone();
  return ids.map(nameOf);
}

it("the command line requests the name of each workflow once, and cuts a long name but not the id", async () => {
  const name = "n".repeat(70);
  const id = "i".repeat(64);
  expect(
    await readNamesOf(
      [id, draft, id, "same"],
      [`GET /workflows/${id}`, { body: { id, name } }],
      [`GET /sessions/ses_${ulid}`, { body: { name } }],
      ["GET /workflows/same", { body: { id: "same", name: "same" } }],
    ),
  ).toEqual([
    `${"n".repeat(59)}… (${id})`,
    `draft ${"n".repeat(59)}… (ses_${ulid})`,
    `${"n".repeat(59)}… (${id})`,
    "same",
  ]);
});

it("the command line prints only the id of a workflow if it cannot read the name of the workflow", async () => {
  const names = await readNamesOf(
    ["gone", draft, "kept"],
    ["GET /workflows/gone", { status: 404, body: {} }],
    [`GET /sessions/ses_${ulid}`, { status: 403, body: {} }],
    ["GET /workflows/kept", { body: { id: "kept", name: "Kept" } }],
  );
  expect(names).toEqual(["gone", draft, "Kept (kept)"]);
});

it("the header of a trace shows the whole id of the workflow on a terminal, also after a long name", () => {
  const shown = `${"n".repeat(59)}… (${"i".repeat(64)})`;
  const [header] = traceLines(traceOf([]), false, () => shown);
  expect(header).toContain(`${shown} version 1`);
});
