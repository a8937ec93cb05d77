import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);
let folder: string;
let id: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-remote-"));
  await writeFile(file("add.json"), JSON.stringify(inARow("add", { work: 'context["sum"] = context["n"] + 1' })));
});

beforeAll(async () => {
  id = JSON.parse((await onServer("run", file("add.json"), "--set", "n=1", "--json")).out).execution_id;
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function file(name: string): string {
  return join(folder, name);
}

it("nova pull suggests a command that does not change the server if the run used an old version", async () => {
  const flow = file("renewed.json");
  await writeFile(flow, JSON.stringify(inARow("renewed", { work: 'context["of"] = "then"' })));
  const { execution_id } = JSON.parse((await onServer("run", flow, "--json")).out);
  await writeFile(flow, JSON.stringify(inARow("renewed", { work: 'context["of"] = "now"' })));
  await onServer("publish", flow);
  const { out } = await onServer("pull", execution_id, "--into", file("it's of then"));
  const printed = out.split("\n").at(-1)?.trim() ?? "";
  const argv = execFileSync("sh", ["-c", `printf '%s\\0' ${printed}`], { encoding: "utf8" })
    .split("\0")
    .slice(1, -1);
  expect(argv).toEqual(["run", file("it's of then"), "--local", "--context", file("it's of then/context.json")]);
  const asked = vi.spyOn(globalThis, "fetch");
  expect((await onServer(...argv)).out).toContain('of "then"');
  const hosts = asked.mock.calls.map(([url]) => new URL(url instanceof Request ? url.url : url).origin);
  asked.mockRestore();
  expect(hosts).not.toContain(new URL(api.url).origin);
});

it("nova run prints the id of a run as soon as the server has accepted the run, so that the user knows it if the connection breaks", async () => {
  const through = globalThis.fetch;
  let isTaken = false;
  const breaking = vi.spyOn(globalThis, "fetch").mockImplementation(async (...asked) => {
    if (isTaken) return new Response("{}", { status: 404, headers: { "content-type": "application/problem+json" } });
    const answer = await through(...asked);
    isTaken = String(asked[0] instanceof Request ? asked[0].url : asked[0]).includes("/execute");
    return answer;
  });
  const { code, err } = await onServer("run", file("add.json"), "--set", "n=1");
  breaking.mockRestore();
  expect([code, err]).toEqual([2, expect.stringMatching(/^exec_\w+ is accepted\s*nova: /)]);
  const { status } = await api.call(`GET /executions/${err.match(/exec_\w+/)?.[0]}`);
  expect(status).toBe(200);
});

it("nova logs for a node that has not run names the nodes that have run, on a server and on this machine", async () => {
  for (const ended of [await onServer("logs", id, "--node", "nope"), await nova("logs", id, "--node", "nope")])
    expect(ended).toEqual({
      code: 2,
      out: "",
      err: `nova: node "nope" has not run in ${id} - these have: start, work, end\n`,
    });
});

it("nova event put on this machine starts the workflows with a matching trigger, with every digit", async () => {
  const triggers = [{ type: "event", pattern: { source: ["shop"], "detail-type": ["Paid"] } }];
  await writeFile(file("paid.json"), JSON.stringify(inARow("paid", { work: "context['seen'] = True" }, { triggers })));
  await nova("publish", file("paid.json"));
  const put = [
    "event",
    "put",
    "--source",
    "shop",
    "--type",
    "Paid",
    "--detail",
    '{"n":12345678901234567890}',
    "--json",
  ];
  const { code, out } = await nova(...put);
  expect([code, JSON.parse(out)]).toEqual([0, { event_id: expect.any(String) }]);
  await vi.waitFor(async () => {
    const { items } = JSON.parse((await nova("executions", "--workflow", "paid", "--json")).out);
    const { out: trace } = await nova("trace", items[0].execution_id, "--full", "--json");
    expect(trace).toContain("12345678901234567890");
  });
});

it.each([
  ["export", () => ["export", "/dev/null/x", "--client", "acme"]],
  ["pull", () => ["pull", id, "--into", "/dev/null/x"]],
])("the command nova %s ends with one sentence if its folder cannot be made", async (_what, argv) => {
  const { code, err } = await nova(...argv());
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/"\/dev\/null\/x" cannot be made a folder \(ENOTDIR\) - name a/),
  ]);
});

it("a refused nova export leaves no folder, so the user can repeat the command with the same folder", async () => {
  const refused = await onServer("export", file("again"), "--client", "nobody");
  expect([refused.code, existsSync(file("again"))]).toEqual([2, false]);
  await onServer("clients", "create", "exported");
  expect((await onServer("export", file("again"), "--client", "exported")).out).toContain("again holds ");
});

it.each([
  ["table", { NOVA_TABLE: "wrong" }, /^nova: there is no table "wrong" in .* in NOVA_TABLE/],
  ["bucket", { NOVA_BUCKET: "wrong" }, /^nova: there is no bucket "wrong" - .* in NOVA_BUCKET/],
])(
  "nova export of a deployment with an unknown %s names the environment variable to correct",
  async (_what, wrong, sentence) => {
    const { NOVA_TABLE, NOVA_BUCKET }: NodeJS.ProcessEnv = { ...api.cloud.environment, ...wrong };
    vi.stubEnv("NOVA_TABLE", NOVA_TABLE);
    vi.stubEnv("NOVA_BUCKET", NOVA_BUCKET);
    const { code, err } = await nova("export", file("nothing"), "--aws");
    expect([code, err, existsSync(file("nothing"))]).toEqual([2, expect.stringMatching(sentence), false]);
  },
);
