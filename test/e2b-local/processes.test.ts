import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../../packages/e2b-local/src/python", import.meta.url));

/** Runs Python code that can import our modules, and returns its output. */
function python(code: string): string {
  const start = `import sys; sys.path.insert(0, ${JSON.stringify(source)})\n${code}`;
  return execFileSync("python3", ["-B", "-c", start], { encoding: "utf8" }).trim();
}

test.each([
  ["a fork that has written to few pages", { anonymous: 500, faulted: 20, inherited: 500 }, 20],
  ["a fork that has written to all it inherited", { anonymous: 500, faulted: 900, inherited: 500 }, 500],
  ["a fork that has grown, by huge pages and so with few faults", { anonymous: 800, faulted: 20, inherited: 500 }, 300],
  ["a program of its own", { anonymous: 30, faulted: 60, inherited: 500 }, 30],
])(
  "the memory watchdog of a sandbox counts only the unshared memory of %s",
  (_, { anonymous, faulted, inherited }, own) => {
    const process = `processes.Process(1, 0, 1, 0, ${anonymous}, ${faulted})`;
    const code = `from nova_sandboxd import processes\nprint(processes.own_bytes(${process}, ${inherited}))`;
    expect(python(code)).toBe(String(own));
  },
);

test("the search for the descendants of a process finds all of them, including adopted orphans of a detached child", () => {
  const code = `
import os, signal
from nova_sandboxd import linux, processes
if sys.platform == "linux": linux.adopt_orphans()
read, write = os.pipe()
child = os.fork()
if child == 0:
    grandchild = os.fork()
    if grandchild == 0:
        os.setsid()
        os.write(write, b".")
        signal.pause()
    os._exit(0) if sys.platform == "linux" else signal.pause()
os.read(read, 1)
if sys.platform == "linux": os.waitpid(child, 0)
found = processes.descendants(os.getpid())
print(len(found))
processes.signal_all(lambda: processes.descendants(os.getpid()), signal.SIGKILL)
while True:
    try: os.wait()
    except ChildProcessError: break
print(len(processes.descendants(os.getpid())))`;
  expect(python(code).split("\n")).toEqual([process.platform === "linux" ? "1" : "2", "0"]);
});

test("the event loop of a sandbox's agent ignores an event of a descriptor that an earlier callback has closed", () => {
  const code = `
import os
from nova_sandboxd.loop import Loop
loop, called = Loop(), []
pipes = [os.pipe() for _ in range(2)]
def take(mine, other):
    called.append(mine)
    loop.watch(other)
    os.close(other)
    loop.watch(mine)
    loop.later(0.01, end)
def end():
    print(len(called), flush=True)
    os._exit(0)
(a, wa), (b, wb) = pipes
os.write(wa, b"."); os.write(wb, b".")
loop.watch(a, lambda: take(a, b))
loop.watch(b, lambda: take(b, a))
loop.run()`;
  expect(python(code)).toBe("1");
});

test.runIf(process.platform === "linux")(
  "the compacted memory of a zygote has fewer mappings, none of which is both writable and executable",
  () => {
    const code = `
import decimal, ssl, sqlite3
from nova_sandboxd import mappings
before = len(mappings.read_mappings())
mappings.compact()
after = mappings.read_mappings()
print(len(after) < before)
print([mapping for mapping in after if "w" in mapping.rights and "x" in mapping.rights])
print(decimal.Decimal("0.1") + 1, sqlite3.connect(":memory:").execute("select 1").fetchone())`;
    expect(python(code).split("\n")).toEqual(["True", "[]", "1.1 (1,)"]);
  },
);
