import { createHash, randomBytes } from "node:crypto";
import {
  FileNotFoundError,
  FileType,
  InvalidArgumentError,
  NotEnoughSpaceError,
  type Sandbox,
} from "@e2b/code-interpreter";
import { beforeAll, expect, test } from "vitest";
import { printed, useServer } from "./server.ts";

const { server, create } = useServer();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await create();
});

/** An ordinary user has only one id to give to a sandbox: everything in it belongs to its root. */
const manyUsers = process.getuid?.() === 0;

const stream = (parts: Uint8Array[]) => new Blob(parts as Uint8Array<ArrayBuffer>[]).stream();

test.each([
  ["text", "grüße\n", {}],
  ["nothing", "", {}],
  ["text, compressed", "zipped ".repeat(10_000), { gzip: true }],
  ["text, as raw bytes", "raw", { useOctetStream: true }],
])("reads back %s as it was written", async (_, text, options) => {
  expect(await sandbox.files.write("/tmp/text", text, options)).toMatchObject({
    path: "/tmp/text",
    name: "text",
    type: "file",
  });
  expect(await sandbox.files.read("/tmp/text")).toBe(text);
});

test.each([[{ useOctetStream: false }], [{ useOctetStream: true }]])(
  "carries any bytes, boundaries of forms among them: %o",
  async (options) => {
    const bytes = Buffer.concat([randomBytes(300_000), Buffer.from("\r\n--x\r\n\r\n--\r\n--"), randomBytes(70_000)]);
    await sandbox.files.write("/tmp/bytes", new Blob([bytes]), options);
    expect(Buffer.from(await sandbox.files.read("/tmp/bytes", { format: "bytes" })).equals(bytes)).toBe(true);
  },
);

test("streams 50 MB in both directions without holding them", async () => {
  const megabyte = randomBytes(1_000_000);
  let sent = 0;
  const source = new ReadableStream({
    pull(controller) {
      if (sent++ < 50) controller.enqueue(megabyte);
      else controller.close();
    },
  });
  await sandbox.files.write("/tmp/large", source);
  const expected = createHash("sha256");
  for (let index = 0; index < 50; index++) expected.update(megabyte);
  const received = createHash("sha256");
  const body = await sandbox.files.read("/tmp/large", { format: "stream" });
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) received.update(chunk);
  expect(received.digest("hex")).toBe(expected.digest("hex"));
  await sandbox.files.remove("/tmp/large");
});

test("writes several files at once, each to its own path", async () => {
  const written = await sandbox.files.write([
    { path: "/tmp/many/a b.txt", data: "a" },
    { path: "/tmp/many/ä.txt", data: "b" },
  ]);
  expect(written.map(({ path }) => path)).toEqual(["/tmp/many/a b.txt", "/tmp/many/ä.txt"]);
  expect(await sandbox.files.read("/tmp/many/ä.txt")).toBe("b");
});

test.each([
  ["user", {}, "own.txt", "/home/user/own.txt", "1000 1000"],
  ["user", {}, "~/own.txt", "/home/user/own.txt", "1000 1000"],
  ["root", { user: "root" as const }, "own.txt", "/root/own.txt", "0 0"],
  ["user", {}, "/data/new/own.txt", "/data/new/own.txt", "1000 1000"],
])("puts a file of %s where relative paths begin, and gives it to them", async (_, options, given, path, ids) => {
  expect((await sandbox.files.write(given, "mine", options)).path).toBe(path);
  if (!manyUsers) return;
  expect(await printed(sandbox, `import os; s = os.stat(${JSON.stringify(path)}); print(s.st_uid, s.st_gid)`)).toBe(
    ids,
  );
});

