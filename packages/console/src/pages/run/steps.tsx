import type { ChainEntry } from "@nova/client";
import type { JSX } from "react";
import { CodeDiff, CodeView } from "../../parts/code.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { formatDuration, formatUsd } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./panel.css";

type Step = ChainEntry["steps"][number];

/** The steps of agents, attempt by attempt, with model, cost and result. */
export function Steps({ steps }: { steps: readonly Step[] }): JSX.Element {
  return (
    <ol className="steps">
      {steps.map((step, index) => {
        const before = steps.slice(0, index).findLast(isCodeOfSameAgent(step))?.generated_code ?? undefined;
        return (
          <li
            key={`${step.timestamp}${step.step_number}${step.attempt_number}`}
            className={`step tone-${step.status === "failed" ? "bad" : "ok"}`}
          >
            <StepView step={step} before={before} />
          </li>
        );
      })}
    </ol>
  );
}

/** An attempt is compared with the previous attempt of the same agent. */
function isCodeOfSameAgent({ agent_name }: Step): (other: Step) => boolean {
  return (other) => other.agent_name === agent_name && other.generated_code !== null;
}

function StepView({ step, before }: { step: Step; before: string | undefined }): JSX.Element {
  const { generated_code: code, error_message: error, tool_calls: calls, output_data: output, prompt, answer } = step;
  const words = texts.run;
  return (
    <>
      <StepHead step={step} />
      {error && (
        <p className="step-error">
          <UntrustedText text={error} />
        </p>
      )}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls of a step never change their order
        <div key={index} className="step-call">
          <span className="quiet">{words.called}</span>
          <JsonView name={call.function} text={JSON.stringify(call.arguments)} open={0} />
          {call.found !== undefined && <JsonView name={words.found} text={JSON.stringify(call.found)} open={0} />}
        </div>
      ))}
      {code && <Written code={code} before={before} label={`${words.code} ${words.attempt(step.attempt_number)}`} />}
      {output != null && <JsonView name={words.output} text={JSON.stringify(output)} open={0} />}
      {prompt && <Said label={words.prompt} text={prompt} />}
      {answer && <Said label={words.answer} text={answer} />}
    </>
  );
}

/** Shows the first attempt in full, and later attempts as differences. */
function Written({ code, before, label }: { code: string; before: string | undefined; label: string }): JSX.Element {
  return before === undefined ? (
    <CodeView code={code} label={label} />
  ) : (
    <CodeDiff before={before} label={label} after={code} />
  );
}

/** A folded prompt or answer. */
function Said({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <details className="traceback">
      <summary>{label}</summary>
      <pre className="prints">
        <UntrustedText text={text} />
      </pre>
    </details>
  );
}

function StepHead({ step }: { step: Step }): JSX.Element {
  const { agent_name, attempt_number, model_used, tokens_input, tokens_output, cost_usd, execution_time_ms } = step;
  const notes = [
    texts.run.attempt(attempt_number),
    model_used,
    tokens_input > 0 && texts.run.tokens(tokens_input, tokens_output),
    formatUsd(cost_usd),
    formatDuration(execution_time_ms),
  ].filter(Boolean);
  return (
    <header className="step-head">
      <b>{agent_name}</b>
      <span className="quiet">{notes.join(" · ")}</span>
    </header>
  );
}
