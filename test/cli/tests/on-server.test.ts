import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";
import { newFolder } from "../support/nova.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { onServer } = useServer(api, "editor");
const definition = inARow("billing", {
  sum: "context['total'] = sum(context['list'])",
  big: "context['big'] = 'x' * 9000",
});

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
  await mkdir(join(cwd, "billing"));
  await writeFile(join(cwd, "billing/workflow.json"), JSON.stringify(definition));
});
afterAll(() => rm(cwd, { recursive: true }));

async function run(context: string): Promise<string> {
  const { body } = await api.call("POST /workflows", { body: definition });
  const started = await api.call(`POST /workflows/${body.id}/execute?wait=25`, { body: `{"context": ${context}}` });
  expect(started.status).toBe(200);
  return started.body.execution_id;
}

describe("nova test add with a server", { timeout: 60_000 }, () => {
  it("reads the execution from the server, for which the key of an editor is enough", async () => {
    const id = await run('{"list": [1, 2.50]}');
    process.chdir(cwd);
    const { code, out, err } = await onServer("test", "add", id, "--name", "two", "--json");
    expect([code, err]).toEqual([0, ""]);
    const file = "billing/tests/two.json";
    expect(JSON.parse(out)).toEqual({
      name: "two",
      file,
      workflow: "billing",
      execution_id: id,
      outcomes: ["sum", "big"],
      varies: [],
      loosened: false,
      note: null,
    });
    const written = JSON.parse(await readFile(join(cwd, file), "utf8"));
    expect(written).toMatchObject({
      recorded_from: id,
      input: { list: [1, 2.5] },
      outcomes: { sum: { set: { total: 3.5 } } },
    });
    const text = await readFile(join(cwd, "billing/tests", written.outcomes.big.set.big.$text), "utf8");
    expect(text).toBe("x".repeat(9000));
  });

  it("prints the server's message about an unknown execution", async () => {
    process.chdir(cwd);
    const { code, err } = await onServer("test", "add", "exec_01M8AF93Z6K02GZX8KG37CV8MW");
    expect([code, err]).toEqual([2, expect.stringMatching(/there is no execution/)]);
  });
});
