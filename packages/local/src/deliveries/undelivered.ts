import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Backlog } from "../disk/backlog.ts";
import { LineFile } from "../disk/line-file.ts";
import type { Room } from "../disk/room.ts";
import type { Deliver } from "./deliveries.ts";

/** Hands something to a function, as often as Lambda tries it; false: no attempt succeeded. */
export type Invoke = (functionArn: string, payload: string) => Promise<boolean>;

/** Keeps in a file what no function took, as a dead-letter queue does in the cloud. */
export function keepingUndelivered(invoke: Invoke, path: string, now: () => number, room: Room): Deliver {
  const backlog = new Backlog(room);
  return async (functionArn, payload) => {
    if (await invoke(functionArn, payload)) return;
    const line = { functionArn, payload, at: new Date(now()).toISOString() };
    backlog.write(() => {
      mkdirSync(dirname(path), { recursive: true });
      const { file } = LineFile.open(path);
      file.append(line);
      file.close();
    });
    process.emitWarning(`${functionArn} did not take an event: it lies in ${path}`);
  };
}
