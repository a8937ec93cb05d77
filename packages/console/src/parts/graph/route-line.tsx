import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { type JSX, memo, type ReactNode } from "react";
import { texts } from "../../texts.ts";
import { InsertButton } from "./editing.tsx";
import type { Point, Route } from "./layout.worker.ts";

export type RouteEdge = Edge<{ route: Route; insert?: () => void }, "route">;

/** Draws an edge along the route that the layout computed. */
export const RouteLine = memo(function RouteLine({ data, label, markerEnd }: EdgeProps<RouteEdge>): JSX.Element | null {
  if (!data) return null;
  const { route, insert } = data;
  const { points, label: place } = route;
  return (
    <>
      <BaseEdge
        path={drawCurve(points)}
        {...(markerEnd !== undefined && { markerEnd })}
        {...(label && place && { label, labelX: place.x, labelY: place.y })}
        labelBgPadding={[4, 2]}
        labelBgBorderRadius={3}
      />
      {insert && (
        <InsertButton
          at={placeButton(route, label)}
          label={texts.graph.insert(route.from, route.to)}
          onInsert={insert}
        />
      )}
    </>
  );
});

/** Approximate width of a letter of a label, and the distance of the button from the label. */
const [letterPx, gapPx] = [6, 16];

/**
 * Places the button beside the label, or in the middle of an edge without one. On an edge that leads back, the button
 * is on the left, because the edge beside it has its button on the right.
 */
function placeButton({ points, label: place }: Route, label: ReactNode): Point {
  if (place && label) {
    const away = (String(label).length * letterPx) / 2 + gapPx;
    const isBack = (points[0]?.y ?? 0) > (points.at(-1)?.y ?? 0);
    return { x: isBack ? place.x - away : place.x + away, y: place.y };
  }
  const at = Math.floor(points.length / 2);
  const [a, b] = [points[points.length % 2 === 0 ? at - 1 : at], points[at]];
  return a && b ? middle(a, b) : { x: 0, y: 0 };
}

/** Draws a curve through the middle of each segment, bent towards the points. */
function drawCurve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const middles = rest.map((point, index) => middle(points[index] as Point, point));
  const bends = middles.slice(1).map((point, index) => `Q${at(rest[index] as Point)} ${at(point)}`);
  const [begin, end] = [middles[0], rest.at(-1)];
  return [`M${at(first)}`, ...(begin ? [`L${at(begin)}`] : []), ...bends, ...(end ? [`L${at(end)}`] : [])].join(" ");
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

function at({ x, y }: Point): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
