import { ApiProblem } from "@nova/client";
import type { JSX } from "react";
import { texts } from "../texts.ts";
import { Foreign } from "./foreign.tsx";
import { Empty, Failure, sentenceOf } from "./states.tsx";
import "./trouble.css";

/** What a form or a dialog was answered, and where it is wrong. */
export function Trouble({ error }: { error: unknown }): JSX.Element | null {
  if (error === null || error === undefined) return null;
  return (
    <p className="trouble" role="alert">
      <Foreign text={sentenceOf(error)} />
    </p>
  );
}

/** Why a page shows nothing. What a key may not see is no failure. */
export function PageFailure({ error, onRetry }: { error: unknown; onRetry(): void }): JSX.Element {
  if (!isRefusal(error)) return <Failure error={error} onRetry={onRetry} />;
  return <Empty icon="shield" title={texts.common.notAllowed} hint={sentenceOf(error)} />;
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 403;
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404;
}
