import type { Schemas } from "@nova/client";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

type Finding = Schemas["Finding"];

interface FindingListProps {
  /** Findings without a severity are errors. */
  findings: readonly (Pick<Finding, "code" | "path" | "message"> & Partial<Finding>)[];
  className?: string;
  label?: string;
  /** Whether the severity is shown, and not only the colour. */
  showsSeverity?: boolean;
  /** Whether the line in the code is shown. */
  showsLine?: boolean;
}

/** The findings of the compiler about a workflow, a draft or a node. */
export function FindingList(props: FindingListProps) {
  const { findings, className = "", label, showsSeverity, showsLine } = props;
  return (
    <ul className={`findings stack ${className}`} aria-label={label}>
      {findings.map(({ code, path, severity = "error", line, message }) => (
        <li key={`${code} ${path} ${line} ${message}`} className={severity === "error" ? "tone-bad" : "tone-wait"}>
          <b>{showsSeverity ? `${texts.workflows.graph.severity[severity]} ${code}` : code}</b>{" "}
          {showsLine && line !== undefined && <span className="mono">{texts.writer.line(line)} </span>}
          <UntrustedText text={message} />
        </li>
      ))}
    </ul>
  );
}
