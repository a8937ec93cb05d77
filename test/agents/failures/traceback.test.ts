import { describe, expect, it } from "vitest";
import { exceptionsOf } from "../../../packages/agents/src/failures/external-failures.ts";

const traceback = `Traceback (most recent call last):
  File "nodes/work.py", line 2, in <module>
    connect()
  File "/usr/lib/python3.11/socket.py", line 10, in connect
    raise err
    ^^^^^^^^^
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "nodes/work.py", line 4, in <module>
    raise errors.NoMail("no mail") from error
acme.errors.NoMail: no mail
for Acme
`;

describe("exceptionsOf", () => {
  it("reads a chain, the last exception first", () => {
    expect(exceptionsOf({ message: "NoMail: no mail\nfor Acme", traceback })).toEqual([
      {
        type: "acme.errors.NoMail",
        text: "no mail\nfor Acme",
        files: ["nodes/work.py"],
        line: 'raise errors.NoMail("no mail") from error',
        after: "cause",
      },
      {
        type: "ConnectionRefusedError",
        text: "[Errno 111] Connection refused",
        files: ["nodes/work.py", "/usr/lib/python3.11/socket.py"],
        line: "raise err",
        after: null,
      },
    ]);
  });

  it("reads a message of the code as a text without a type", () => {
    expect(exceptionsOf({ message: "no invoice found", traceback: "" })).toEqual([
      { type: "", text: "no invoice found", files: [], line: "", after: null },
    ]);
  });

  it("prefers the harness's line for the last exception", () => {
    const [last] = exceptionsOf({
      message: "KeyError: 'x'",
      traceback: "Traceback (most recent call last):\nOSError: no\n",
    });
    expect(last).toMatchObject({ type: "KeyError", text: "'x'" });
  });

  it("reads exceptions without a text", () => {
    const [last] = exceptionsOf({
      message: "TimeoutError",
      traceback: "Traceback (most recent call last):\nTimeoutError\n",
    });
    expect(last).toMatchObject({ type: "TimeoutError", text: "" });
  });
});
