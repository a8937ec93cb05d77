import { useEffect, useState } from "react";
import type { Layout, LayoutRequest } from "./layout-types.ts";

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<number, (layout: Layout) => void>();

function place(request: LayoutRequest, then: (layout: Layout) => void): () => void {
  worker ??= openWorker();
  const id = ++lastId;
  waiting.set(id, then);
  worker.postMessage({ id, request });
  return () => void waiting.delete(id);
}

function openWorker(): Worker {
  const opened = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  opened.addEventListener("message", ({ data }: MessageEvent<{ id: number; layout: Layout }>) => {
    waiting.get(data.id)?.(data.layout);
    waiting.delete(data.id);
  });
  return opened;
}

/** Where the nodes lie; undefined before that is known. What was known stays while another place is looked for. */
export function useLayout(request: LayoutRequest): Layout | undefined {
  const [layout, setLayout] = useState<Layout>();
  // A run that goes on asks for the same places again and again.
  const text = JSON.stringify(request);
  useEffect(() => place(JSON.parse(text), setLayout), [text]);
  return layout;
}
