import type { ToolCall } from "@nova/engine";
import { type Cost, costOf, roundUsd } from "./cost.ts";
import type { SpentOnFailure } from "./model-error.ts";
import { addUsage, noUsage, type RequestUsage, type Usage } from "./usage.ts";

/** What a call has used so far, over all its requests. */
export class Spending {
  usage: Usage = noUsage;
  usd = 0;
  text = "";
  readonly toolCalls: ToolCall[] = [];
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  add(usage: RequestUsage): void {
    this.usage = addUsage(this.usage, usage);
    this.usd = roundUsd(this.usd + costOf(this.#model, usage).usd);
  }

  get priceKnown(): Cost["priceKnown"] {
    return costOf(this.#model, this.usage).priceKnown;
  }

  soFar(): SpentOnFailure {
    return { usage: this.usage, costUsd: this.usd, text: this.text, toolCalls: this.toolCalls };
  }
}
