import type { OutputMessage, Sandbox } from "@e2b/code-interpreter";
import { beforeAll, expect, test } from "vitest";
import { asRoot, eventually, exists, printed, useServer } from "./server.ts";

const { server, create } = useServer();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await create();
});

async function rawExecute(body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server().sandboxUrl}/execute`, {
    method: "POST",
    headers: { "e2b-sandbox-id": sandbox.sandboxId, "e2b-sandbox-port": "49999", "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

test.each([
  ["the value of the last expression", "x = 20\nx + 22", "42"],
  ["a text without its quotes", "'abc'", "abc"],
  ["no text for a statement", "y = 1", undefined],
  ["no text for None", "None", undefined],
])("the local code interpreter of E2B returns %s", async (_, code, text) => {
  const execution = await sandbox.runCode(code);
  expect(execution.error).toBeUndefined();
  expect(execution.text).toBe(text);
});

test("the response to a code cell starts with a line with the number of the cell, and ends with an end line", async () => {
  const context = await sandbox.createCodeContext();
  const lines = (await (await rawExecute({ code: "print('hello')\n1", context_id: context.id })).text())
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { type: "number_of_executions", execution_count: 1 },
    { type: "stdout", text: "hello\n", timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
    { type: "result", is_main_result: true, text: "1" },
    { type: "end_of_execution" },
  ]);
});

test("the output of print and the bytes written to a file descriptor are streamed while the code cell runs", async () => {
  const seen: string[] = [];
  const see = (message: OutputMessage) => void seen.push(message.line);
  const code = `
import os, sys, time
print("from print")
while not os.path.exists("/tmp/go-on"): time.sleep(0.01)
os.write(1, b"from write \\xc3\\xa4\\n")
print("to stderr", file=sys.stderr)`;
  const running = sandbox.runCode(code, { onStdout: see, onStderr: see });
  await eventually(() => seen.length === 1);
  await sandbox.files.write("/tmp/go-on", "", asRoot);
  const execution = await running;
  expect(seen).toEqual(["from print\n", "from write ä\n", "to stderr\n"]);
  expect(execution.logs).toEqual({ stdout: ["from print\n", "from write ä\n"], stderr: ["to stderr\n"] });
});

test.each([
  ["an exception", "def f():\n    return 1 / 0\nf()", "ZeroDivisionError", "division by zero", "return 1 / 0"],
  ["a syntax error", "x = = 1", "SyntaxError", "invalid syntax", "x = = 1"],
  ["sys.exit", "import sys\nsys.exit(3)", "SystemExit", "3", "sys.exit(3)"],
  ["an error that cannot be shown", "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", "E", "", ""],
  ["endless recursion", "def f(): f()\nf()", "RecursionError", "maximum recursion depth exceeded", ""],
])("%s in a code cell is returned as an error, and the next cell runs", async (_, code, name, value, shown) => {
  const { error } = await sandbox.runCode(code);
  expect(error).toMatchObject({
    name,
    value: expect.stringContaining(value),
    traceback: expect.stringContaining(shown),
  });
  expect((await sandbox.runCode("'alive'")).text).toBe("alive");
});

test("a Python process of a sandbox keeps its variables, and does not see the variables of another Python process", async () => {
  const context = await sandbox.createCodeContext();
  expect(context).toMatchObject({ language: "python", cwd: "/home/user" });
  await sandbox.runCode("mine = 1", { context });
  expect((await sandbox.runCode("import os\n(mine, os.getcwd(), __name__)", { context })).text).toBe(
    "(1, '/home/user', '__main__')",
  );
  expect((await sandbox.runCode("mine")).error?.name).toBe("NameError");
  await sandbox.removeCodeContext(context);
  await expect(sandbox.runCode("1", { context })).rejects.toThrow(`Context ${context.id} not found`);
  await expect(sandbox.listCodeContexts()).rejects.toThrow("has no GET /contexts");
});

test("a Python process of a sandbox runs its cells one by one, but several Python processes run cells at the same time", async () => {
  const context = await sandbox.createCodeContext();
  const slow = "import os, time\nwhile not os.path.exists('/tmp/released'): time.sleep(0.01)\norder.append('first')";
  await sandbox.runCode("order = []", { context });
  const first = sandbox.runCode(slow, { context });
  const second = sandbox.runCode("order.append('second'); order", { context });
  await sandbox.runCode("open('/tmp/released', 'w').close()");
  await first;
  expect((await second).text).toBe("['first', 'second']");
});

test("the environment variables of a code cell contain the id of its sandbox", async () => {
  expect((await sandbox.runCode("import os\nos.environ['E2B_SANDBOX_ID']")).text).toBe(sandbox.sandboxId);
});

test("a code cell is interrupted when its client disconnects, and the next cell runs", async () => {
  const context = await sandbox.createCodeContext();
  const leave = new AbortController();
  const code = "import time\nopen('/tmp/began', 'w').close()\ntime.sleep(600)";
  const left = rawExecute({ code, context_id: context.id }, leave.signal).then((response) => response.text());
  await eventually(() => exists(sandbox, "/tmp/began"));
  leave.abort();
  await expect(left).rejects.toThrow();
  expect((await sandbox.runCode("'free'", { context })).text).toBe("free");
});

test("the response to a code cell gets a keepalive line after five seconds without output", {
  tags: ["deep"],
  timeout: 20_000,
}, async () => {
  const lines = (await (await rawExecute({ code: "import time; time.sleep(5.5)" })).text()).split("\n");
  expect(lines.filter((line) => line === '{"type": "keepalive"}')).toHaveLength(1);
});

test.each([
  ["os._exit", "import os; os._exit(1)"],
  ["a segmentation fault", "import ctypes; ctypes.string_at(0)"],
  ["a killed kernel", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
])(
  "the Python process of a sandbox is restarted after %s, and the code cell gets an error that reports the restart",
  async (_, code) => {
    const context = await sandbox.createCodeContext();
    const execution = await sandbox.runCode(`print("before")\n${code}`, { context });
    expect(execution.logs.stdout).toEqual(["before\n"]);
    expect(execution.error).toMatchObject({ name: "ContextRestarting", value: "Context was restarted" });
    expect((await sandbox.runCode("'again'", { context })).text).toBe("again");
  },
);

test.each([
  ["closes stdout", "import sys; sys.stdout.close()"],
  ["closes its descriptors", "import os; os.close(1); os.close(2)"],
  ["redirects its descriptor", "import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1)"],
  ["deletes sys.stdout", "import sys; del sys.stdout"],
])("the Python process of a sandbox prints to stdout after a code cell that %s", async (_, code) => {
  const context = await sandbox.createCodeContext();
  await sandbox.runCode(code, { context });
  const { logs } = await sandbox.runCode("print('whole')", { context });
  expect(logs.stdout).toEqual(["whole\n"]);
});

test("the local E2B server forwards 200 MB of output without holding it in memory", { tags: ["deep"] }, async () => {
  const response = await rawExecute({ code: "for _ in range(200): print('x' * 1_000_000)" });
  const before = process.memoryUsage().rss;
  let [bytes, most] = [0, 0];
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  expect(bytes).toBeGreaterThan(200_000_000);
  expect(most).toBeLessThan(150_000_000);
});

test("a code cell is paused while its client does not read its output", async () => {
  const context = await sandbox.createCodeContext();
  const code = "import os\nfor i in range(100):\n    print('x' * 1_000_000)\n    open('/tmp/count', 'w').write(str(i))";
  const response = await rawExecute({ code, context_id: context.id });
  const count = async () =>
    Number((await exists(sandbox, "/tmp/count")) ? await sandbox.files.read("/tmp/count", asRoot) : 0);
  await eventually(async () => (await count()) > 0);
  expect(await count()).toBeLessThan(50);
  await response.body?.cancel();
});

test("a forked process of a code cell ends with the cell, so that it runs no further cells", async () => {
  const code = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('parent' if pid else 'child')\n'done'";
  const { logs, results } = await sandbox.runCode(code);
  expect(logs.stdout.join("")).toBe("child\nparent\n");
  expect(results.map(({ text }) => text)).toEqual(["done"]);
});

test("a detached process runs until its sandbox ends, even after its code cell has ended and its client has disconnected", async () => {
  const code = `
