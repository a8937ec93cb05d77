import { invalid } from "../errors.ts";
import { tableName } from "../request/common.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answer.ts";

/** Kept, and nothing is deleted: the cloud takes up to two days, so readers must look at the time themselves. */
export function updateTimeToLive(store: Store, input: Input): Answer {
  const name = tableName(input);
  const specification = input.neededStructure("TimeToLiveSpecification");
  const attribute = specification.text("AttributeName", { least: 1, most: 255 });
  const isEnabled = specification.flag("Enabled");
  if (isEnabled === undefined) throw specification.missing("Enabled");
  const { timeToLive, ...table } = store.tables.named(name);
  if (isEnabled === (timeToLive !== undefined)) {
    throw invalid(`TimeToLive is already ${isEnabled ? "enabled" : "disabled"}`);
  }
  if (timeToLive !== undefined && timeToLive !== attribute) {
    throw invalid(`TimeToLive is active on a different AttributeName: current AttributeName is ${timeToLive}`);
  }
  store.tables.save(isEnabled ? { ...table, timeToLive: attribute } : table);
  return { TimeToLiveSpecification: { AttributeName: attribute, Enabled: isEnabled } };
}

export function describeTimeToLive(store: Store, input: Input): Answer {
  const { timeToLive } = store.tables.named(tableName(input));
  const on = { TimeToLiveStatus: "ENABLED", AttributeName: timeToLive };
  return { TimeToLiveDescription: timeToLive === undefined ? { TimeToLiveStatus: "DISABLED" } : on };
}
