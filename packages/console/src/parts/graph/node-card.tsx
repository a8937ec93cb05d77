import { Handle, Position } from "@xyflow/react";
import type { JSX, ReactNode } from "react";
import { texts } from "../../texts.ts";
import { Icon, type IconName } from "../icon.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import type { GraphNode } from "./definition.ts";

/** Data that every card gets. */
export interface CardData extends Record<string, unknown> {
  node: GraphNode;
  isOpen: boolean;
  canOpen: boolean;
  toggle(id: string): void;
}

export interface CardLook {
  tone: string;
  /** Selects the outline in CSS. */
  state: string;
  note: string;
  /** Content at the right end of the card. */
  end?: ReactNode;
  /** Content below the title. */
  children?: ReactNode;
}

interface NodeCardProps extends CardData, CardLook {
  selected: boolean;
}

/** The card of one node. */
export function NodeCard({
  node,
  isOpen,
  canOpen,
  toggle,
  tone,
  state,
  selected,
  note,
  end,
  children,
}: NodeCardProps): JSX.Element {
  return (
    <div
      className={`node tone-${tone} ${isOpen ? "node-open" : ""}`}
      data-state={state}
      data-selected={selected || undefined}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <div className="node-head">
        <span className="node-kind">
          <Icon name={getKindIcon(node.type, node.isPrompt)} size={14} />
        </span>
        <span className="node-text">
          <b title={node.description}>
            <UntrustedText text={node.name} />
          </b>
          <span className="node-note">{note}</span>
        </span>
        {end}
        {canOpen && (
          <button
            type="button"
            className="node-fold nodrag"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? texts.graph.fold : texts.graph.unfold} ${node.name}`}
            onClick={(event) => {
              event.stopPropagation();
              toggle(node.id);
            }}
          >
            <Icon name={isOpen ? "minus" : "plus"} size={12} />
          </button>
        )}
      </div>
      {children}
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

const icons: Record<string, IconName> = {
  start: "play",
  end: "flag",
  decision: "branch",
  map: "map",
  approval: "person",
  wait: "clock",
  workflow: "flow",
};

/** Returns the icon of a node type. */
export function getKindIcon(type: string, isPrompt: boolean): IconName {
  return isPrompt ? "spark" : (icons[type] ?? "code");
}
