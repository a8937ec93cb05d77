import { useEffect, useState } from "react";
import type { LayoutRequest, Placed } from "./layout-types.ts";

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (placed: Placed[]) => void>();

function place(request: LayoutRequest, then: (placed: Placed[]) => void): () => void {
  worker ??= openWorker();
  const id = ++lastId;
  waiting.set(id, then);
  worker.postMessage({ id, request });
  return () => waiting.delete(id);
}

function openWorker(): Worker {
  const opened = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  opened.addEventListener("message", ({ data }: MessageEvent<{ id: number; placed: Placed[] }>) => {
    waiting.get(data.id)?.(data.placed);
    waiting.delete(data.id);
  });
  return opened;
}

/** Where the nodes lie; undefined before that is known. What was known stays while another place is looked for. */
export function useLayout(request: LayoutRequest): readonly Placed[] | undefined {
  const [placed, setPlaced] = useState<readonly Placed[]>();
  useEffect(() => place(request, setPlaced), [request]);
  return placed;
}
