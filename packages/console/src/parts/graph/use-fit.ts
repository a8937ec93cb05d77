import { getViewportForBounds, type Rect, useReactFlow, type Viewport } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import type { Layout } from "./layout-types.ts";

export const minZoom = 0.1;
/** Of titles: eight pixels. */
const leastReadable = 0.6;
const margin = 24;

/** All of the graph is in sight when it is placed, once its box has a size: on a phone another view may be shown first. */
export function useFit(box: RefObject<HTMLElement | null>, layout: Layout | undefined): void {
  const { setViewport } = useReactFlow();
  const isFitted = useRef(false);
  useEffect(() => {
    const element = box.current;
    if (!layout || !element) return undefined;
    let isDone = false;
    const fit = () => {
      const { width, height } = element.getBoundingClientRect();
      if (isDone || width === 0) return;
      isDone = true;
      const view = readable(boundsOf(layout), width, height);
      void setViewport(view, isFitted.current ? { duration: 200 } : {});
      isFitted.current = true;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, layout, setViewport]);
}

/** Of a graph that would be too small to read, its beginning. */
function readable(bounds: Rect, width: number, height: number): Viewport {
  const whole = getViewportForBounds(bounds, width, height, minZoom, 1, 0.08);
  if (whole.zoom >= leastReadable) return whole;
  return { zoom: leastReadable, x: (width - bounds.width * leastReadable) / 2, y: margin };
}

function boundsOf({ nodes }: Layout): Rect {
  const outer = nodes.filter(({ parent }) => parent === undefined);
  const right = outer.reduce((most, { x, width }) => Math.max(most, x + width), 0);
  const bottom = outer.reduce((most, { y, height }) => Math.max(most, y + height), 0);
  return { x: 0, y: 0, width: right, height: bottom };
}
