import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttributeValue, DeleteItemCommand, DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";
import { verifyProof } from "@nova/verify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { verifyInPython } from "../verify/support/python.ts";
import { useServer } from "./support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);
let folder: string;

async function ran(workflow: object, context: object = {}): Promise<string> {
  const { body: published } = await api.call("POST /workflows", { body: workflow });
  const { body } = await api.call(`POST /workflows/${published.id}/execute`, { body: { context } });
  await api.cloud.untilEnd(body.execution_id);
  return body.execution_id;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-proof-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("nova proof", { timeout: 60_000 }, () => {
  it("writes the proof file, and lists the runs that the proof covers and the runs that it only names", async () => {
    await api.call("POST /workflows", { body: inARow("inner", { work: "context['x'] = 1" }) });
    const call = { type: "workflow", workflow: "inner", output: { x: "x" } };
    const id = await ran(inARow("outer", { call, two: "if context.get('bad'): raise ValueError('bad')" }), {
      bad: true,
    });
    const restart = { body: { context_patch: { bad: false } } };
    const { body } = await api.call(`POST /executions/${id}/restart`, restart);
    await api.cloud.untilEnd(body.execution_id);
    const into = join(folder, "first.json");
    const [first, inside] = [
      await nova("proof", id, "--into", into),
      (await api.call(`GET /executions/${id}/chain`)).body,
    ];
    const child = inside.items[1].child.execution_id;
    const { size } = await stat(into);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out.split("\n")).toEqual([
      `${into} is the proof of ${id}, ${size} bytes`,
      expect.stringMatching(new RegExp(`^${id} is valid: 8 entries of 2 runs, signed at 20.*Z\\.$`)),
      `It contains the runs inside it: ${child}.`,
      "No root contains the run yet, so nothing outside dates it.",
      `${body.execution_id} restarts it, and is not part of this proof.`,
      "The next root is due within an hour; nova proof --now makes one first.",
    ]);
    const file = JSON.parse(await readFile(into, "utf8"));
    expect(file.runs.map(({ execution }: { execution: string }) => execution)).toEqual([id, child]);

    const second = await onServer("proof", body.execution_id, "--into", join(folder, "second.json"), "--json");
    expect(JSON.parse(second.out)).toMatchObject({
      state: "valid",
      execution: body.execution_id,
      level: "digests",
      entries: 9,
      covers: [body.execution_id, child],
      names: expect.arrayContaining([{ execution: id, relation: "reuses" }]),
      restarts: [],
      root: null,
      into: join(folder, "second.json"),
    });
  });

  it("names a reused run and its child run that no longer exist, and the verifiers in TypeScript and Python name the same runs", async () => {
    await api.call("POST /workflows", { body: inARow("inner", { work: "context['x'] = 1" }) });
    const call = { type: "workflow", workflow: "inner", output: { x: "x" } };
    const id = await ran(inARow("gone", { call, two: "if context.get('bad'): raise ValueError('bad')" }), {
      bad: true,
    });
    const { body } = await api.call(`POST /executions/${id}/restart`, { body: { context_patch: { bad: false } } });
    const { execution_id: again } = body;
    await api.cloud.untilEnd(again);
    const child = (await api.call(`GET /executions/${id}/chain`)).body.items[1].child.execution_id;
    for (const execution of [id, child]) await removeChain(execution);
    const into = join(folder, "gone.json");
    const proof = await nova("proof", again, "--into", into);
    expect(proof.code).toBe(0);
    for (const sentence of [
      `It restarts ${id}, which is not part of this proof.`,
      `It reuses outcomes of ${id}, which is not part of this proof.`,
      `An outcome that it reuses came from ${child}, which is not part of this proof.`,
    ])
      expect(proof.out.split("\n")).toContain(sentence);
    const file = await readFile(into);
    expect(JSON.parse(file.toString()).runs.map(({ execution }: { execution: string }) => execution)).toEqual([again]);
    const verdict = await verifyProof(file);
    expect(verdict).toMatchObject({ state: "valid", covers: [again] });
    expect(verdict.names).toContainEqual({ execution: child, relation: "child missing" });
    expect(await verifyInPython([{ file: into }])).toEqual([verdict]);
    const offline = await nova("verify", "--offline", into);
    expect([offline.code, offline.out]).toEqual([0, expect.stringContaining(child)]);
    const online = await nova("verify", again);
    expect([online.code, online.out]).toEqual([0, expect.stringContaining(`source gone: ${id}`)]);
    // A run that itself started the missing child run has a broken proof.
    const other = await ran(inARow("whole", { call }));
    await removeChain((await api.call(`GET /executions/${other}/chain`)).body.items[1].child.execution_id);
    const broken = await nova("proof", other, "--into", join(folder, "broken.json"));
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/ is broken: The run exec_\w+, which the entry started, is missing \(entry 1 of /);
  });

  /**
   * Deletes the chain of a run from the table. The table then looks like one that was restored from an older backup.
   */
  async function removeChain(execution: string): Promise<void> {
    const client = new DynamoDBClient();
    const TableName = api.cloud.environment.NOVA_TABLE;
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: `C#${execution}` } },
      }),
    );
    expect(Items).not.toEqual([]);
    for (const { pk, sk } of Items as Record<"pk" | "sk", AttributeValue>[])
      await client.send(new DeleteItemCommand({ TableName, Key: { pk, sk } }));
    client.destroy();
  }

  it("with --now makes a tree that contains the run before it writes the proof", async () => {
    const id = await ran(inARow("dated", { one: "pass" }));
    const into = join(folder, "dated.json");
    const made = await onServer("proof", id, "--into", into, "--now");
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toMatch(/^Root 1 of 20.*Z contains the run\.$/m);
    expect(made.out).not.toContain("--now");
    expect(JSON.parse(await readFile(into, "utf8")).inclusion).toEqual({
      index: expect.any(Number),
      path: expect.any(Array),
    });
  });

  it("without --into prints the proof file to stdout, and its sentences to stderr", async () => {
    const id = await ran(inARow("printed", { one: "context['a'] = 850.0" }));
    const shown = await nova("proof", id, "--contents", "all");
    const { contents, runs } = JSON.parse(shown.out);
    expect([contents, runs[0].execution]).toEqual(["all", id]);
    expect(JSON.parse(runs[0].scopes[0].entries[1].contents.context.text).inline).toEqual([["a", 1, "850.0"]]);
    expect(shown.err).toMatch(/^exec_\w+ is valid: 4 entries of its run, .*\n(.*\n)*3 contents are unchanged/);
  });

  it("overwrites a file only with --force, and leaves no file if the proof does not exist", async () => {
    const id = await ran(inARow("kept", { one: "pass" }));
    const into = join(folder, "kept.json");
    expect(await nova("proof", id, "--into", into)).toMatchObject({ code: 0 });
    expect(await nova("proof", id, "--into", into)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`"${into}" exists - name another file, or add --force`),
    });
    expect(await nova("proof", id, "--into", into, "--force", "--contents", "none")).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(into, "utf8")).contents).toBe("none");
    const missing = await nova("proof", `exec_${"0".repeat(26)}`, "--into", join(folder, "missing.json"));
    expect(missing.code).not.toBe(0);
    await expect(stat(join(folder, "missing.json"))).rejects.toThrow(/ENOENT/);
    expect(await nova("proof", id, "--contents", "some")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/digests/),
    });
  });

  it("downloads a large proof file from a separate address, on this machine and from a server", {
    tags: ["deep"],
  }, async () => {
    const code = "for i in range(6): context[f'text{i}'] = chr(97 + i) * 900_000";
    const id = await ran(inARow("large", { one: code }));
    for (const [name, run] of [
      ["here", nova],
      ["server", onServer],
    ] as const) {
      const into = join(folder, `${name}.json`);
      expect(await run("proof", id, "--into", into, "--contents", "all")).toMatchObject({ code: 0, err: "" });
      expect(Object.keys(JSON.parse(await readFile(into, "utf8")).blobs)).toHaveLength(6);
    }
  });
});
