import { type JSX, useMemo, useState } from "react";
import { listMembers, type Raw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { type BlobHome, Value } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";
import "./panel.css";

type Change = "added" | "changed" | "removed" | "kept";

interface KeyDiff {
  key: string;
  change: Change;
  before: string | undefined;
  after: string | undefined;
}

interface ContextDiffProps {
  before: Raw | null;
  after: Raw | null;
  home: BlobHome;
}

/** The changes of a node to the context, key by key. Unchanged keys are folded. */
export function ContextDiff({ before, after, home }: ContextDiffProps): JSX.Element {
  const diffs = useMemo(() => diffContexts(before, after), [before, after]);
  const [isComplete, setComplete] = useState(false);
  const changed = diffs.filter(({ change }) => change !== "kept");
  const kept = diffs.filter(({ change }) => change === "kept");
  return (
    <div className="context-diff">
      {changed.length === 0 && <p className="quiet">{texts.run.noChanges}</p>}
      {changed.map((diff) => (
        <KeyLine key={diff.key} diff={diff} home={home} />
      ))}
      {kept.length > 0 && !isComplete && (
        <Button tone="ghost" icon="plus" onClick={() => setComplete(true)}>
          {texts.run.kept(kept.length)}
        </Button>
      )}
      {isComplete && kept.map((diff) => <KeyLine key={diff.key} diff={diff} home={home} />)}
    </div>
  );
}

function KeyLine({ diff: { key, change, before, after }, home }: { diff: KeyDiff; home: BlobHome }): JSX.Element {
  return (
    <div className={`key-line key-${change}`}>
      {change !== "kept" && <span className="key-change">{texts.run[change]}</span>}
      {change === "changed" && before !== undefined && (
        <div className="key-before">
          <Value name={key} text={before} home={home} open={0} />
        </div>
      )}
      <div className={change === "removed" ? "key-before" : "key-after"}>
        <Value name={key} text={after ?? before ?? "null"} home={home} open={change === "kept" ? 0 : 1} />
      </div>
    </div>
  );
}

function diffContexts(before: Raw | null, after: Raw | null): KeyDiff[] {
  const [beforeMembers, afterMembers] = [before, after].map(
    (raw) => new Map(raw ? listMembers(raw.text).map(({ key, text }) => [key, text]) : []),
  );
  const keys = new Set([...(afterMembers?.keys() ?? []), ...(after ? (beforeMembers?.keys() ?? []) : [])]);
  return Array.from(keys, (key): KeyDiff => {
    const [old, now] = [beforeMembers?.get(key), afterMembers?.get(key)];
    return { key, change: classifyChange(old, now), before: old, after: now };
  });
}

function classifyChange(before: string | undefined, after: string | undefined): Change {
  if (before === after) return "kept";
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}

/** A whole context, without a comparison. */
export function WholeContext({ context, home }: { context: Raw; home: BlobHome }): JSX.Element {
  const members = listMembers(context.text);
  if (members.length === 0) return <JsonView text="{}" />;
  return (
    <div className="context-diff">
      {members.map(({ key, text }) => (
        <Value key={key} name={key} text={text} home={home} open={1} />
      ))}
    </div>
  );
}
