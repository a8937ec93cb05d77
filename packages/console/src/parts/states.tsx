import { ApiProblem, ApiUnreachable } from "@nova/client";
import type { JSX, ReactNode } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Foreign } from "./foreign.tsx";
import { Icon, type IconName } from "./icon.tsx";
import "./states.css";

interface EmptyProps {
  icon: IconName;
  title: string;
  hint: string;
  /** It is all that the page has. */
  isPage?: boolean;
  children?: ReactNode;
}

/** What stands where there is nothing, and what to do about it. */
export function Empty({ icon, title, hint, isPage, children }: EmptyProps): JSX.Element {
  const Title = isPage ? "h1" : "h2";
  return (
    <div className="state">
      <span className="state-icon">
        <Icon name={icon} size={20} />
      </span>
      <Title>{title}</Title>
      <p className="quiet">{hint}</p>
      {children}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }): JSX.Element {
  return (
    <div className="state" role="alert">
      <span className="state-icon tone-bad">
        <Icon name="cross" size={20} />
      </span>
      <h2>{error instanceof ApiProblem ? error.title : texts.common.failed}</h2>
      <p className="quiet">
        <Foreign text={sentenceOf(error)} />
      </p>
      {onRetry && (
        <Button icon="restart" onClick={onRetry}>
          {texts.common.retry}
        </Button>
      )}
    </div>
  );
}

/** The API's sentences name the way out. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiProblem || error instanceof ApiUnreachable) return error.message;
  return error instanceof Error ? error.message : String(error);
}

/** Grey lines in the place of what comes. */
export function Loading({ lines = 8 }: { lines?: number }): JSX.Element {
  return (
    <div className="skeleton" role="status" aria-label={texts.common.loading}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <span key={index} style={{ width: `${88 - ((index * 23) % 46)}%` }} />
      ))}
    </div>
  );
}
