import { createHash, randomBytes } from "node:crypto";
import { FileNotFoundError, InvalidArgumentError, NotEnoughSpaceError, type Sandbox } from "@e2b/code-interpreter";
import { beforeAll, expect, test } from "vitest";
import { asRoot, exists, printed, useServer } from "./server.ts";

const { server, create } = useServer();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await create();
});

const stream = (parts: Uint8Array[]) => new Blob(parts as Uint8Array<ArrayBuffer>[]).stream();

test.each([
  ["text", "grüße\n", {}],
  ["no content", "", {}],
  ["text, as raw bytes", "raw", { useOctetStream: true }],
])("a file with %s in a sandbox is read with the content that was written", async (_, text, options) => {
  expect(await sandbox.files.write("/tmp/text", text, { ...asRoot, ...options })).toMatchObject({
    path: "/tmp/text",
    name: "text",
    type: "file",
  });
  expect(await sandbox.files.read("/tmp/text", asRoot)).toBe(text);
});

test.each([[{ useOctetStream: false }], [{ useOctetStream: true }]])(
  "a file in a sandbox may contain any bytes, even those that separate the parts of a form: %o",
  async (options) => {
    const bytes = Buffer.concat([randomBytes(300_000), Buffer.from("\r\n--x\r\n\r\n--\r\n--"), randomBytes(70_000)]);
    await sandbox.files.write("/tmp/bytes", new Blob([bytes]), { ...asRoot, ...options });
    expect(Buffer.from(await sandbox.files.read("/tmp/bytes", { ...asRoot, format: "bytes" })).equals(bytes)).toBe(
      true,
    );
  },
);

test("an upload of 50 MB to a sandbox and its download are never held in memory as a whole", async () => {
  const megabyte = randomBytes(1_000_000);
  let sent = 0;
  const source = new ReadableStream({
    pull(controller) {
      if (sent++ < 50) controller.enqueue(megabyte);
      else controller.close();
    },
  });
  await sandbox.files.write("/tmp/large", source, asRoot);
  const expected = createHash("sha256");
  for (let index = 0; index < 50; index++) expected.update(megabyte);
  const received = createHash("sha256");
  const body = await sandbox.files.read("/tmp/large", { ...asRoot, format: "stream" });
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) received.update(chunk);
  expect(received.digest("hex")).toBe(expected.digest("hex"));
  await sandbox.files.remove("/tmp/large", asRoot);
});

test("one upload to a sandbox writes several files, each to its own path", async () => {
  const files = [
    { path: "/tmp/many/a b.txt", data: "a" },
    { path: "/tmp/many/ä.txt", data: "b" },
  ];
  const written = await sandbox.files.write(files, asRoot);
  expect(written.map(({ path }) => path)).toEqual(["/tmp/many/a b.txt", "/tmp/many/ä.txt"]);
  expect(await sandbox.files.read("/tmp/many/ä.txt", asRoot)).toBe("b");
});

test("the file service of a sandbox refuses to change files without the user root, or at a relative path", async () => {
  await expect(sandbox.files.write("/tmp/x", "x")).rejects.toThrow("name the user root");
  await expect(sandbox.files.remove("/tmp/x", { user: "user" })).rejects.toThrow("name the user root");
  await expect(sandbox.files.write("own.txt", "x", asRoot)).rejects.toThrow("does not begin with /");
});

test.each([
  ["a file that does not exist", "/tmp/missing", FileNotFoundError, "/tmp/missing"],
  ["a folder", "/tmp", InvalidArgumentError, "is a directory"],
  ["a pipe, which would never end", "/tmp/pipe", InvalidArgumentError, "device, pipe or socket"],
])("the file service of a sandbox refuses to read %s", async (_, path, kind, message) => {
  await printed(sandbox, "import os\nif not os.path.exists('/tmp/pipe'): os.mkfifo('/tmp/pipe')");
  const reading = sandbox.files.read(path, asRoot);
  await expect(reading).rejects.toThrow(kind);
  await expect(reading).rejects.toThrow(message);
});

test("the file service of a sandbox refuses to overwrite a folder", async () => {
  await expect(sandbox.files.write("/home/user", "x", asRoot)).rejects.toThrow("Is a directory");
});

test.runIf(process.platform === "linux")(
  "the file service of a sandbox reports a full disk, and can still write to another disk",
  async () => {
    const command = "mkdir /small && mount -t tmpfs -o size=1m small /small";
    expect(await printed(sandbox, `import os; print(os.system("${command}"))`)).toBe("0");
    const writing = sandbox.files.write("/small/file", new Blob([new Uint8Array(8_000_000)]), asRoot);
    await expect(writing).rejects.toThrow(NotEnoughSpaceError);
    expect((await sandbox.files.write("/tmp/fits", "x", asRoot)).path).toBe("/tmp/fits");
  },
);

test("the file service of a sandbox removes a folder with its contents, and reports no error if the folder does not exist", async () => {
  await sandbox.files.write("/tmp/tree/inner/leaf", "12345", asRoot);
  for (const _ of ["there", "gone"]) {
    await sandbox.files.remove("/tmp/tree", asRoot);
    expect(await exists(sandbox, "/tmp/tree")).toBe(false);
  }
});

test("the file service of a sandbox refuses unknown calls", async () => {
  await expect(sandbox.commands.run("true")).rejects.toThrow("unimplemented");
  await expect(sandbox.files.list("/tmp", asRoot)).rejects.toThrow();
});

test("the file service of a sandbox refuses every call without its token, except the health check", async () => {
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

test("an interrupted upload to a sandbox ends, and the same file can be uploaded afterwards", async () => {
  const broken = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(1000));
      controller.error(new Error("the source failed"));
    },
  });
  await expect(sandbox.files.write("/tmp/partial", broken, asRoot)).rejects.toThrow();
  await sandbox.files.write("/tmp/partial", stream([Buffer.from("whole")]), asRoot);
  expect(await sandbox.files.read("/tmp/partial", asRoot)).toBe("whole");
});
