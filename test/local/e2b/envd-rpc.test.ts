import { CommandExitError, InvalidArgumentError, type Sandbox } from "@e2b/code-interpreter";
import { beforeAll, expect, test } from "vitest";
import { eventually, useServer } from "./server.ts";

const { create } = useServer();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await create({ envs: { FROM_CREATE: "1" } });
});

test("runs a command and returns both outputs", async () => {
  const result = await sandbox.commands.run("echo out; echo err >&2");
  expect(result).toMatchObject({ exitCode: 0, stdout: "out\n", stderr: "err\n" });
});

test("fails with what the command said when it fails", async () => {
  const failing = sandbox.commands.run("echo why >&2; exit 3");
  await expect(failing).rejects.toThrow(CommandExitError);
  await expect(failing).rejects.toMatchObject({ exitCode: 3, stderr: "why\n", result: { error: "exit status 3" } });
});

test.each([
  ["user", {}, "user /home/user /home/user 1"],
  ["root", { user: "root" as const }, "root /root /root 1"],
])("runs as %s, at home, with the sandbox's environment", async (_, options, expected) => {
  const { stdout } = await sandbox.commands.run("echo $USER $HOME $(pwd) $FROM_CREATE", options);
  expect(stdout.trim()).toBe(expected);
});

test("sets folder and variables for one command", async () => {
  const { stdout } = await sandbox.commands.run("echo $(pwd) $MORE", { cwd: "/tmp", envs: { MORE: "2" } });
  expect(stdout).toBe("/tmp 2\n");
  await expect(sandbox.commands.run("true", { cwd: "/missing" })).rejects.toThrow(InvalidArgumentError);
});

test("offers the same Python to commands as to cells", async () => {
  const code = "import sys; print(sys.version)";
  const { stdout } = await sandbox.commands.run(`python3 -c '${code}'`);
  expect((await sandbox.runCode(code)).logs.stdout.join("")).toBe(stdout);
});

test("talks to a command in the background, lists it and ends it", async () => {
  const heard: string[] = [];
  const command = await sandbox.commands.run("cat", {
    background: true,
    stdin: true,
    onStdout: (text) => void heard.push(text),
  });
  expect((await sandbox.commands.list()).map(({ pid }) => pid)).toContain(command.pid);
  await sandbox.commands.sendStdin(command.pid, "hello\n");
  await eventually(() => heard.join("") === "hello\n");
  expect(await command.kill()).toBe(true);
  await expect(command.wait()).rejects.toMatchObject({ exitCode: -1, result: { error: "signal: killed" } });
  expect(await sandbox.commands.kill(command.pid)).toBe(false);
});

test("ends a command's input", async () => {
  const command = await sandbox.commands.run("wc -c", { background: true, stdin: true });
  await command.sendStdin("12345");
  await command.closeStdin();
  expect((await command.wait()).stdout.trim()).toBe("5");
});

test("lets a command go on without its client, and another one listen", async () => {
  const code = "until [ -e /tmp/heard ]; do sleep 0.01; done; echo late";
  const command = await sandbox.commands.run(code, { background: true });
  await command.disconnect();
  const again = await sandbox.commands.connect(command.pid);
  await sandbox.files.write("/tmp/heard", "");
  expect((await again.wait()).stdout).toBe("late\n");
});

test("kills a command that takes longer than it may", async () => {
  await expect(sandbox.commands.run("echo $$ > /tmp/pid; sleep 600", { timeoutMs: 300 })).rejects.toThrow("timeoutMs");
  const pid = (await sandbox.files.read("/tmp/pid")).trim();
  await eventually(() => sandbox.files.exists(`/proc/${pid}`).then((exists) => !exists));
});

test("passes large output on", async () => {
  const { stdout } = await sandbox.commands.run("head -c 5000000 /dev/zero | tr '\\0' x");
  expect(stdout.length).toBe(5_000_000);
});

test("says what it does not have", async () => {
  await expect(sandbox.pty.create({ cols: 80, rows: 24, onData: () => undefined })).rejects.toThrow("has no terminals");
  await expect(sandbox.files.watchDir("/tmp", () => undefined)).rejects.toThrow();
});