import os, time
if os.fork() == 0:
    os.setsid()
    while not os.path.exists("/tmp/client-left"): time.sleep(0.01)
    open("/tmp/detached", "w").write("lives")
    os._exit(0)`;
  await sandbox.runCode(code);
  await sandbox.files.write("/tmp/client-left", "", asRoot);
  await eventually(() => exists(sandbox, "/tmp/detached"));
  expect(await sandbox.files.read("/tmp/detached", asRoot)).toBe("lives");
});

test("the Python process that runs code cells has only one thread", async () => {
  expect(await printed(sandbox, "import os; print(len(os.listdir('/proc/self/task')))")).toBe("1");
});

test("the client's connection breaks if a sandbox dies during a code cell, so that the cell does not look finished", async () => {
  const doomed = await create();
  const running = doomed.runCode("import time\nprint('on')\ntime.sleep(600)", {
    onStdout: () => void server().kill(doomed.sandboxId),
  });
  await expect(running).rejects.toThrow("The sandbox was killed while the request was in progress");
});

test("a sandbox without public traffic refuses requests that lack its traffic token", async () => {
  const closed = await create({ network: { allowPublicTraffic: false } });
  expect((await closed.runCode("1")).text).toBe("1");
  const ask = (token?: string) =>
    fetch(`${server().sandboxUrl}/contexts`, {
      method: "POST",
      headers: {
        "e2b-sandbox-id": closed.sandboxId,
        "e2b-sandbox-port": "49999",
        ...(token ? { "e2b-traffic-access-token": token } : {}),
      },
    });
  expect([(await ask()).status, (await ask("wrong")).status]).toEqual([403, 403]);
  expect((await ask(closed.trafficAccessToken)).status).toBe(200);
});
