// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { faultOf } from "../../../packages/agents/src/failures/fault-of.ts";

const python = process.env.NOVA_PYTHON ?? "python3";
const harness = fileURLToPath(new URL("../../../packages/sandbox/python", import.meta.url));

/** The Python source of a process that runs code as the harness does, and prints the failure of the code. */
const around = `
import json, linecache, socket, sys, threading
sys.path.insert(0, ${JSON.stringify(harness)})
from nova_harness import outcomes

def port_that_refuses():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]

def port_that_says(*words):
    listener = socket.create_server(("127.0.0.1", 0))
    def serve():
        connection, _ = listener.accept()
        for word in words:
            connection.sendall(word)
            if not connection.recv(4096):
                break
        connection.close()
    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]

source = sys.stdin.read()
linecache.cache["nodes/work.py"] = (len(source), None, source.splitlines(True), "nodes/work.py")
try:
    exec(compile(source, "nodes/work.py", "exec"), {"context": {"host": "127.0.0.1"}, "__name__": "__main__",
        "refuses": port_that_refuses, "says": port_that_says})
except BaseException as error:
    print(json.dumps(outcomes.describe(error)))
`;

async function faultIn(code: string) {
  const running = promisify(execFile)(python, ["-c", around]);
  running.child.stdin?.end(code);
  const { stdout } = await running;
  const { message, traceback } = JSON.parse(stdout);
  const fault = await faultOf(
    { message, traceback, code },
    { names: async (host) => host === "127.0.0.1", has: () => true },
  );
  return { message, fault };
}

describe("a real Python error", () => {
  it.each<[string, string, RegExp, "world" | "code"]>([
    [
      "a closed port",
      "import socket\nsocket.create_connection((context['host'], refuses()))",
      /^ConnectionRefusedError/,
      "world",
    ],
    [
      "a closed port, by smtplib",
      "import smtplib\nsmtplib.SMTP(context['host'], refuses())",
      /^ConnectionRefusedError/,
      "world",
    ],
    [
      "a closed port, by imaplib",
      "import imaplib\nimaplib.IMAP4(context['host'], refuses())",
      /^ConnectionRefusedError/,
      "world",
    ],
    [
      "a closed port, by urllib",
      "from urllib.request import urlopen\nurlopen(f\"http://{context['host']}:{refuses()}/\")",
      /^URLError: <urlopen error \[Errno 111\]/,
      "world",
    ],
    [
      "an HTTP response 503",
      "from urllib.request import urlopen\n" +
        "port = says(b'HTTP/1.0 503 Down\\r\\n\\r\\n')\nurlopen(f\"http://{context['host']}:{port}/\")",
      /^HTTPError: HTTP Error 503/,
      "world",
    ],
    [
      "an HTTP response 404",
      "from urllib.request import urlopen\n" +
        "port = says(b'HTTP/1.0 404 No\\r\\n\\r\\n')\nurlopen(f\"http://{context['host']}:{port}/\")",
      /^HTTPError: HTTP Error 404/,
      "code",
    ],
    [
      "a login that imaplib reports as refused",
      "import imaplib\nport = says(b'* OK hi\\r\\n', b'* CAPABILITY IMAP4rev1\\r\\nXXXX0 OK\\r\\n')\n" +
        "imaplib.IMAP4.login = lambda *_: (_ for _ in ()).throw(imaplib.IMAP4.error(b'[AUTHENTICATIONFAILED] no'))\n" +
        "imaplib.IMAP4.login(None, 'user', context['host'])",
      /^error: b'\[AUTHENTICATIONFAILED\]/,
      "world",
    ],
    [
      "a login that smtplib reports as refused",
      "import smtplib\nport = says(b'220 hi\\r\\n', b'250-hi\\r\\n250 AUTH PLAIN\\r\\n', b'535 5.7.8 bad\\r\\n', b'250 ok\\r\\n')\n" +
        "smtplib.SMTP(context['host'], port).login('user', 'password')",
      /^SMTPAuthenticationError: \(535/,
      "world",
    ],
    [
      "a server that hangs up",
      "import smtplib\nport = says(b'220 hi\\r\\n')\nsmtplib.SMTP(context['host'], port).ehlo_or_helo_if_needed()",
      /^SMTPServerDisconnected/,
      "world",
    ],
    [
      "TLS to a port that does not speak TLS",
      "import ssl, socket\nport = says(b'220 plain text\\r\\n')\nraw = socket.create_connection((context['host'], port))\n" +
        "ssl.create_default_context().wrap_socket(raw, server_hostname='mail.example')",
      /^SSLError: \[SSL: /,
      "code",
    ],
    [
      "a server that is silent until a timeout",
      "import socket\nwith socket.create_server(('127.0.0.1', 0)) as quiet:\n" +
        "    socket.create_connection((context['host'], quiet.getsockname()[1])).settimeout(0.05)\n" +
        "    s = socket.create_connection((context['host'], quiet.getsockname()[1]), 0.05)\n    s.recv(1)",
      /^TimeoutError: timed out/,
      "world",
    ],
    [
      "a mistake in the code that handles a closed port",
      "import socket\ntry:\n    socket.create_connection((context['host'], refuses()))\nexcept OSError as error:\n    print(eror)",
      /^NameError/,
      "code",
    ],
    [
      "an error that the code raises in place of the error of a closed port",
      "import socket\ntry:\n    socket.create_connection((context['host'], refuses()))\n" +
        "except OSError:\n    raise RuntimeError('the mailbox cannot be read')",
      /^RuntimeError: the mailbox/,
      "world",
    ],
    [
      "a timeout that asyncio itself raises",
      "import asyncio\nasyncio.run(asyncio.wait_for(asyncio.sleep(9), 0.01))",
      /^TimeoutError/,
      "code",
    ],
  ])("is attributed correctly, to the code or to the service, for %s", async (_, code, message, fault) => {
    const found = await faultIn(code);
    expect(found.message).toMatch(message);
    expect(found.fault).toBe(fault);
  });
});
