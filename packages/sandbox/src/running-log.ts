import { createHash } from "node:crypto";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunningLog } from "@nova/engine";
import { z } from "zod";
import type { Connections } from "./connections.ts";
import { asRunError, isFileMissing, isGone, MalformedAnswer } from "./failures.ts";
import { parseAnswer } from "./messages.ts";
import { readStream } from "./transfer.ts";

const count = z.int().nonnegative();
const Header = z.object({ step: count, attempt: count, size: count });
/** The harness keeps the last 64 KB, behind a header. */
const mostBytes = (64 << 10) + 1024;

/** See `Sandboxes`. `lifetimeSeconds`: that the sandbox must live from now on. */
export async function readRunningLog(
  connections: Connections,
  { sandbox, link, lifetimeSeconds }: { sandbox: string; link: string; lifetimeSeconds: number },
  signal: AbortSignal,
): Promise<RunningLog | null> {
  try {
    const file = await contentOf(await connections.get(sandbox, lifetimeSeconds), pathOf(link), signal);
    return file && logIn(file);
  } catch (error) {
    if (isGone(error)) return null;
    connections.forget(sandbox); // the next reader asks the control plane
    throw asRunError(`the log in sandbox ${sandbox} cannot be read`, error);
  }
}

/** Where the harness keeps it while code of the link runs (store.py). */
function pathOf(link: string): string {
  return `claims/${createHash("sha256").update(link).digest("hex").slice(0, 40)}/log`;
}

function logIn(file: Buffer): RunningLog {
  const end = file.indexOf("\n");
  if (end < 0) throw new MalformedAnswer("a log has no header");
  return { ...parseAnswer(Header, file.toString("utf8", 0, end)), tail: file.subarray(end + 1) };
}

async function contentOf(sandbox: E2bSandbox, path: string, signal: AbortSignal): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let read = 0;
  try {
    for await (const part of await readStream(sandbox, path, signal)) {
      read += part.byteLength;
      if (read > mostBytes) throw new MalformedAnswer("a log is longer than any");
      parts.push(part);
    }
  } catch (error) {
    if (isFileMissing(error)) return null;
    throw error;
  }
  return Buffer.concat(parts);
}
