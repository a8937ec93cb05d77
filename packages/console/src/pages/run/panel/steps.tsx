import type { ChainEntry } from "@nova/client";
import type { JSX } from "react";
import { CodeLines } from "../../../parts/code-lines.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { JsonView } from "../../../parts/json-view.tsx";
import { durationText, usdText } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import "./steps.css";

type Step = ChainEntry["steps"][number];

/** What agents did, as they did it: who, with which model, for how much, and what came of it. */
export function Steps({ steps }: { steps: readonly Step[] }): JSX.Element {
  return (
    <ol className="steps">
      {steps.map((step) => (
        <li
          key={`${step.timestamp}${step.step_number}${step.attempt_number}`}
          className={`step tone-${step.status === "failed" ? "bad" : "ok"}`}
        >
          <StepHead step={step} />
          {step.error_message && (
            <p className="step-error">
              <Foreign text={step.error_message} />
            </p>
          )}
          {step.generated_code && <CodeLines code={step.generated_code} />}
          {step.tool_calls.map((call, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: calls of one step never move
            <JsonView key={index} name={call.function} text={JSON.stringify(call.arguments)} open={0} />
          ))}
          {step.output_data != null && <JsonView name="output" text={JSON.stringify(step.output_data)} open={0} />}
          {step.answer && <JsonView name="answer" text={JSON.stringify(step.answer)} open={0} />}
        </li>
      ))}
    </ol>
  );
}

function StepHead({ step }: { step: Step }): JSX.Element {
  const { agent_name, attempt_number, model_used, tokens_input, tokens_output, cost_usd, execution_time_ms } = step;
  const notes = [
    texts.run.attempt(attempt_number),
    model_used,
    tokens_input > 0 && texts.run.tokens(tokens_input, tokens_output),
    usdText(cost_usd),
    durationText(execution_time_ms),
  ].filter(Boolean);
  return (
    <header className="step-head">
      <b>{agent_name}</b>
      <span className="quiet">{notes.join(" · ")}</span>
    </header>
  );
}
