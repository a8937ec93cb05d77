import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@e2b/code-interpreter";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asRoot, exists, printed, useServer } from "./server.ts";

const data = mkdtempSync(join(tmpdir(), "nova-data-"));
writeFileSync(join(data, "secret"), "the project's data");
const site = join(data, "site");
mkdirSync(join(site, "shipped"), { recursive: true });
writeFileSync(join(site, "shipped", "__init__.py"), "answer = 42\n");
const forTemplate = join(data, "for-template");
mkdirSync(forTemplate);
writeFileSync(join(forTemplate, "extra_module.py"), "here = True\n");
afterAll(() => rmSync(data, { recursive: true }));

const { server, create } = useServer({
  sitePackages: [site, join(data, "not-there")],
  templates: (id) => (id === "nova" ? [] : [forTemplate]),
});
let [one, other]: Sandbox[] = [];
beforeAll(async () => {
  [one, other] = await Promise.all([create(), create()]);
});
const sandbox = () => one as Sandbox;

test("a sandbox imports packages from the shared folders, and packages of a template only if the sandbox has that template", async () => {
  const code =
    "import shipped\ntry:\n    import extra_module\n    print(shipped.answer, True)\nexcept ImportError:\n    print(shipped.answer, False)";
  expect(await printed(sandbox(), code)).toBe("42 False");
  const { Sandbox } = await import("@e2b/code-interpreter");
  const { apiUrl, sandboxUrl } = server();
  const special = await Sandbox.create("special", { apiKey: "e2b_test", apiUrl, sandboxUrl });
  expect(await printed(special, code)).toBe("42 True");
});

describe.runIf(process.platform === "linux")("a local E2B server with bubblewrap", () => {
  test("reports that its sandboxes are isolated", () => {
    expect(server().isolated).toBe(true);
  });

  test.each([
    ["the project's data", data],
    ["the project", process.cwd()],
    ["the home folder of the user", join(homedir(), ".")],
  ])("hides %s from its sandboxes", async (_, path) => {
    const code = `import os\nprint(sorted(os.listdir(${JSON.stringify(path)})) if os.path.exists(${JSON.stringify(path)}) else "hidden")`;
    expect(["hidden", "[]"]).toContain(await printed(sandbox(), code));
  });

  test("shows a sandbox no process of the host or of another sandbox", async () => {
    const processes = "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))";
    expect(Number(await printed(sandbox(), processes))).toBeLessThan(10);
    await (other as Sandbox).runCode("import os\nif os.fork() == 0:\n    os.setsid(); import time; time.sleep(600)");
    const commands =
      "import glob\nprint([open(f).read() for f in glob.glob('/proc/[0-9]*/cmdline') if 'node' in open(f).read()])";
    expect(await printed(sandbox(), commands)).toBe("[]");
  });

  test("gives each sandbox its own files", async () => {
    for (const path of ["/tmp/mine", "/home/user/mine", "/root/mine", "/var/lib/mine", "/dev/shm/mine", "/mine"]) {
      await sandbox().files.write(path, "private", asRoot);
      expect(await exists(other as Sandbox, path)).toBe(false);
    }
  });

  test.each([
    ["lift a read-only mount", "mount -o remount,rw,bind /usr"],
    ["write to the system", "touch /usr/bin/x"],
    ["write to the packages", "touch /opt/nova/x"],
    ["see the files under a mount", "umount /usr"],
    ["create and read a device", "mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk"],
    ["set a program that the host's kernel runs", "echo '|/tmp/x' > /proc/sys/kernel/core_pattern"],
    ["signal the agent", "kill -9 1; kill -STOP 1; cat /proc/1/environ"],
    ["open the agent's descriptors", "cat /proc/1/fd/0"],
  ])("does not let the user root in a sandbox %s", async (_, command) => {
    const code = `import subprocess\nprint(subprocess.run(["/bin/bash", "-c", ${JSON.stringify(command)}]).returncode)`;
    expect(Number(await printed(sandbox(), code))).not.toBe(0);
    expect((await sandbox().runCode("'alive'")).text).toBe("alive");
  });

  test("leaves no file descriptor of the server open in the Python process of a sandbox", async () => {
    const code =
      "import os\nprint(sorted({os.readlink(f'/proc/self/fd/{fd}').split(':')[0] for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}')}))";
    expect(await printed(sandbox(), code)).not.toContain("nova-e2b");
  });

  test("lets a code cell start child processes that are isolated by their own pids, their own mounts and another user", async () => {
    const code = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
read, write = os.pipe()
if os.fork() == 0:
    try:
        check(libc.unshare(0x00020000 | 0x20000000))
        if os.fork() == 0:
            try:
                check(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=64m"))
                check(libc.mount(b"tmpfs", b"/home/user", b"tmpfs", 0, None))
                check(libc.mount(b"proc", b"/proc", b"proc", 14, None))
                os.setgroups([]); os.setgid(65534); os.setuid(65534)
                import json, shipped
                os.write(write, f"{os.getpid()} {os.getuid()} {os.listdir('/tmp')} {shipped.answer}".encode())
            except BaseException as error:
                os.write(write, repr(error).encode())
            os._exit(0)
        os.wait()
    except BaseException as error:
        os.write(write, repr(error).encode())
    os._exit(0)
os.close(write)
print(os.read(read, 1000).decode())`;
    await sandbox().files.write("/tmp/outside", "", asRoot);
    const ids = await printed(sandbox(), "print(open('/proc/self/uid_map').read().split()[2])");
    if (ids === "1") expect(await printed(sandbox(), code)).toContain("Operation not permitted");
    else expect(await printed(sandbox(), code)).toBe("1 65534 [] 42");
  });

  test("gives a sandbox the machine's network, unless the client forbids the network", async () => {
    const interfaces = "import socket; print(sorted(name for _, name in socket.if_nameindex()))";
    const closed = await create({ allowInternetAccess: false });
    expect(await printed(closed, interfaces)).toBe("['lo']");
    const answers = `
import socket
listener = socket.create_server(("127.0.0.1", 0))
socket.create_connection(listener.getsockname())
print("loopback works")`;
    expect(await printed(closed, answers)).toBe("loopback works");
    const { port } = new URL(server().apiUrl);
    const reach = `import socket\ntry:\n    socket.create_connection(("127.0.0.1", ${port})); print("reached")\nexcept OSError: print("refused")`;
    expect([await printed(sandbox(), reach), await printed(closed, reach)]).toEqual(["reached", "refused"]);
  });
});
