/**
 * Implements the handlers of Restate. Arguments: the folder of its SDK, the port, and the socket of
 * bench/walled_zygote.py.
 */
import { createRequire } from "node:module";
import { connect } from "node:net";
import { json } from "node:stream/consumers";

const [place, port, socket = ""] = process.argv.slice(2);
const restate = createRequire(`${place}/`)("@restatedev/restate-sdk");
const code = 'context["n"] = context.get("n", 0) + 1';

interface Context {
  run(name: string, step: () => Promise<unknown>): Promise<unknown>;
}

async function run(context: Context, { steps }: { steps: number }): Promise<unknown> {
  let state: unknown = {};
  for (let step = 1; step <= steps; step++) state = await context.run(`n${step}`, () => behindWalls(state));
  return state;
}

function behindWalls(context: unknown): Promise<unknown> {
  return json(connect(socket).end(`${JSON.stringify({ code, context })}\n`));
}

await restate.serve({ services: [restate.service({ name: "steps", handlers: { run } })], port: Number(port) });
console.log("serving");
