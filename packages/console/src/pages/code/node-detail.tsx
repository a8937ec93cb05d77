import * as Tabs from "@radix-ui/react-tabs";
import { type JSX, useState } from "react";
import { IconButton } from "../../parts/button.tsx";
import { CodeView } from "../../parts/code-view.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { texts } from "../../texts.ts";
import type { CodeNode, CodeVersion } from "./code-nodes.ts";
import { Evidence } from "./evidence.tsx";
import { History } from "./history.tsx";
import { ReviewButtons } from "./review.tsx";
import { StateBadge, VersionBadge } from "./state-look.tsx";
import { WrittenFor } from "./written-for.tsx";
import "../../parts/tabs.css";

const words = texts.code;

/** One node: the code that counts, or an older one that was chosen in its history. */
export function NodeDetail({ node, onBack }: { node: CodeNode; onBack(): void }): JSX.Element {
  const [chosen, setChosen] = useState<string>();
  const version = node.versions.find((one) => idOf(one) === chosen) ?? node.current;
  const views: [name: keyof typeof words.tabs, content: () => JSX.Element][] = [
    ["code", () => <Code version={version} />],
    ["why", () => <WrittenFor version={version} />],
    ["evidence", () => <Evidence version={version} />],
    ["history", () => <History node={node} chosen={version} onChoose={(one) => setChosen(idOf(one))} />],
  ];
  return (
    <section className="code-detail" aria-label={node.node}>
      <header className="code-head">
        <span className="code-back">
          <IconButton icon="back" label={words.back} onClick={onBack} />
        </span>
        <h2>
          <Foreign text={node.node} />
        </h2>
        {version === node.current ? <StateBadge state={node.state} /> : <VersionBadge status={version.status} />}
        <span className="page-head-end">
          <ReviewButtons
            key={idOf(version)}
            workflow={node.workflow}
            version={version}
            isWaiting={node.state === "waits" && version === node.current}
          />
        </span>
        <p className="code-hint quiet">
          {version.status === "locked" ? (
            <>
              {words.lockedHint} <code>nova lock approve</code>
            </>
          ) : (
            version === node.current && words.stateHints[node.state]
          )}
        </p>
      </header>
      <Tabs.Root className="tabs" defaultValue="code">
        <Tabs.List className="tab-list" aria-label={words.title}>
          {views.map(([name]) => (
            <Tabs.Trigger key={name} value={name} className="tab">
              {words.tabs[name]} {name === "history" && node.versions.length}
              {name === "why" && version.changes !== undefined && version.changes.length > 0 && (
                <span className="code-changes">{version.changes.length}</span>
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {views.map(([name, content]) => (
          <Tabs.Content key={name} value={name} className="tab-content">
            {content()}
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  );
}

/** The key alone does not tell code apart that was written for the same thing. */
export function idOf({ key, code_hash, status }: CodeVersion): string {
  return `${key}.${code_hash}.${status === "locked" ? "lock" : "store"}`;
}

function Code({ version: { code, analysis, node } }: { version: CodeVersion }): JSX.Element {
  return (
    <div className="form">
      {analysis !== null && (
        <>
          <h3>{words.analysis}</h3>
          <CodeView code={analysis} label={words.analysis} />
          <h3>{words.tabs.code}</h3>
        </>
      )}
      <CodeView code={code} label={words.codeOf(node)} />
    </div>
  );
}
