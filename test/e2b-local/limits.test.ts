// @module-tag deep
import { RateLimitError, Sandbox, SandboxError } from "@e2b/code-interpreter";
import { beforeAll, describe, expect, test } from "vitest";
import { eventually, printed, useServer } from "./server.ts";

describe("the limits of an E2B plan", () => {
  const { connection, create } = useServer({ limits: { createsPerSecond: 4, concurrent: 3, lifetimeSeconds: 3600 } });

  test("refuse a further sandbox with 429 while the allowed number of sandboxes exists", async () => {
    const [first] = [await create(), await create(), await create()];
    await expect(create({ retries: 0 })).rejects.toThrow(RateLimitError);
    await first?.kill();
    expect(await eventuallyCreated(create)).toBeInstanceOf(Sandbox);
  });

  test("refuse further creations with 429 after the allowed number of creations in a second", async () => {
    for (const { sandboxId } of await Sandbox.list(connection()).nextItems())
      await Sandbox.kill(sandboxId, connection());
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, () => create({ retries: 0 }).then((sandbox) => sandbox.kill())),
    );
    const reasons = attempts.flatMap((attempt) => (attempt.status === "rejected" ? [attempt.reason] : []));
    expect(reasons.length).toBeGreaterThanOrEqual(4);
    for (const reason of reasons) expect(reason).toBeInstanceOf(RateLimitError);
    expect(await create()).toBeInstanceOf(Sandbox);
  });

  test("restrict an extended sandbox to the plan's longest lifetime, and refuse a new sandbox with a longer one", async () => {
    const sandbox = await create();
    await sandbox.setTimeout(24 * 3_600_000);
    const { startedAt, endAt } = await sandbox.getInfo();
    expect(endAt.getTime() - startedAt.getTime()).toBe(3_600_000);
    await expect(create({ timeoutMs: 7_200_000 })).rejects.toThrow("Timeout cannot be greater than 1 hours");
  });
});

async function eventuallyCreated(create: () => Promise<Sandbox>): Promise<Sandbox> {
  let made: Sandbox | undefined;
  await eventually(async () => {
    made = await create().catch((error) => {
      if (error instanceof SandboxError) return undefined;
      throw error;
    });
    return made !== undefined;
  });
  return made as Sandbox;
}

describe.runIf(process.platform === "linux")("the limits of a sandbox", () => {
  const { create } = useServer();
  let [sandbox, neighbour]: Sandbox[] = [];
  beforeAll(async () => {
    [sandbox, neighbour] = await Promise.all([create(), create()]);
  });

  async function expectBothAlive() {
    for (const one of [sandbox, neighbour] as Sandbox[]) expect((await one.runCode("'alive'")).text).toBe("alive");
  }

  test("end a code cell with a MemoryError if it takes too much memory", async () => {
    const { error } = await (sandbox as Sandbox).runCode(
      "taken = []\nwhile True: taken.append(bytearray(100_000_000))",
    );
    expect(error?.name).toBe("MemoryError");
    await (sandbox as Sandbox).runCode("del taken");
    await expectBothAlive();
  });

  test("end the largest process if all processes together take too much memory", async () => {
    const code = `
import os, signal
children = []
for _ in range(3):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            held = bytearray(os.urandom(1000) * 1_000_000)
            os.write(write, b".")
            signal.pause()
        finally:
            os._exit(0)
    children.append(pid)
ended = os.wait()
for pid in children:
    if pid != ended[0]: os.kill(pid, signal.SIGKILL)
print(os.waitstatus_to_exitcode(ended[1]))`;
    expect(await printed(sandbox as Sandbox, code)).toBe("-9");
    await expectBothAlive();
  });

  test("count the memory that a process shares with its forks only once", async () => {
    const code = `
import os, time
held = bytearray(os.urandom(1000) * 300_000)
children = []
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.5)
        os._exit(0)
    children.append(pid)
print({os.waitpid(pid, 0)[1] for pid in children})
del held`;
    expect(await printed(sandbox as Sandbox, code)).toBe("{0}");
  });

  test.each([
    ["ends with an error at the limit", "while True: os.fork()"],
    ["continues to try at the limit", "while True:\n    try: os.fork()\n    except BlockingIOError: pass"],
    [
      "runs as several users",
      "for user in range(2000, 2004):\n    if os.fork() == 0: os.setuid(user)\nwhile True: os.fork()",
    ],
  ])(
    "end a fork bomb that %s, but no other process or sandbox",
    async (_, bomb) => {
      expect(await surviveBomb(bomb)).toBe("alive");
      await expectBothAlive();
    },
    60_000,
  );

  test("end a fork bomb even if each of its processes has its own process group", async () => {
    const bomb = "while True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except BlockingIOError: pass";
    expect(await surviveBomb(bomb)).toEqual(expect.any(String));
    await expectBothAlive();
  }, 60_000);

  /**
   * Runs a fork bomb beside another process of the sandbox. When all processes of the bomb have ended, returns whether
   * the other process still lives.
   */
  async function surviveBomb(bomb: string) {
    const code = `
import os
bystander = os.fork()
if bystander == 0:
    import signal; signal.pause()
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    ${bomb.replaceAll("\n", "\n    ")}
os.close(write)
os.read(read, 1)
"alive" if os.waitpid(bystander, os.WNOHANG)[0] == 0 else "dead"`;
    const bombed = await create();
    const { text } = await bombed.runCode(code);
    await bombed.kill();
    return text;
  }
});
