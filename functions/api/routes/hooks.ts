import { receiveHook } from "@nova/service";
import { z } from "zod";
import { Unreadable } from "../http/errors.ts";
import { mostBytes, refuseLarge } from "../http/limits.ts";
import { openRoute } from "../http/route.ts";
import { Started, WholeExecution } from "../schemas/execution.ts";
import { resultOf } from "./execute.ts";

/** As of triggers: lower case, digits and dashes. */
const hookId = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const hook = openRoute({
  method: "POST",
  path: "/hooks/{id}",
  summary: "Start a run, as a webhook trigger says; whoever sends signs with the trigger's key",
  params: z.object({ id: z.string().regex(hookId) }),
  answers: {
    200: { description: "it ended in the time that the trigger waits", schema: WholeExecution },
    202: { description: "it runs; the same delivery again answers the same run", schema: Started },
  },
  async serve(ports, { params, headers, bytes, sourceIp }) {
    const { id = "" } = params;
    const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    const flaw = flawOf(headers["content-type"], bytes);
    const request = { id, headers: Object.fromEntries(given), body: bytes, from: sourceIp, ...(flaw && { flaw }) };
    const { execution, waitSeconds } = await receiveHook(ports, request);
    const record = await ports.executions.get(execution);
    return resultOf(ports, { id: execution, status: record?.status ?? "running" }, waitSeconds);
  },
});

/** Beyond what is taken. */
function flawOf(contentType = "", bytes: Buffer): Unreadable | undefined {
  if (bytes.length > mostBytes) return new Unreadable(413, tooLarge(bytes.length));
  if (!/json/i.test(contentType)) return undefined;
  try {
    refuseLarge(bytes.toString("utf8"));
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}

function tooLarge(bytes: number): string {
  return `the body has ${bytes} bytes, at most ${mostBytes} are taken - send less at once, or where it can be fetched`;
}
