import { AsyncLocalStorage } from "node:async_hooks";
import { format } from "node:util";

type Stream = "stdout" | "stderr";

/**
 * Finds the terminal of the command whose code is running. Several commands run in this process at the same time, and
 * each of them has a separate terminal.
 */
const speaking = new AsyncLocalStorage<Terminal>();
const signals = ["SIGINT", "SIGTERM"] as const;

let open = 0;
let giveBack: () => void = () => undefined;

/** Gets the output of a command. */
export class Terminal {
  stdout = "";
  stderr = "";

  async run<T>(command: () => Promise<T>): Promise<T> {
    if (open++ === 0) giveBack = takeProcess();
    try {
      return await speaking.run(this, command);
    } finally {
      if (--open === 0) giveBack();
    }
  }
}

/**
 * Redirects the output of this process. Returns a function that ends the redirection and removes the signal listeners
 * of the commands.
 */
function takeProcess(): () => void {
  const { log, error } = console;
  const [out, err] = [process.stdout.write, process.stderr.write];
  const listeners = signals.map((signal) => process.listeners(signal));
  console.log = (...values) => hear("stdout", `${format(...values)}\n`) || log(...values);
  console.error = (...values) => hear("stderr", `${format(...values)}\n`) || error(...values);
  process.stdout.write = writeTo("stdout", out.bind(process.stdout));
  process.stderr.write = writeTo("stderr", err.bind(process.stderr));
  return () => {
    Object.assign(console, { log, error });
    [process.stdout.write, process.stderr.write] = [out, err];
    for (const [index, signal] of signals.entries()) {
      const added = process.listeners(signal).filter((listener) => !listeners[index]?.includes(listener));
      for (const listener of added) process.off(signal, listener);
    }
  };
}

function hear(stream: Stream, text: string): boolean {
  const terminal = speaking.getStore();
  if (terminal) terminal[stream] += text;
  return terminal !== undefined;
}

type Write = typeof process.stdout.write;

function writeTo(stream: Stream, otherwise: Write): Write {
  const write = (chunk: string | Uint8Array, ...more: [never]) => {
    if (!hear(stream, String(chunk))) return otherwise(chunk, ...more);
    const written: unknown = more.at(-1);
    if (typeof written === "function") queueMicrotask(() => written());
    return true;
  };
  return write as Write;
}
