import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { withLeaf } from "../support/forging/edits.ts";
import { type Item, RawTable } from "../support/forging/raw-table.ts";
import { useServer } from "./support/on-server.ts";

const api = useApi();
const { nova, startOnServer } = useServer(api);
let table: RawTable;

async function ran(workflow: string): Promise<string> {
  const { body } = await api.call(`POST /workflows/${workflow}/execute`, { body: { context: { n: 1 } } });
  await api.cloud.untilEnd(body.execution_id);
  return body.execution_id;
}

beforeAll(async () => {
  table = new RawTable();
  await api.call("POST /workflows", { body: inARow("checked", { one: 'context["a"] = 1', two: "print('said')" }) });
});

describe("nova verify", { timeout: 60_000 }, () => {
  let id: string;
  let items: Item[];
  const itemAt = (sk: string) => items.find((item) => item.sk?.S === sk) as Item;

  beforeAll(async () => {
    id = await ran("checked");
    items = await table.itemsOf(id);
  });

  const shown = async (changed: Item) => {
    try {
      await table.put([changed]);
      const [answer, { code, out }] = [await api.call(`GET /executions/${id}/verify`), await nova("verify", id)];
      return { status: answer.status, state: answer.body.state, problem: answer.body.problem, code, out };
    } finally {
      await table.put([itemAt(changed.sk?.S ?? "")]);
    }
  };
  const link1 = "L##0000000001#1";

  it.each<[string, string, number, string[], Item[string] | undefined]>([
    ["a record of another format", "E", 0, ["format"], { N: "2" }],
    ["a record with a text as its format", "E", 0, ["format"], { S: "1" }],
    ["a record without a client", "E", 0, ["client"], undefined],
    ["a record with a text as its version", "E", 0, ["version"], { S: "1" }],
    ["a record of an unknown status", "E", 0, ["status"], { S: "done" }],
    ["a record of another kind", "E", 0, ["__edb_e__"], { S: "client" }],
    ["an entry of another format", link1, 1, ["format"], { N: "2" }],
    ["an entry whose head is not JSON", link1, 1, ["head"], { S: "{" }],
    ["an entry whose head is a number", link1, 1, ["head"], { N: "1" }],
    ["an entry without a hash", link1, 1, ["hash"], undefined],
    ["an entry whose contents are a list", link1, 1, ["contents"], { L: [] }],
    ["an entry whose context is a number", link1, 1, ["contents", "context", "text"], { N: "1" }],
    [
      "an entry whose context names a blob without a hash",
      link1,
      1,
      ["contents", "context"],
      { M: { blob: { M: {} } } },
    ],
  ])("reports %s as broken, as the API does", async (_, sk, seq, path, value) => {
    const { status, state, problem, code, out } = await shown(withLeaf(itemAt(sk), path, value));
    const isMark = path[0] === "__edb_e__";
    expect({ status, state, seq: problem?.seq, code }).toEqual(
      isMark ? { status: 200, state: "anchored", code: 0 } : { status: 200, state: "broken", seq, code: 1 },
    );
    if (!isMark) expect(out).toContain(`entry ${seq}: `);
  });

  it("prints one sentence for a run whose record cannot be read", async () => {
    try {
      await table.put([withLeaf(itemAt("E"), ["version"], { S: "1" })]);
      const { status, body } = await api.call(`GET /executions/${id}`);
      expect([status, body.detail]).toEqual([409, expect.stringMatching(/version.*nova verify/)]);
      const list = await api.call("GET /executions?workflow=checked");
      expect(list.status).toBe(200);
      expect((await api.call(`GET /executions/exec_${"0".repeat(26)}/verify`)).status).toBe(404);
    } finally {
      await table.put([itemAt("E")]);
    }
  });
});

describe("nova verify of many runs", { timeout: 60_000 }, () => {
  it("checks every run, lists the runs with a broken chain, and fails if a chain is broken", async () => {
    await api.call("POST /workflows", { body: inARow("second", { one: 'context["b"] = 2' }) });
    const [good, changed, unreadable] = [await ran("second"), await ran("second"), await ran("second")];
    const all = JSON.parse((await nova("verify", "--all", "--json")).out);
    expect(all).toEqual({ runs: all.anchored, anchored: expect.any(Number), open: 0, broken: 0, items: [] });
    const of = async (workflow: string) => JSON.parse((await nova("verify", "--workflow", workflow, "--json")).out);
    expect(await of("second")).toMatchObject({ runs: 3, anchored: 3 });
    const recordOf = async (id: string) => (await table.itemsOf(id)).find(({ pk }) => pk?.S === `E#${id}`) as Item;
    await table.put([withLeaf(await recordOf(changed), ["nodes"], { N: "7" })]);
    await table.put([withLeaf(await recordOf(unreadable), ["client"], { N: "7" })]);
    const { code, out } = await nova("verify", "--workflow", "second");
    expect(code).toBe(1);
    expect(out).toContain(`broken ${changed} entry`);
    expect(out).toContain(`broken ${unreadable} entry 0: the record of the run cannot be read`);
    expect(out).not.toContain(good);
    expect(out).toMatch(/3 runs: 1 anchored, 0 open, 2 broken/);
    expect((await nova("verify", "--workflow", "checked")).code).toBe(0);
    const { runs, items } = JSON.parse((await nova("verify", "--all", "--json")).out);
    expect(runs).toBe(all.runs);
    expect(items.map((one: { execution_id: string }) => one.execution_id).sort()).toEqual([changed, unreadable].sort());
  });

  describe("on a terminal", () => {
    const isTTY = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
    beforeAll(() => void Object.defineProperty(process.stderr, "isTTY", { value: true, configurable: true }));
    afterAll(() => {
      if (isTTY) Object.defineProperty(process.stderr, "isTTY", isTTY);
      else Reflect.deleteProperty(process.stderr, "isTTY");
    });

    it("shows its progress in a line on standard error, and removes this line at the end", async () => {
      const { out, err } = await nova("verify", "--all");
      expect(out).toMatch(/^broken [^\r]*\d+ runs: \d+ anchored, 0 open, 2 broken$/s);
      const lines = err.split("\r\u001b[K");
      expect(lines.find((line) => line !== "")).toMatch(/^(\[[#-]{24}\] )?\d+ (of \d+ )?runs, \d+\/s, [012] broken$/);
      expect([lines[0], lines.at(-1)]).toEqual(["", ""]);
    });

    it("reports after an interrupt how many runs it has checked", async () => {
      const { terminal, ended } = startOnServer("verify", "--workflow", "checked");
      let written = "";
      Object.defineProperty(terminal, "stderr", {
        get: () => written,
        set(text: string) {
          if (written === "" && text !== "") process.emit("SIGINT");
          written = text;
        },
      });
      expect(await ended).toMatchObject({ code: 130, out: "1 run until the interrupt: 1 anchored, 0 open, 0 broken" });
    });
  });

  it("shows no line on standard error if standard error is no terminal", async () => {
    expect((await nova("verify", "--all")).err).toBe("");
  });

  it("fails for an unknown workflow, which would select no runs", async () => {
    const sentence = 'there is no workflow "secnd" - nova versions lists them';
    for (const option of [[], ["--json"]])
      expect(await nova("verify", "--workflow", "secnd", ...option)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining(sentence),
      });
  });

  it("is refused if no run is selected, or if both one run and all runs are selected", async () => {
    for (const args of [["verify"], ["verify", `exec_${"0".repeat(26)}`, "--all"]])
      expect(await nova(...args)).toMatchObject({ code: 2, err: expect.stringMatching(/name one, or add|leave out/) });
  });
});
