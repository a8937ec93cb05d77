import type { Session } from "@nova/client";
import { type JSX, useState } from "react";
import { Link, useLocation } from "wouter";
import { Button, IconButton } from "../../parts/button.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon } from "../../parts/icon.tsx";
import { texts } from "../../texts.ts";
import { RemoveSession } from "./remove-session.tsx";

const words = texts.sessions;

/** What the page shows in a dialog. */
export type Asked = "node" | "edge" | "publish";

interface SessionHeadProps {
  session: Session;
  isRunning: boolean;
  onAsk(asked: Asked): void;
  onRun(): void;
}

/** Its name, and what can be done with all of it. */
export function SessionHead({ session, isRunning, onAsk, onRun }: SessionHeadProps): JSX.Element {
  const [, go] = useLocation();
  const [isLeaving, setLeaving] = useState(false);
  const { name, nodes } = session;
  return (
    <header className="page-head session-head">
      <Link href="/sessions" className="icon-button" aria-label={words.back} title={words.back}>
        <Icon name="back" />
      </Link>
      <h1>
        <Foreign text={name} />
      </h1>
      <span className="page-head-end">
        <Button icon="play" tone="main" disabled={isRunning || nodes.length === 0} onClick={onRun}>
          {words.run.all}
        </Button>
        <Button icon="plus" onClick={() => onAsk("node")}>
          {words.addNode.title}
        </Button>
        <Button icon="branch" disabled={nodes.length < 2} onClick={() => onAsk("edge")}>
          {words.addEdge.title}
        </Button>
        <Button icon="upload" disabled={nodes.length === 0} onClick={() => onAsk("publish")}>
          {words.publish.title}
        </Button>
        <IconButton icon="bin" label={words.removeOne(name)} onClick={() => setLeaving(true)} />
      </span>
      {isLeaving && (
        <RemoveSession session={session} onRemoved={() => go("/sessions")} onClose={() => setLeaving(false)} />
      )}
    </header>
  );
}
