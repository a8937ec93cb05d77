import { layout } from "./layout.ts";
import type { LayoutRequest } from "./layout-types.ts";

/** Places graphs away from the page's thread: hundreds of nodes take dagre some hundred milliseconds. */
addEventListener("message", ({ data }: MessageEvent<{ id: number; request: LayoutRequest }>) => {
  postMessage({ id: data.id, layout: layout(data.request) });
});
