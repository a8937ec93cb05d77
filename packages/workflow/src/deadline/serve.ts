import { parentPort, workerData } from "node:worker_threads";

export interface Call {
  method: string;
  args: unknown[];
}

/** The answer to a call. An error is plain data, because a copy loses its class. */
export type Answer = { value: unknown } | { error: { name: string; message: string; stack?: string | undefined } };

/** The first message of a thread. Loading its code counts towards no deadline. */
const ready = "ready";

type Methods = Record<string, (...args: never[]) => unknown>;

/** Answers the calls of the `DeadlineWorker` with this name. In every other thread it loads and does nothing. */
export function serve(name: string, load: () => Promise<Methods>): void {
  if (!parentPort || workerData !== name) return;
  const port = parentPort;
  void load().then((methods) => {
    port.on("message", async (call: Call) => port.postMessage(await answerTo(call, methods)));
    port.postMessage(ready);
  });
}

async function answerTo({ method, args }: Call, methods: Methods): Promise<Answer> {
  try {
    return { value: await methods[method]?.(...(args as never[])) };
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    return { error: { name, message, stack } };
  }
}
