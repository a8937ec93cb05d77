import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { type JSX, memo } from "react";
import type { Point, Route } from "./layout-types.ts";

export type RouteEdge = Edge<{ route: Route }, "route">;

/** An edge along the way that the layout has found for it. */
export const RouteLine = memo(function RouteLine({ data, label, markerEnd }: EdgeProps<RouteEdge>): JSX.Element | null {
  if (!data) return null;
  const { points, label: place } = data.route;
  return (
    <BaseEdge
      path={curveThrough(points)}
      {...(markerEnd !== undefined && { markerEnd })}
      {...(label && place && { label, labelX: place.x, labelY: place.y })}
      labelBgPadding={[4, 2]}
      labelBgBorderRadius={3}
    />
  );
});

/** Through the middles between the points, which are what it bends towards. */
function curveThrough(points: readonly Point[]): string {
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
