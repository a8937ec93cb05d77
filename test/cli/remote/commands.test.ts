import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readLockFolder } from "../../../packages/cli/src/lock/folder.ts";
import { useApi } from "../../functions/api/support/api.ts";
import { asking } from "../../functions/api/support/flows.ts";
import { inARow } from "../../support/cloud.ts";
import { lockedOf, locking, promptOf } from "../lock/folders.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);
let folder: string;
/** The id of the run that the first test makes. */
let id: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-remote-"));
  const work = { work: 'context["sum"] = context["n"] + 1\nprint("added")' };
  await writeFile(join(folder, "add.json"), JSON.stringify(inARow("add", work)));
  await writeFile(join(folder, "asking.json"), JSON.stringify(asking));
  await writeFile(join(folder, "bytes"), "some bytes");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function file(name: string): string {
  return join(folder, name);
}

describe("if NOVA_URL names a server,", () => {
  it("a workflow is published and run, and every digit and byte arrives", async () => {
    const { out, code } = await onServer(
      "run",
      file("add.json"),
      "--json",
      "--set",
      "n=12345678901234567890",
      "--set",
      "x=850.0",
      "--file",
      `doc=${file("bytes")}`,
    );
    expect(code).toBe(0);
    ({ execution_id: id } = JSON.parse(out));
    expect(out).toContain('"n":12345678901234567890,"x":850.0,"doc":{"$blob":{"sha256":');
    expect(JSON.parse(out)).toMatchObject({
      workflow: "add",
      status: "completed",
      path: ["start", "work", "end"],
      error: null,
      stats: { nodes: 1, aws_calls: null, sandbox_calls: null, bytes_stored: null },
    });
  });

  it("nova run prints a run node by node", async () => {
    const { out } = await onServer("run", file("add.json"), "--set", "n=1");
    expect(out).toMatch(/✓ work[\s\S]*completed add version 1 in .*\n {2}start → work → end\n {2}n 1\n {2}sum 2\n/);
  });

  it("nova run can run one node of a workflow alone", async () => {
    const { out } = await onServer("run", file("add.json"), "--node", "work", "--set", "n=1", "--json");
    expect(JSON.parse(out)).toMatchObject({ workflow: "add-work", status: "completed", context: { sum: 2 } });
  });

  it("a run with invalid inputs or for an unknown client is refused in one sentence", async () => {
    const { code, err } = await onServer("run", file("add.json"), "--client", "nobody");
    expect([code, err]).toEqual([2, 'nova: there is no client "nobody" - `nova clients list` lists them\n']);
  });

  it.each<[string, () => string[]]>([
    ["trace", () => ["trace", id, "--json"]],
    ["full trace", () => ["trace", id, "--full", "--json"]],
    ["trace for people", () => ["trace", id]],
    ["verification", () => ["verify", id, "--json"]],
    ["list of executions", () => ["executions", "--workflow", "add", "--limit", "2", "--json"]],
    ["log", () => ["logs", id, "--json"]],
    ["log that is followed", () => ["logs", id, "--follow", "--node", "work"]],
    ["cancellation of an ended run", () => ["cancel", id, "--json"]],
    ["list of tasks", () => ["tasks", "--json"]],
    ["list of keys", () => ["keys", "list", "--json"]],
    ["validation", () => ["validate", file("add.json"), "--json"]],
    ["state machine", () => ["compile", file("add.json")]],
    ["publication", () => ["publish", file("add.json"), "--json"]],
    ["list of deliveries", () => ["deliveries", "--workflow", "add", "--json"]],
    ["audit log", () => ["audit", "--limit", "3", "--json"]],
    ["audit log for people", () => ["audit"]],
    ["report on workflows", () => ["analytics", "workflows", "--from", "2020-01-01", "--json"]],
    ["report on nodes for people", () => ["analytics", "nodes", "--workflow", "add"]],
    ["report on errors", () => ["analytics", "errors", "--client", "default", "--json"]],
    ["report on models", () => ["analytics", "ai-cost", "--to", "2020-01-01"]],
    ["limit of a workflow", () => ["quotas", "add", "--json"]],
    ["limit of a workflow for people", () => ["quotas", "workflow:add"]],
    ["event", () => ["emit", "--source", "shop", "--type", "Paid"]],
  ])("the %s is the same as on this machine", async (_what, argvFor) => {
    const argv = argvFor();
    const [there, here] = [await onServer(...argv), await nova(...argv)];
    expect(there).toEqual(here);
    expect(there).toMatchObject({ code: 0, err: "" });
    expect(there.out).not.toBe("");
  });

  it("nova compile prints the state machine of a workflow id", async () => {
    const { out } = await onServer("compile", "add");
    expect(JSON.parse(out)).toMatchObject({ StartAt: "start" });
  });

  it("an approval can be answered by the ids of its execution and its node", async () => {
    await onServer("publish", file("asking.json"));
    const { body } = await api.call("POST /workflows/asking/execute?wait=1", { body: {} });
    const { out, code } = await onServer("approve", body.execution_id, "--choice", "approved", "--as", "Ada", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { node: "ask", choice: "approved", by: "Ada", sent: true }]);
    const again = await onServer("approve", body.execution_id, "ask", "--choice", "approved");
    expect(again.err).toMatch(/"ask" was already answered by Ada at .*: approved/);
  });

  it("an API key can be made, allows what its role allows, and can be deleted", async () => {
    const made = JSON.parse((await onServer("keys", "create", "--role", "viewer", "--name", "Ada", "--json")).out);
    expect(made).toMatchObject({ role: "viewer", client_slug: null, name: "Ada" });
    expect(await api.call("GET /executions", { key: made.key })).toMatchObject({ status: 200 });
    expect((await onServer("keys", "delete", made.id)).out).toBe(`${made.id} is deleted`);
    expect(await api.call("GET /executions", { key: made.key })).toMatchObject({ status: 401 });
  });

  it("clients can be made, appear in runs and lists, and can be deleted", async () => {
    const made = await onServer("clients", "create", "ada-inc", "--name", "Ada Inc.", "--json");
    expect(JSON.parse(made.out)).toMatchObject({ slug: "ada-inc", name: "Ada Inc." });
    const { out } = await onServer("run", file("add.json"), "--client", "ada-inc", "--set", "n=1", "--json");
    const { client } = (await api.ports.executions.get(JSON.parse(out).execution_id)) ?? {};
    expect(client).toBe("ada-inc");
    const lists = [await onServer("clients", "list", "--json"), await nova("clients", "list", "--json")];
    expect(lists[0]).toEqual(lists[1]);
    api.ports.erasureQueue = { enqueue: async () => undefined };
    const deleting = await onServer("clients", "delete", "ada-inc");
    expect(deleting).toMatchObject({
      code: 0,
      out: expect.stringContaining("is erased within minutes"),
    });
    delete api.ports.erasureQueue;
    const deleted = await onServer("clients", "delete", "ada-inc");
    expect(deleted).toMatchObject({ code: 0, out: "client ada-inc is deleted, and its data is erased" });
  });

  it("an invalid client slug is refused with the same words as on this machine", async () => {
    const asked = ["clients", "create", "Acme Corp"];
    const answers = [await onServer(...asked), await nova(...asked)];
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ code: 2, out: "" });
    expect(answers[0]?.err).toMatch(/lower-case letters, digits and dashes.* - such as "acme-corp"\n$/);
  });

  it("quotas can be set one by one and removed, and the audit log names the user", async () => {
    await onServer("clients", "create", "limited");
    await nova("quotas", "limited", "--max-concurrent", "3", "--retention-days", "30");
    const { out } = await onServer("quotas", "limited", "--max-concurrent", "none", "--max-cost-usd", "2.5", "--json");
    const limits = { max_concurrent: null, max_cost_usd: 2.5, retention_days: 30 };
    expect(JSON.parse(out)).toEqual({ client: "limited", quotas: limits });
    expect((await nova("quotas", "limited")).out).toMatch(
      /client limited +limit\nmax concurrent +none\nmax cost usd +2.5/,
    );
    const { items } = JSON.parse((await nova("audit", "--limit", "2", "--json")).out);
    const deed = { action: "client.changed", client_slug: "limited" };
    expect(items).toMatchObject([deed, { ...deed, by: expect.stringMatching(/^user /) }]);
  });

  it.each([
    [["quotas", "add", "--retention-days", "3"], "--retention-days is a limit of a client, not of a workflow"],
    [["quotas", "add", "--max-concurrent", "0"], "--max-concurrent 0 is not a number above 0 - write one, or none"],
    [["quotas", "nothing"], 'there is no workflow or client "nothing" - nova clients list'],
    [["quotas", "client:add"], 'there is no client "add"'],
    [["analytics", "money"], 'there are no statistics "money" - use workflows, nodes, errors, ai-cost'],
    [["analytics", "nodes", "--from", "soon"], "from"],
    [["deliveries", "--status", "lost"], 'there is no status "lost" - use one of accepted, started'],
    [["audit", "--limit", "0"], "--limit 0 is not a whole number above 0"],
    [["event", "put", "--source", "nova", "--type", "x"], "source"],
    [["event", "put", "--source", "aws.s3", "--type", "x"], "source"],
    [["event", "put", "--source", "", "--type", "x"], "source"],
    [["event", "put", "--source", "s".repeat(300), "--type", "x"], "source"],
    [["event", "put", "--source", "shop", "--type", ""], "type"],
  ])("%j is refused with one sentence, as on this machine", async (argv, sentence) => {
    for (const ended of [await onServer(...argv), await nova(...argv)]) {
      expect(ended).toMatchObject({ code: 2, out: "", err: expect.stringContaining(sentence) });
    }
  });

  it("nova upgrade reads the counts of the stored formats part by part, and writes nothing", async () => {
    const { readable, formats } = JSON.parse((await onServer("upgrade", "--check", "--json")).out);
    expect(readable).toBe(true);
    expect(formats).toContainEqual({ entity: "execution", format: 1, items: expect.any(Number), state: "current" });
    const kinds = formats.map(({ entity, format }: { entity: string; format: number }) => `${entity} ${format}`);
    expect(new Set(kinds).size).toBe(kinds.length);
    const { code, err } = await onServer("import", folder);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/nova import cannot use a server: .* --aws, or unset NOVA_URL/),
    ]);
  });

  it("nova pull writes an execution to a folder, where it can run on this machine with its inputs", async () => {
    const { out } = await onServer("pull", id, "--into", file("pulled"), "--json");
    expect(JSON.parse(out)).toMatchObject({ workflow: "add", version: 1, secrets: [] });
    const context = await readFile(join(folder, "pulled/context.json"), "utf8");
    expect(context).toContain('"n": 12345678901234567890,');
    const local = await nova("run", file("pulled"), "--context", file("pulled/context.json"), "--json");
    expect(JSON.parse(local.out)).toMatchObject({ status: "completed", context: { doc: { $blob: { bytes: 10 } } } });
    const node = await nova("pull", id, "--node", "work", "--into", file("alone"), "--json");
    expect(JSON.parse(node.out).run).toMatch(/^nova run .*alone --local --node work --context .*alone\/context.json$/);
  });

  it.each([
    ["an invalid URL", { NOVA_URL: "here", NOVA_API_KEY: "x" }, 'NOVA_URL is "here", which is not a URL'],
    ["no key", { NOVA_URL: "http://127.0.0.1:1" }, "NOVA_URL names a server, but NOVA_API_KEY is not set"],
    ["a wrong key", { NOVA_URL: "", NOVA_API_KEY: "nova_wrong" }, "no valid API key came with the request"],
  ])("the message about %s names the environment variable to correct", async (_what, variables, sentence) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value || api.url);
    const { err, code } = await nova("executions");
    vi.unstubAllEnvs();
    expect(err).toContain(`nova: ${sentence}`);
    expect(code).toBe(2);
  });

  it("nova export ends with one sentence if the server refuses the export or does not answer", async () => {
    vi.stubEnv("NOVA_URL", api.url);
    vi.stubEnv("NOVA_API_KEY", await api.key("viewer"));
    const refused = await nova("export", file("refused"), "--client", "acme");
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/^nova: this needs the role admin/) });
    vi.stubEnv("NOVA_URL", "http://127.0.0.1:1");
    const lost = await nova("export", file("lost"), "--client", "acme");
    vi.unstubAllEnvs();
    expect(lost).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^nova: http:\/\/127.0.0.1:1 cannot be reached/),
    });
  });

  it("a run on this machine also gets the variables of its client from the server", async () => {
    await api.call("POST /clients", { body: { slug: "varied", name: "Varied" } });
    await api.call("PATCH /clients/varied", { body: { variables: { n: 41 } } });
    const { out } = await nova("run", file("add.json"), "--client", "varied", "--json");
    expect(JSON.parse(out)).toMatchObject({ status: "completed", context: { n: 41, sum: 42 } });
  });

  it("nova lock --prove runs the code on this machine, with inputs that the server has recorded", async () => {
    const node = { executor: "prompt", prompt: "Set sum to n and one more." };
    const place = join(folder, "proving");
    await mkdir(place);
    await writeFile(join(place, "workflow.json"), JSON.stringify(inARow("add", { work: node })));
    const lockable = await readLockFolder(place);
    const locked = { code: 'context["sum"] = context["n"] + 2' };
    await locking(lockable, { work: lockedOf(promptOf(lockable, "work"), locked) });
    const { code, out } = await onServer("lock", place, "--prove", "1", "--json");
    const differences = [{ key: "sum", recorded: expect.any(Number), now: expect.any(Number) }];
    expect([code, JSON.parse(out)]).toMatchObject([1, { nodes: [{ runs: [{ outcome: "differs", differences }] }] }]);
    const [{ recorded, now }] = JSON.parse(out).nodes[0].runs[0].differences;
    expect(now).toBe(recorded + 1);
  });
});
