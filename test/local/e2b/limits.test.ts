import { RateLimitError, Sandbox, SandboxError } from "@e2b/code-interpreter";
import { beforeAll, describe, expect, test } from "vitest";
import { eventually, printed, useServer } from "./server.ts";

describe("of the plan", () => {
  const { connection, create } = useServer({ limits: { createsPerSecond: 4, concurrent: 3, lifetimeSeconds: 3600 } });

  test("answers 429 above the concurrent sandboxes, and not after one has gone", async () => {
    const [first] = [await create(), await create(), await create()];
    await expect(create({ retries: 0 })).rejects.toThrow(RateLimitError);
    await first?.kill();
    expect(await eventuallyCreated(create)).toBeInstanceOf(Sandbox);
  });

  test("answers 429 above the rate, with the seconds to wait, which the SDK then waits", async () => {
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

  test("cuts an extension down to what the plan leaves, and refuses more at the start", async () => {
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

describe.runIf(process.platform === "linux")("of a sandbox", () => {
  const { create } = useServer();
  let [sandbox, neighbour]: Sandbox[] = [];
  beforeAll(async () => {
    [sandbox, neighbour] = await Promise.all([create(), create()]);
  });

  async function expectBothAlive() {
    for (const one of [sandbox, neighbour] as Sandbox[]) expect((await one.runCode("'alive'")).text).toBe("alive");
  }

  test("ends a cell that takes 30 GB with a MemoryError", async () => {
    const { error } = await (sandbox as Sandbox).runCode(
      "taken = []\nwhile True: taken.append(bytearray(100_000_000))",
    );
    expect(error?.name).toBe("MemoryError");
    await (sandbox as Sandbox).runCode("del taken");
    await expectBothAlive();
  });

  test("ends the biggest process when all of them together take too much", async () => {
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

  test("counts memory once that a process shares with those it forked", async () => {
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

  test("stops a fork bomb at the sandbox's number of processes", async () => {
    const bomb = `
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600); os._exit(0)
        made += 1
except BlockingIOError:
    print(made < 128)`;
    const context = await (sandbox as Sandbox).createCodeContext();
    expect((await (sandbox as Sandbox).runCode(bomb, { context })).logs.stdout).toEqual(["True\n"]);
    await (sandbox as Sandbox).restartCodeContext(context);
    await expectBothAlive();
  });

  test("ends a bomb that hides behind many users", async () => {
    const bomb = `
import os, time
for user in range(2000, 2004):
    if os.fork() == 0:
        os.setuid(user)
        try:
            while os.fork(): pass
        except BlockingIOError: pass
        time.sleep(600); os._exit(0)`;
    const context = await (sandbox as Sandbox).createCodeContext();
    await (sandbox as Sandbox).runCode(bomb, { context });
    const count = "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))";
    await eventually(async () => Number(await printed(sandbox as Sandbox, count)) < 128);
    await expectBothAlive();
  });
});
