import { createHash } from "node:crypto";
import type { RunningLog } from "@nova/engine";
import { z } from "zod";
import type { Connections } from "./connections.ts";
import { asRunError, isFileMissing, isGone, MalformedAnswer } from "./failures.ts";
import { parseAnswer } from "./messages.ts";
import { readBytes } from "./transfer.ts";

const count = z.int().nonnegative();
const Header = z.object({ step: count, attempt: count, size: count });
/** The harness keeps the last 64 KB, after a header. */
const maxBytes = (64 << 10) + 1024;

/**
 * Reads the log of running code; null if no code runs. `lifetimeSeconds` is how long the sandbox must live from now on.
 */
export async function readRunningLog(
  connections: Connections,
  { sandbox, link, lifetimeSeconds }: { sandbox: string; link: string; lifetimeSeconds: number },
  signal: AbortSignal,
): Promise<RunningLog | null> {
  try {
    const connected = await connections.get(sandbox, lifetimeSeconds);
    return logIn(await readBytes(connected, pathOf(link), maxBytes, signal));
  } catch (error) {
    if (isGone(error) || isFileMissing(error)) return null;
    connections.forget(sandbox); // the next reader asks the control plane
    throw asRunError(`the log in sandbox ${sandbox} cannot be read`, error);
  }
}

/** Path of the log while code of the link runs (store.py). */
function pathOf(link: string): string {
  return `claims/${createHash("sha256").update(link).digest("hex").slice(0, 40)}/log`;
}

function logIn(file: Buffer): RunningLog {
  const end = file.indexOf("\n");
  if (end < 0) throw new MalformedAnswer("a log has no header");
  return { ...parseAnswer(Header, file.toString("utf8", 0, end)), tail: file.subarray(end + 1) };
}
