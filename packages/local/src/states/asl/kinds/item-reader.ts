import { isObject, type Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { readerFields } from "../fields.ts";
import type { ObjectPlace } from "../host.ts";
import { compileTemplateField } from "../payload-template.ts";
import type { Visit } from "../state.ts";
import { orAborted } from "../thread.ts";

const GET_OBJECT = /^arn:aws[\w-]*:states:::s3:getObject$/;

/** Where a distributed Map finds a list that no state could carry. */
export interface ItemReader {
  /** @throws StateFailure "States.ItemReaderFailed" */
  read(selected: Json, visit: Visit): Promise<Json[]>;
}

/** `ItemReader` of a JSON list in S3; undefined where the items are in the input. */
export function compileItemReader(definition: Definition): ItemReader | undefined {
  definition.atMostOne("ItemReader", "ItemsPath");
  if (!definition.has("ItemReader")) return undefined;
  const reader = definition.child("ItemReader");
  reader.allowOnly(readerFields);
  if (!GET_OBJECT.test(reader.text("Resource"))) {
    throw reader.reject("Resource", "is not supported locally: use arn:aws:states:::s3:getObject");
  }
  const config = reader.child("ReaderConfig");
  config.allowOnly(new Set(["InputType"]));
  if (config.text("InputType") !== "JSON") throw config.reject("InputType", "is not supported locally: use JSON");
  const parameters = compileTemplateField(reader, "Parameters");
  if (!parameters) throw reader.reject("Parameters", "is required");
  return {
    async read(selected, visit) {
      const place = placeIn(parameters(visit.scope(selected)));
      const { run, signal } = visit.thread;
      const reading = run.host.readJson(place, signal).catch((cause: Error) => failed(cause.message));
      const items = await orAborted(reading, signal);
      return Array.isArray(items) ? items : failed("The JSON file must hold a list.");
    },
  };
}

function placeIn(parameters: Json): ObjectPlace {
  const { Bucket, Key } = isObject(parameters) ? parameters : {};
  if (typeof Bucket === "string" && typeof Key === "string") return { bucket: Bucket, key: Key };
  throw runtimeFailure("The Parameters of an ItemReader must give Bucket and Key as strings.");
}

function failed(cause: string): never {
  throw new StateFailure("States.ItemReaderFailed", cause);
}
