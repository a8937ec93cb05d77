import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { useServer } from "./support/on-server.ts";

const api = useApi();
const { onServer } = useServer(api);

async function made(...more: string[]): Promise<string> {
  const { out } = await onServer("session", "new", "--json", ...more);
  return JSON.parse(out).session_id;
}

describe("nova session", { timeout: 60_000 }, () => {
  it("builds a draft, runs it, changes an output by hand, and publishes it", async () => {
    const id = await made("--set", "n=12345678901234567890", "--name", "Numbers");
    expect((await onServer("session", "show", id)).out).toMatch(/^ses_.* {2}Numbers, until 20.*\nno nodes yet/);
    const file = join(api.cloud.dataDir, "two.py");
    await writeFile(file, "context['text'] = f\"{context['double']}\\nmore\"\n");
    await onServer("session", "set", id, "one", "--set", `code="context['double'] = context['n'] * 2"`);
    const added = await onServer("session", "set", id, "two", "--text", `code=${file}`, "--after", "one");
    expect(added.out.split("\n").slice(1)).toEqual([
      "node  version  state  output",
      "one   1        stale",
      "two   1        stale",
    ]);
    const strange = await onServer("session", "set", id, "three", "--after", "nobody");
    expect([strange.code, strange.err]).toEqual([2, 'nova: the session has no node "nobody" - it has one, two\n']);
    expect((await onServer("session", "show", id)).out).not.toContain("three");
    const ran = await onServer("session", "run", id);
    expect([ran.code, ran.out.split("\n")]).toEqual([
      0,
      [
        expect.stringMatching(/^exec_\w+ runs one, two$/),
        expect.stringContaining(id),
        "node  version  state  output",
        "one   2        fresh  24691357802469135780",
        "two   2        fresh  24691357802469135780",
      ],
    ]);
    const { execution_id, workflow } = JSON.parse((await onServer("executions", "--json")).out).items[0];
    expect(workflow).toMatch(/^draft-/);
    for (const list of [["executions"], ["trace", execution_id], ["analytics", "workflows"]])
      expect((await onServer(...list)).out).toContain(`draft Numbers (${id})`);
    const edited = await onServer("session", "edit", id, "one", "--output", '{"double": 850.0}');
    expect(edited.out.split("\n").slice(2)).toEqual([
      "one   3        fresh  850.0",
      "two   2        stale  24691357802469135780",
    ]);
    expect((await onServer("session", "run", id, "two")).out).toMatch(
      /runs two; reuses one\n[\s\S]*two {3}3 {8}fresh {2}850\.0/,
    );
    expect((await onServer("session", "run", id)).out).toMatch(/^every node is fresh, so none runs\n/);
    expect((await onServer("session", "publish", id, "--as", "numbers")).out).toBe("version 1 of numbers is ready");
    expect((await onServer("versions")).out).toContain("Numbers");
    await onServer("start", "numbers", "--set", "n=1");
    expect((await onServer("executions", "--workflow", "numbers")).out).toContain("Numbers (numbers)");
    expect((await onServer("session", "list")).out).toContain(id);
    expect(await made("numbers")).toMatch(/^ses_/);
    expect((await onServer("session", "delete", id)).out).toMatch(/is deleted; its executions stay$/);
    const gone = await onServer("session", "show", id);
    expect([gone.code, gone.err]).toEqual([expect.any(Number), expect.stringContaining("there is no session")]);
  });

  it("exits with 1 if a node of the draft failed, and names the node", async () => {
    const id = await made();
    await onServer("session", "set", id, "bad", "--set", "code=\"raise ValueError('no')\"");
    const { code, out } = await onServer("session", "run", id);
    expect([code, out]).toEqual([1, expect.stringMatching(/bad failed: .*no/)]);
  });

  it("repeats the failed node of a run with the recorded context, and checks and publishes the corrected node", async () => {
    const nodes = { read: "context['vat'] = 21", sum: "context['total'] = context['net'] + context['vat']" };
    await api.call("POST /workflows", { body: inARow("bills", nodes) });
    const { body } = await api.call("POST /workflows/bills/execute?wait=20", { body: { context: { net: "100" } } });
    const id = await made("--run", body.execution_id);
    await onServer("session", "set", id, "sum", "--set", "code=\"context['total'] = context['nett']\"");
    const wrong = await onServer("session", "check", id, "sum");
    expect([wrong.code, wrong.out]).toEqual([2, expect.stringMatching(/PY110 \$\.code line 1: .*nett/)]);
    const code = "context['total'] = int(context['net']) + context['vat']";
    await onServer("session", "set", id, "sum", "--set", `code=${JSON.stringify(code)}`);
    expect((await onServer("session", "check", id, "sum")).out).toBe("sum is valid");
    expect((await onServer("session", "run", id, "sum")).out).toMatch(/sum {3}\d {8}fresh {2}121/);
    expect((await onServer("session", "publish", id)).out).toBe("version 2 of bills is ready");
  });

  it("sets fields of the workflow if the user names no node", async () => {
    const id = await made();
    await onServer("session", "set", id, "--set", 'labels={"order":"{order}"}', "--set", "idle_seconds=60");
    await onServer("session", "set", id, "--set", "idle_seconds=null", "--set", "triggers=null");
    const { settings } = (await api.call(`GET /sessions/${id}`)).body;
    expect(settings).toEqual({ labels: { order: "{order}" }, triggers: [] });
  });

  it.each<[string, string[], RegExp]>([
    ["an unknown action", ["session", "frobnicate"], /cannot "frobnicate" - it can new, show/],
    ["a missing session", ["session", "show"], /needs a session/],
    ["a missing node", ["session", "set", "ses_x"], /needs a node/],
    ["a missing output", ["session", "edit", "ses_x", "a"], /needs --output/],
    ["an output that is not JSON", ["session", "edit", "ses_x", "a", "--output", "text"], /--output is not JSON/],
  ])("says what to do about %s", async (_what, argv, sentence) => {
    const { code, err } = await onServer(...argv);
    expect([code > 0, err]).toEqual([true, expect.stringMatching(sentence)]);
  });
});
