import type { JSX } from "react";
import { CodeDiff } from "../../parts/code-diff.tsx";
import { CodeView } from "../../parts/code-view.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Time, usdText } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import type { CodeNode, CodeVersion } from "./code-nodes.ts";
import { VersionBadge } from "./state-look.tsx";

const words = texts.code;

interface HistoryProps {
  node: CodeNode;
  chosen: CodeVersion;
  onChoose(version: CodeVersion): void;
}

/** Every code that the node has had, and how the chosen one differs from the one before it. */
export function History({ node: { node, versions }, chosen, onChoose }: HistoryProps): JSX.Element {
  const byAge = versions.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const before = byAge[byAge.indexOf(chosen) + 1];
  return (
    <div className="form">
      <ol className="versions">
        {byAge.map((version) => (
          <li key={`${version.key}${version.code_hash}${version.status}`}>
            <button
              type="button"
              className="version"
              aria-current={version === chosen || undefined}
              onClick={() => onChoose(version)}
            >
              <Time at={version.created_at} />
              <VersionBadge status={version.status} />
              <span className="quiet">
                <Foreign text={version.model} />
                {version.cost.usd > 0 && ` · ${usdText(version.cost.usd)}`}
                {version.approved && ` · ${words.evidence.by(version.approved.by)}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <Against before={before} after={chosen} node={node} />
    </div>
  );
}

function Against({
  before,
  after,
  node,
}: {
  before: CodeVersion | undefined;
  after: CodeVersion;
  node: string;
}): JSX.Element {
  if (before === undefined) {
    return (
      <>
        <h3>{words.first}</h3>
        <CodeView code={textOf(after)} label={words.codeOf(node)} />
      </>
    );
  }
  if (textOf(before) === textOf(after)) return <p className="quiet">{words.same}</p>;
  return (
    <>
      <p className="quiet">{words.historyHint}</p>
      <CodeDiff before={textOf(before)} after={textOf(after)} label={words.diff(node)} />
    </>
  );
}

/** An analysis and its code are one. */
function textOf({ code, analysis }: CodeVersion): string {
  return analysis === null ? code : `# ${words.analysis}\n${analysis}\n\n# ${words.tabs.code}\n${code}`;
}
