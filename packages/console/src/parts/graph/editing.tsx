import { EdgeLabelRenderer, type NodeChange, useStore } from "@xyflow/react";
import { type JSX, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { texts } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import type { GraphEdge } from "./definition.ts";
import type { Layout, Placed, Point, Route } from "./layout.worker.ts";

export type Positions = Readonly<Record<string, Point>>;

/** How a user edits a graph. Pass the same functions on every render. */
export interface GraphEditing {
  /** Positions of nodes that the user has moved. All other nodes are placed automatically. */
  positions: Positions;
  onMove(node: string, place: Point): void;
  onConnect(from: string, to: string): void;
  onInsert(edge: GraphEdge): void;
  onAppend(node: string): void;
  onDelete(node: string): void;
}

/** Moves nodes to their positions. An edge of a moved node becomes a line between its two nodes. */
export function movePlaces({ nodes, routes }: Layout, positions: Positions): Layout {
  const moved = (place: Placed): Placed => {
    const own = place.parent === undefined ? positions[place.id] : undefined;
    return own ? { ...place, x: own.x, y: own.y } : place;
  };
  const placed = new Map(nodes.map((place) => [place.id, moved(place)]));
  const isMoved = (id: string) => positions[id] !== undefined;
  return {
    nodes: Array.from(placed.values()),
    routes: routes.map((route) => {
      const [from, to] = [placed.get(route.from), placed.get(route.to)];
      const isLine = from && to && (isMoved(route.from) || isMoved(route.to));
      return isLine ? drawLine(route, from, to) : route;
    }),
  };
}

function drawLine(route: Route, from: Placed, to: Placed): Route {
  const begin = { x: from.x + from.width / 2, y: from.y + from.height };
  const end = { x: to.x + to.width / 2, y: to.y };
  const middle = { x: (begin.x + end.x) / 2, y: (begin.y + end.y) / 2 };
  return { ...route, points: [begin, middle, end], label: route.label && middle };
}

/** Returns the positions while the user drags a node or moves it with the arrow keys. */
export function useMoving(editing: GraphEditing | undefined) {
  const [dragged, setDragged] = useState<Positions>({});
  const last = useRef<Record<string, Point>>({});
  const stored = editing?.positions;
  // After the position is saved or its change is undone, the stored position replaces the dragged position.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `stored` is the reason to forget the dragged positions
  useEffect(() => setDragged({}), [stored]);
  const positions = useMemo(() => ({ ...stored, ...dragged }), [stored, dragged]);
  const onNodesChange = useCallback(
    (changes: NodeChange[]) => {
      for (const change of changes) {
        if (change.type !== "position") continue;
        const { id, position, dragging } = change;
        if (position) {
          last.current[id] = position;
          setDragged((before) => ({ ...before, [id]: position }));
        }
        const place = last.current[id];
        if (dragging || !place) continue;
        delete last.current[id];
        editing?.onMove(id, place);
      }
    },
    [editing],
  );
  return { positions, onNodesChange: editing && onNodesChange };
}

interface PlusButtonProps {
  label: string;
  className: string;
  /** The place of the button, as CSS transforms. */
  place?: string;
  onClick(): void;
}

/** A button that stays large enough to touch in a graph that is drawn small. */
function PlusButton({ label, className, place = "", onClick }: PlusButtonProps): JSX.Element {
  const scale = useStore(({ transform: [, , zoom] }) => Math.max(1, 1 / zoom));
  return (
    <button
      type="button"
      className={`graph-plus center nodrag ${className}`}
      style={{ transform: `${place} scale(${scale})` }}
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
    >
      <Icon name="plus" size={10} />
    </button>
  );
}

/** A button in the middle of an edge, which inserts a node there. */
export function InsertButton({ at, label, onInsert }: { at: Point; label: string; onInsert(): void }): JSX.Element {
  const place = `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)`;
  return (
    <EdgeLabelRenderer>
      <PlusButton label={label} className="nopan" place={place} onClick={onInsert} />
    </EdgeLabelRenderer>
  );
}

/** A button below a card, which adds a node after it. */
export function AppendButton({ name, onAppend }: { name: string; onAppend(): void }): JSX.Element {
  return <PlusButton label={texts.graph.append(name)} className="graph-append" onClick={onAppend} />;
}
