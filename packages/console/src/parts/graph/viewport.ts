import { getViewportForBounds, type Rect, useReactFlow, type Viewport } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { Layout } from "./layout.worker.ts";

export const minZoom = 0.1;
export const maxZoom = 1.6;
/** The smallest zoom at which titles can be read: they are eight pixels high. */
const leastReadable = 0.6;
const margin = 24;

/** Formats the point of the graph in the middle of the box, and the zoom; undefined while the box has no size. */
export function formatView({ x, y, zoom }: Viewport, box: HTMLElement | null): string | undefined {
  const { width = 0, height = 0 } = box?.getBoundingClientRect() ?? {};
  if (width === 0) return undefined;
  return [(width / 2 - x) / zoom, (height / 2 - y) / zoom]
    .map(Math.round)
    .concat(Number(zoom.toFixed(2)))
    .join(",");
}

function parseView(text: string | undefined, width: number, height: number): Viewport | undefined {
  const [, x, y, zoom] = /^(-?\d{1,6}),(-?\d{1,6}),(\d(?:\.\d{1,2})?)$/.exec(text ?? "")?.map(Number) ?? [];
  if (x === undefined || y === undefined || zoom === undefined || zoom < minZoom || zoom > maxZoom) return undefined;
  return { x: width / 2 - x * zoom, y: height / 2 - y * zoom, zoom };
}

/** Moves the graph to the node whenever another node is followed. */
export function useFollowed(layout: Layout | undefined, followed: string | undefined): void {
  const { setCenter, getInternalNode, getViewport } = useReactFlow();
  useEffect(() => {
    const place = followed === undefined ? undefined : getInternalNode(followed);
    if (!layout || !place) return;
    const { x, y } = place.internals.positionAbsolute;
    const zoom = Math.max(leastReadable, getViewport().zoom);
    void setCenter(x + (place.width ?? 0) / 2, y + (place.height ?? 0) / 2, { zoom });
  }, [layout, followed, setCenter, getInternalNode, getViewport]);
}

/**
 * Fits the whole graph into its box after each layout and after each resize of the box, unless the user has moved the
 * graph. If `view` is present, shows this part of the graph instead. At first the box may have no size, because a phone
 * shows one view at a time. Returns a function that returns whether a viewport shows the whole graph.
 */
export function useFit(
  box: RefObject<HTMLElement | null>,
  layout: Layout | undefined,
  view?: string,
): (viewport: Viewport) => boolean {
  const { getViewport, setViewport } = useReactFlow();
  const fitted = useRef<Viewport>(undefined);
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const element = box.current;
    if (!layout || !element) return undefined;
    let isPlaced = false;
    const fit = () => {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || (isPlaced && isMoved(getViewport(), fitted.current))) return;
      const whole = fitReadable(measureBounds(layout), width, height);
      const addressed = parseView(latest.current, width, height);
      const isStill = isPlaced || matchMedia("(prefers-reduced-motion: reduce)").matches;
      void setViewport(addressed ?? whole, fitted.current && !isStill ? { duration: 200 } : {});
      isPlaced = true;
      fitted.current = whole;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, layout, getViewport, setViewport]);
  return useCallback((viewport) => !isMoved(viewport, fitted.current), []);
}

function isMoved(now: Viewport, { x, y, zoom } = now): boolean {
  return Math.hypot(now.x - x, now.y - y) > 1 || Math.abs(now.zoom - zoom) > 0.001;
}

/** Shows the start of a graph that would be too small to read as a whole. */
function fitReadable(bounds: Rect, width: number, height: number): Viewport {
  const whole = getViewportForBounds(bounds, width, height, minZoom, 1, 0.08);
  if (whole.zoom >= leastReadable) return whole;
  return { zoom: leastReadable, x: (width - bounds.width * leastReadable) / 2, y: margin };
}

function measureBounds({ nodes }: Layout): Rect {
  const outer = nodes.filter(({ parent }) => parent === undefined);
  const right = outer.reduce((most, { x, width }) => Math.max(most, x + width), 0);
  const bottom = outer.reduce((most, { y, height }) => Math.max(most, y + height), 0);
  return { x: 0, y: 0, width: right, height: bottom };
}
