import type { JSX } from "react";
import { Link } from "wouter";
import { findMember, readString } from "../../json/raw.ts";
import { IconButton } from "../../parts/button.tsx";
import { CodeLines } from "../../parts/code.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { ErrorNote, Loading } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import type { NodeText } from "./definition-parts.ts";
import type { Finding } from "./findings.ts";

const words = texts.workflows.graph;

interface NodePanelProps {
  node: NodeText;
  findings: readonly Finding[];
  onClose(): void;
}

/** One node of the definition in full. */
export function NodePanel({ node, findings, onClose }: NodePanelProps): JSX.Element {
  const { id, type, code, prompt, settings } = node;
  const [description, message, runs] = ["description", "message", "workflow"].map((name) =>
    readString(settings.get(name)),
  );
  const otherSettings = Array.from(settings).filter(
    ([name]) => name !== "description" && name !== "message" && name !== "name",
  );
  const inCode = findings.find(({ line }) => line !== undefined);
  return (
    <>
      <header className="definition-head">
        <h2>
          <UntrustedText text={id} />
        </h2>
        <span className="quiet">{type}</span>
        <span className="page-head-end">
          <IconButton icon="cross" label={texts.common.close} onClick={onClose} />
        </span>
      </header>
      <div className="definition-body">
        {description !== undefined && (
          <p>
            <UntrustedText text={description} />
          </p>
        )}
        {findings.length > 0 && <FindingList findings={findings} />}
        {message !== undefined && <Written label={words.fields.message} text={message} />}
        {prompt !== undefined && <Written label={words.fields.prompt} text={prompt} />}
        {code !== undefined && (
          <section>
            <h3>{words.fields.code}</h3>
            <CodeLines code={code} marked={inCode?.line} />
          </section>
        )}
        {otherSettings.length > 0 && (
          <section>
            <h3>{words.fields.rest}</h3>
            {otherSettings.map(([name, text]) => (
              <JsonView key={name} name={name} text={text} open={2} />
            ))}
          </section>
        )}
        {type === "workflow" && runs !== undefined && (
          <Link href={`/workflows/${runs}`} className="button">
            {words.opens}
          </Link>
        )}
      </div>
    </>
  );
}

function Written({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <section>
      <h3>{label}</h3>
      <pre className="definition-text">
        <UntrustedText text={text} />
      </pre>
    </section>
  );
}

function FindingList({ findings }: { findings: readonly Finding[] }): JSX.Element {
  return (
    <ul className="findings">
      {findings.map(({ code, path, message, severity, line }) => (
        <li key={`${code} ${path} ${line} ${message}`} className={`tone-${severity === "error" ? "bad" : "wait"}`}>
          <b>
            {words.severity[severity]} {code}
          </b>{" "}
          <UntrustedText text={message} />
        </li>
      ))}
    </ul>
  );
}

interface FindingsProps {
  byNode: ReadonlyMap<string, readonly Finding[]>;
  isPending: boolean;
  error: unknown;
  /** The definition as JSON. */
  description: string;
  select(node: string): void;
}

/** The description of the workflow and all findings. */
export function Findings({ byNode, isPending, error, description, select }: FindingsProps): JSX.Element {
  const about = readString(findMember(description, "description"));
  const count = Array.from(byNode.values()).reduce((sum, { length }) => sum + length, 0);
  return (
    <div className="definition-body">
      {about !== undefined && (
        <p>
          <UntrustedText text={about} />
        </p>
      )}
      <p className="quiet">{words.pick}</p>
      <section>
        <h2 className="findings-title">
          {count > 0
            ? words.findings(count)
            : isPending
              ? words.checking
              : error
                ? words.findingsLost
                : words.noFindings}
          {count === 0 && !isPending && !error && (
            <span className="tone-ok">
              <Icon name="check" size={14} />
            </span>
          )}
        </h2>
        {isPending && <Loading lines={2} />}
        <ErrorNote error={error} />
        {Array.from(byNode, ([node, findings]) => (
          <div key={node} className="findings-of">
            {node === "" ? (
              <h3>{words.whole}</h3>
            ) : (
              <button type="button" className="findings-node" onClick={() => select(node)}>
                <UntrustedText text={node} />
              </button>
            )}
            <FindingList findings={findings} />
          </div>
        ))}
      </section>
    </div>
  );
}
