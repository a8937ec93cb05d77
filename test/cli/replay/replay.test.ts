import { eraseExecution } from "@nova/service";
import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";
import { lockedOf, locking, makeFolder, promptOf, sum } from "../lock/folders.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);

async function run(definition: object, context = "{}"): Promise<string> {
  const { body } = await api.call("POST /workflows", { body: definition });
  const started = await api.call(`POST /workflows/${body.id}/execute?wait=25`, { body: `{"context": ${context}}` });
  expect(started.status).toBe(200);
  return started.body.execution_id;
}

async function replay(...args: string[]) {
  const { code, out, err } = await nova("replay", ...args, "--json");
  return { code, err, ...(out === "" ? {} : JSON.parse(out)) };
}

const same = { code: 0, err: "", same: true, differs: [] };
const oneDiffers = (...differs: object[]) => ({ code: 1, err: "", same: false, differs });

const ways = {
  id: "ways",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "sum",
      type: "action",
      code: "import os\ncontext['total'] = sum(context['list'])\ncontext['key'] = [os.environ['NOVA_IDEMPOTENCY_KEY'], os.environ['NOVA_RESTART_KEY']]\ncontext['big'] = 'x' * 9000",
    },
    {
      id: "judge",
      type: "decision",
      code: "import os\ncontext['visit'] = os.environ['NOVA_RESTART_KEY']\ncontext['n'] = context.get('n', 0) + 1\ncontext['branch_decision'] = context['n'] < 3",
    },
    {
      id: "each",
      type: "map",
      items: "list",
      as: "item",
      into: "all",
      nodes: [
        {
          id: "square",
          type: "action",
          code: "import os\ncontext['at'] = os.environ['NOVA_RESTART_KEY']\ncontext['x'] = [context['item'] ** 2, len(context['big']), outputs['sum']['total']]",
        },
      ],
      edges: [],
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "sum" },
    { from: "sum", to: "judge" },
    { from: "judge", to: "judge", condition: true, max: 5 },
    { from: "judge", to: "each", condition: false },
    { from: "each", to: "end" },
  ],
};

