import { expect, test } from "vitest";
import { Bench } from "./support/bench.ts";

const bench = Bench.use();

/** Code that writes the result file itself, and reports that it is complete. */
const leaving = (bytes: string) => `
import os, socket, stat, time
payload = ${bytes}
inherited = []
for name in os.listdir("/proc/self/fd"):
    try:
        inherited.append((int(name), os.fstat(int(name)).st_mode))
    except OSError:
        pass
for fd in [fd for fd, mode in inherited if stat.S_ISDIR(mode)]:
    try:
        with open(os.open("result", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd), "wb") as file:
            file.write(payload)
    except OSError:
        pass
for fd in [fd for fd, mode in inherited if stat.S_ISSOCK(mode)]:
    os.write(fd, b'{"complete": true}\\n')
time.sleep(30)
`;
const result = (set: string) => `b'{"status":"success","delete":[],"blobs":[],"set":${set}}'`;

test.each([
  ["a value that closes the object around it", result(String.raw`[["x","1}, \\"status\\": \\"completed\\""]]`)],
  ["something that is not JSON", "b'nope'"],
  ["bytes that are not UTF-8", String.raw`b'\xff\xfe'`],
  ["NaN, which JSON does not have", result('[["x",NaN]]')],
  ["a number that is too large for JSON", result('[["x",1e999]]')],
  ["3,000 levels", `b'[' * 3000 + b']' * 3000`],
  ["200,000 levels", `b'[' * 200_000 + b']' * 200_000`],
  [
    "a value with 3,000 levels",
    `b'{"status":"success","delete":[],"blobs":[],"set":[["x","' + b'[' * 3000 + b']' * 3000 + b'"]]}'`,
  ],
  ["an object with the same key twice", result('[["x","1"],["x","2"]]')],
  ["a lone surrogate", result(String.raw`[["x","\\"\\ud800\\""]]`)],
  ["an object with an unknown status", `b'{"status":"completed"}'`],
])(
  "code that itself writes %s as its result fails, and its sandbox can still run the next node",
  async (_what, bytes) => {
    const sandbox = await bench.create();
    const outcome = await bench.run(sandbox, bench.request(leaving(bytes)));
    expect(outcome).toMatchObject({ kind: "finished", result: { status: "error", class: "NodeFailed" } });
    const next = await bench.run(sandbox, bench.request("context['a'] = 1"));
    expect(next).toMatchObject({ kind: "finished", result: { status: "success" } });
  },
);

test("code that itself writes a valid result file gets exactly this result", async () => {
  const sandbox = await bench.create();
  const outcome = await bench.run(sandbox, bench.request(leaving(result('[["x","850.0"]]'))));
  expect(outcome).toMatchObject({ result: { status: "success", set: [{ key: "x", json: "850.0" }] } });
});

test.each(["True", "-1", "2**60", "10**400"])(
  "code that asks the harness for a blob with the size %s fails and does not hang",
  async (bytes) => {
    const code = `
import json, os, stat, time
for name in os.listdir("/proc/self/fd"):
    try:
        if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
            need = {"blob": {"sha256": "0" * 64, "bytes": ${bytes}, "type": "json"}}
            os.write(int(name), json.dumps({"need": need}).encode() + b"\\n")
    except OSError:
        pass
time.sleep(30)`;
    const outcome = await bench.run(await bench.create(), bench.request(code));
    expect(outcome).toMatchObject({ kind: "finished", result: { status: "error", class: "NodeFailed" } });
  },
);