test.each([
  ["a file that does not exist", "/tmp/missing", FileNotFoundError, "path '/tmp/missing' does not exist"],
  ["a folder", "/tmp", InvalidArgumentError, "path '/tmp' is a directory"],
  ["a pipe, which would never end", "/tmp/pipe", InvalidArgumentError, "is a device, pipe or socket"],
])("refuses to read %s", async (_, path, kind, message) => {
  await printed(sandbox, "import os\nif not os.path.exists('/tmp/pipe'): os.mkfifo('/tmp/pipe')");
  const reading = sandbox.files.read(path);
  await expect(reading).rejects.toThrow(kind);
  await expect(reading).rejects.toThrow(message);
});

test("refuses to write over a folder, and for an unknown user", async () => {
  await expect(sandbox.files.write("/home/user", "x")).rejects.toThrow("path is a directory");
  await expect(sandbox.files.write("/tmp/x", "x", { user: "mallory" as "user" })).rejects.toThrow("mallory");
});

test.runIf(process.platform === "linux")("says that a disk is full, and serves on", async () => {
  await sandbox.commands.run("mkdir /small && mount -t tmpfs -o size=1m small /small", { user: "root" });
  const writing = sandbox.files.write("/small/file", new Blob([new Uint8Array(8_000_000)]));
  await expect(writing).rejects.toThrow(NotEnoughSpaceError);
  expect((await sandbox.files.write("/tmp/fits", "x")).path).toBe("/tmp/fits");
});

test("describes, lists, makes, moves and removes", async () => {
  const { files } = sandbox;
  expect(await files.makeDir("/tmp/tree/inner")).toBe(true);
  expect(await files.makeDir("/tmp/tree/inner")).toBe(false);
  await files.write("/tmp/tree/inner/leaf", "12345");
  await printed(sandbox, "import os; os.symlink('/tmp/tree/inner/leaf', '/tmp/tree/link')");

  expect(await files.getInfo("/tmp/tree/inner/leaf")).toMatchObject({
    ...{
      name: "leaf",
      type: FileType.FILE,
      path: "/tmp/tree/inner/leaf",
      size: 5,
      mode: 0o644,
      owner: manyUsers ? "user" : "root",
    },
    permissions: "-rw-r--r--",
    modifiedTime: expect.any(Date),
  });
  expect((await files.list("/tmp/tree")).map(({ name, type }) => [name, type])).toEqual([
    ["inner", FileType.DIR],
    ["link", FileType.FILE],
  ]);
  expect((await files.list("/tmp/tree", { depth: 2 })).map(({ path }) => path)).toContain("/tmp/tree/inner/leaf");

  expect((await files.rename("/tmp/tree/inner", "/tmp/tree/moved")).path).toBe("/tmp/tree/moved");
  expect([await files.exists("/tmp/tree/inner"), await files.exists("/tmp/tree/moved/leaf")]).toEqual([false, true]);
  await files.remove("/tmp/tree");
  expect(await files.exists("/tmp/tree")).toBe(false);
  await files.remove("/tmp/tree");
});

test.each([
  ["list", () => sandbox.files.list("/tmp/none")],
  ["getInfo", () => sandbox.files.getInfo("/tmp/none")],
  ["rename", () => sandbox.files.rename("/tmp/none", "/tmp/other")],
])("says that a path is not found: %s", async (_, call) => {
  await expect(call()).rejects.toThrow(FileNotFoundError);
});

test("wants envd's token for everything but its health", async () => {
  const ask = (path: string) =>
    fetch(`${server().sandboxUrl}${path}`, {
      headers: { "e2b-sandbox-id": sandbox.sandboxId, "e2b-sandbox-port": "49983" },
    });
  expect((await ask("/health")).status).toBe(204);
  const refused = await ask("/files?path=/etc/passwd");
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { code: 401, message: expect.stringContaining("token") },
  ]);
});

test("takes an upload that breaks off as over", async () => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(1000));
      controller.error(new Error("the source failed"));
    },
  });
  await expect(sandbox.files.write("/tmp/partial", broken)).rejects.toThrow();
  await sandbox.files.write("/tmp/partial", stream([Buffer.from("whole")]));
  expect(await sandbox.files.read("/tmp/partial")).toBe("whole");
});
