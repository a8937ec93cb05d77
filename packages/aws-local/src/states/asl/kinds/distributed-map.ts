import { isObject, type Json } from "../../../json.ts";
import { History } from "../../history.ts";
import type { Definition } from "../definition.ts";
import { assertWithinDataLimit, runtimeFailure, StateFailure } from "../failure.ts";
import type { ObjectPlace } from "../host.ts";
import { compileTemplateField } from "../payload-template.ts";
import { enter, type State, type StateMachine, type Visit } from "../state.ts";
import { type Run, raceAbort, Thread } from "../thread.ts";
import { runConcurrently } from "../together.ts";
import { compileWork } from "../work-state.ts";
import { compileConcurrency, compileItems } from "./map.ts";

/** Step Functions' limit for the items of one Map Run that run at the same time. */
const MAX_CONCURRENT = 10_000;

const LABEL = /^[^\s?*<>{}[\]:;,\\|^~$#%&`"\p{Cc}/]{1,40}$/u;

/**
 * Compiles a Map that runs each item as an execution of its own, as AWS's distributed mode does. Each of these
 * executions has its own limit of events. Its events are not stored, and are not in the history of the execution with
 * the Map.
 */
export function compileDistributedMap(name: string, definition: Definition, processor: StateMachine): State {
  const label = compileLabel(name, definition);
  const reader = compileItemReader(definition);
  const readItems = compileItems(definition);
  const width = compileConcurrency(definition, MAX_CONCURRENT);
  const select = compileTemplateField(definition, "ItemSelector");

  async function attempt(input: Json, visit: Visit): Promise<Json> {
    const { thread } = visit;
    const inState = reader ? undefined : readItems(input, visit);
    const length = inState?.length ?? 0;
    thread.record("MapStateStarted", { length });
    const { host, executionArn } = thread.run;
    const home = executionArn.replace(/:execution:([^:]+):.*/, ":mapRun:$1");
    thread.record("MapRunStarted", { mapRunArn: `${home}/${label}:${host.uuid()}` });
    const outputs = await recordMapRunEnd(thread, async () => {
      const items = inState ?? (await reader?.(input, visit)) ?? [];
      const inputOf = (index: number): Json => {
        const value = items[index] as Json;
        return select ? select(visit.scope(input, { Item: { Index: index, Value: value } })) : value;
      };
      return runItems(thread, items.length, inputOf);
    });
    thread.record("MapRunSucceeded");
    thread.note("MapStateSucceeded");
    return outputs;
  }

  function runItems(thread: Thread, count: number, inputOf: (index: number) => Json): Promise<Json[]> {
    return runConcurrently(thread, count, width, async (index, _previous, signal) => {
      try {
        const input = inputOf(index);
        assertWithinDataLimit(JSON.stringify(input), name);
        const output = await enter(processor, input, childThread(thread.run, signal));
        return { output, lastEventId: 0 };
      } catch (error) {
        throw error instanceof StateFailure ? tooManyFailures() : error;
      }
    });
  }

  return compileWork(name, definition, { type: "Map", attempt });
}

/** Runs `mapRun`, and records its end if it fails or is aborted. */
async function recordMapRunEnd<T>(thread: Thread, mapRun: () => Promise<T>): Promise<T> {
  try {
    return await mapRun();
  } catch (failure) {
    if (failure instanceof StateFailure) {
      const { error, details: cause } = failure;
      thread.record("MapRunFailed", { error, cause });
    } else if (thread.signal.aborted) thread.note("MapRunAborted");
    throw failure;
  }
}

function tooManyFailures(): StateFailure {
  return new StateFailure(
    "States.ExceedToleratedFailureThreshold",
    "The specified tolerated failure threshold was exceeded",
  );
}

/**
 * Reads the Label of the Map. If the Map has none, makes a label from the state's name. Step Functions makes up a
 * label, too.
 */
function compileLabel(name: string, definition: Definition): string {
  const label = definition.optionalText("Label");
  if (label === undefined) return name.replace(/[^\w-]/g, "").slice(0, 40);
  if (LABEL.test(label)) return label;
  throw definition.reject("Label", "must have 1 to 40 characters, none of them a space, a wildcard or a bracket");
}

const GET_OBJECT = /^arn:aws[\w-]*:states:::s3:getObject$/;

/** Reads a list that is too large for a state. @throws StateFailure "States.ItemReaderFailed" */
type ItemReader = (input: Json, visit: Visit) => Promise<Json[]>;

/**
 * Compiles an `ItemReader`, which reads a JSON list from S3; undefined if the Map has none, because its items are in
 * the input.
 */
function compileItemReader(definition: Definition): ItemReader | undefined {
  definition.atMostOne("ItemReader", "ItemsPath");
  if (!definition.has("ItemReader")) return undefined;
  const reader = definition.child("ItemReader");
  reader.allowOnly(new Set(["Resource", "ReaderConfig", "Parameters"]));
  if (!GET_OBJECT.test(reader.text("Resource"))) {
    throw reader.reject("Resource", "is not supported locally: use arn:aws:states:::s3:getObject");
  }
  const config = reader.child("ReaderConfig");
  config.allowOnly(new Set(["InputType"]));
  if (config.text("InputType") !== "JSON") throw config.reject("InputType", "is not supported locally: use JSON");
  const parameters = compileTemplateField(reader, "Parameters");
  if (!parameters) throw reader.reject("Parameters", "is required");
  return async (input, visit) => {
    const place = readObjectPlace(parameters(visit.scope(input)));
    const { run, signal } = visit.thread;
    const reading = run.host.readJson(place, signal).catch((cause: Error) => readerFailure(cause.message));
    const items = await raceAbort(reading, signal);
    return Array.isArray(items) ? items : readerFailure("The JSON file must hold a list.");
  };
}

function readObjectPlace(parameters: Json): ObjectPlace {
  const { Bucket, Key } = isObject(parameters) ? parameters : {};
  if (typeof Bucket === "string" && typeof Key === "string") return { bucket: Bucket, key: Key };
  throw runtimeFailure("The Parameters of an ItemReader must give Bucket and Key as strings.");
}

function readerFailure(cause: string): never {
  throw new StateFailure("States.ItemReaderFailed", cause);
}

/**
 * Creates the thread in which an item's execution runs. The thread uses the host of the execution with the Map, so the
 * journal of that execution restores both.
 */
function childThread(run: Run, signal: AbortSignal): Thread {
  const { host } = run;
  // Draws a UUID and does not use it. AWS would use one as the name of the item's execution, but no history shows this
  // name. Without this draw, a restored execution would compute other task tokens for its items than those in its
  // journal.
  host.uuid();
  const history = new History(host.now, () => undefined);
  return new Thread({ ...run, history }, signal, history.recordEnd(0, "ExecutionStarted"));
}
