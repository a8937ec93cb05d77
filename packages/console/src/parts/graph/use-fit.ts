import { getViewportForBounds, type Rect, useReactFlow, type Viewport } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import type { Layout } from "./layout-types.ts";

export const minZoom = 0.1;
/** Of titles: eight pixels. */
const leastReadable = 0.6;
const margin = 24;

/**
 * All of the graph is in sight when it is placed, once its box has a size: on a phone another view may be shown first. A
 * box that changes its size shows all of it again, unless somebody has moved it since.
 */
export function useFit(box: RefObject<HTMLElement | null>, layout: Layout | undefined): void {
  const { getViewport, setViewport } = useReactFlow();
  const fitted = useRef<Viewport>(undefined);
  useEffect(() => {
    const element = box.current;
    if (!layout || !element) return undefined;
    let isPlaced = false;
    const fit = () => {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || (isPlaced && isMoved(getViewport(), fitted.current))) return;
      const view = readable(boundsOf(layout), width, height);
      void setViewport(view, fitted.current && !isPlaced ? { duration: 200 } : {});
      isPlaced = true;
      fitted.current = view;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, layout, getViewport, setViewport]);
}

function isMoved(now: Viewport, { x, y, zoom } = now): boolean {
  return Math.hypot(now.x - x, now.y - y) > 1 || Math.abs(now.zoom - zoom) > 0.001;
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