describe("nova replay", { timeout: 60_000 }, () => {
  it("finds equal outcomes in runs with loops, map items, large values, outputs of nodes and environment variables", async () => {
    const id = await run(ways, '{"list": [1, 2.50]}');
    expect(await replay(id)).toEqual(same);
    expect((await nova("replay", id)).out).toBe(
      "the same: the recorded outcome in 6 runs of code\nfrom the record, without code: each",
    );
    for (const [node, count] of [
      ["judge#2", "1 run"],
      ["judge", "1 run"],
      ["each[1].square", "1 run"],
      ["square", "2 runs"],
    ])
      expect((await nova("replay", id, "--node", node as string)).out).toBe(
        `the same: the recorded outcome in ${count} of code`,
      );
  });

  it("reports different outcomes key by key, and exits with 1", async () => {
    const random = "import random\ncontext['a'] = 2\ncontext['b'] = random.random()";
    const id = await run(inARow("dice", { one: "context['a'] = 1.50", two: random }));
    const b = { place: "two", key: "b", was: expect.any(Number), is: expect.any(Number) };
    expect(await replay(id)).toEqual(oneDiffers(b));
    const { out } = await nova("replay", id);
    expect(out).toMatch(/^two\n {4}b\n {6}- 0\.\d+\n {6}\+ 0\.\d+\ndiffers: 1 of 2 runs of code$/);
    expect(await replay(id, "--node", "one")).toEqual(same);
  });

  it("compares failures by their class and message", async () => {
    const fails = await run(inARow("fails", { one: "raise ValueError(f\"no {context['x']}\")" }), '{"x": 1}');
    expect(await replay(fails)).toEqual(same);
    const again = await run(inARow("again", { one: "import time\nraise ValueError(f'at {time.time()}')" }));
    const told = { class: "NodeFailed", message: expect.stringMatching(/at \d+/) };
    expect(await replay(again)).toEqual(oneDiffers({ place: "one", key: "error", was: told, is: told }));
    const slow = await run(inARow("slow", { one: { code: "import time\ntime.sleep(30)", timeout: 1 } }));
    expect(await replay(slow)).toEqual(same);
  });

  it.each<[string, object[]]>([
    ["no edge has the value that it sets", [{ from: "judge", to: "end", condition: "a" }]],
    [
      "the edge has reached its limit of visits",
      [
        { from: "judge", to: "judge", condition: "b", max: 1 },
        { from: "judge", to: "end", condition: "a" },
      ],
    ],
  ])("finds that a decision fails as in the recorded run because %s", async (_, edges) => {
    const judge = { id: "judge", type: "decision", code: "context['branch_decision'] = 'b'" };
    const nodes = [{ id: "start", type: "start" }, judge, { id: "end", type: "end" }];
    const id = await run({ id: "lost", nodes, edges: [{ from: "start", to: "judge" }, ...edges] });
    expect(await replay(id)).toEqual(same);
  });

  it("gives the code no network and no secrets", async () => {
    const code = `import urllib.request\ncontext['got'] = urllib.request.urlopen('${api.url}/health', timeout=5).status`;
    const id = await run(inARow("calls", { one: code }));
    const { differs } = await replay(id);
    expect(differs).toMatchObject([{ key: "error", is: { message: expect.stringContaining("network.allow") } }]);
    const inputs = { type: "object", properties: { password: { type: "string", secret: true } } };
    const secret = await run(
      inARow("secret", { one: "context['n'] = len(context['password'])" }, { inputs }),
      '{"password": "hunter2"}',
    );
    const { out, code: exit } = await nova("replay", secret);
    expect([exit, out]).toEqual([1, expect.stringMatching(/^one \(without password\)\n/)]);
    expect(out).not.toContain("hunter2");
  });

  it("keeps the recorded outcomes of reused nodes, and of nodes with effects unless the user names them", async () => {
    const id = await run(
      inARow("effects", {
        one: { code: "import random\ncontext['a'] = random.random()", effects: true },
        two: "context['b'] = 1 / context['zero']",
      }),
      '{"zero": 0}',
    );
    expect((await nova("replay", id)).out).toBe(
      'the same: the recorded outcome in 1 run of code\nfrom the record, which have "effects": true: one',
    );
    expect((await replay(id, "--node", "one")).differs).toHaveLength(1);
    const { execution_id } = JSON.parse((await nova("restart", id, "--json")).out);
    expect((await nova("replay", execution_id)).out).toContain(`from the record, reused from ${id}: one`);
  });

  it("runs the nodes of a child execution only if the user names them", async () => {
    await run(inARow("inner", { send: "context['sent'] = 1" }));
    const id = await run(
      inARow("outer", { billing: { type: "workflow", workflow: "inner", output: { sent: "sent" } } }),
    );
    expect((await nova("replay", id)).out).toBe(
      "the same: the recorded outcome in 0 runs of code\nfrom the record, without code: billing",
    );
    expect((await nova("replay", id, "--node", "billing/send")).out).toMatch(
      /^the same: the recorded outcome in 1 run /,
    );
  });

  it("runs code that models wrote for prompt nodes", async () => {
    const folder = await makeFolder({ sum });
    const code = "import random\ncontext['total'] = sum(context['lines'])\ncontext['r'] = random.random()";
    await locking(folder, { sum: lockedOf(promptOf(folder), { code }) });
    const { out } = await nova("run", folder.folder, "--frozen", "--set", "lines=[1,2]", "--json");
    const { execution_id } = JSON.parse(out);
    expect((await replay(execution_id)).differs).toMatchObject([{ place: "sum", key: "r" }]);
  });
});

describe("nova replay of a run on a server", { timeout: 60_000 }, () => {
  let id: string;
  beforeAll(async () => {
    id = await run(inARow("there", { one: "context['big'] = 'x' * 9000", two: "context['n'] = len(context['big'])" }));
  });

  it("runs the recorded code of the server on this machine", async () => {
    const { code, out } = await onServer("replay", id, "--json");
    expect([code, JSON.parse(out)]).toEqual([0, { same: true, differs: [] }]);
  });

  it("refuses an unknown execution in one sentence", async () => {
    const unknown = `exec_${"0".repeat(26)}`;
    const nobody = `nova: there is no execution "${unknown}" - \`nova executions\` lists them\n`;
    expect(await replay(unknown)).toEqual({ code: 2, err: nobody });
    const stranger = `nova: node "three" has not run in ${id} - these have: one, two\n`;
    expect(await replay(id, "--node", "three")).toEqual({ code: 2, err: stranger });
  });

  it("names the nodes whose contents were erased", async () => {
    const record = await api.ports.executions.get(id);
    if (!record) throw new Error("it is there");
    await eraseExecution(api.ports, record);
    const gone = `nova: the contents of one, two in ${id} were erased: their code cannot run again - nova trace ${id} shows the rest\n`;
    expect(await replay(id)).toEqual({ code: 2, err: gone });
    const { err, code } = await nova("diff", id, id);
    expect([code, err]).toEqual([
      2,
      `nova: the contents of execution ${id} were erased - nova trace ${id} shows what is left\n`,
    ]);
  });
});
