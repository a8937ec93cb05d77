import { randomUUID } from "node:crypto";
import { constraint } from "../../aws-http/aws-error.ts";
import { accountId, region } from "../../aws-http/request.ts";
import { isJson, isObject, type JsonObject } from "../../json.ts";
import { type EventOperations, type EventService, inputOf, readBus, rulesOf } from "../service.ts";

/** The limits of one request (EventBridge, "PutEvents"). */
const maxEntries = 10;
const maxBytes = 1024 * 1024;
const maxType = 128;

/** The error for one entry of the request. EventBridge accepts the other entries all the same. */
interface EntryError {
  ErrorCode: "InvalidArgument" | "MalformedDetail" | "NotAuthorizedForSourceException";
  ErrorMessage: string;
}

export const putEvents: EventOperations[string] = (service, request) => {
  const entries = (request.list("Entries") ?? []).filter(isObject) as JsonObject[];
  if (entries.length < 1 || entries.length > maxEntries) {
    throw constraint("entries", `[${entries.length} entries]`, `must have length between 1 and ${maxEntries}`);
  }
  const bytes = entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
  if (bytes > maxBytes) {
    throw constraint("entries", `[${bytes} bytes]`, "must have a total size of less than 1MB");
  }
  const results = entries.map((entry) => putEntry(service, entry));
  return { FailedEntryCount: results.filter((result) => "ErrorCode" in result).length, Entries: results };
};

function entryBytes({ Time, Source = "", DetailType = "", Detail = "", Resources = [] }: JsonObject): number {
  const texts = [Source, DetailType, Detail, ...(Array.isArray(Resources) ? Resources : [])].map(String);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), Time === undefined ? 0 : 14);
}

function putEntry(service: EventService, entry: JsonObject): EntryError | { EventId: string } {
  const problem = problemOf(entry);
  if (problem) return problem;
  const bus = readBus(service, entry.EventBusName === undefined ? undefined : String(entry.EventBusName));
  const at = new Date(typeof entry.Time === "number" ? entry.Time * 1000 : service.now());
  const head = {
    version: "0",
    id: randomUUID(),
    "detail-type": String(entry.DetailType),
    source: String(entry.Source),
    account: accountId,
    time: at.toISOString().replace(/\.\d+/, ""),
    region,
    resources: Array.isArray(entry.Resources) ? entry.Resources.map(String) : [],
  };
  // Appends the detail as the sender wrote it: parsing it would change numbers with many digits.
  deliverEvent(service, bus, `${JSON.stringify(head).slice(0, -1)},"detail":${entry.Detail}}`);
  return { EventId: head.id };
}

function problemOf({ Source, DetailType, Detail }: JsonObject): EntryError | undefined {
  const missing = Object.entries({ Source, DetailType, Detail }).find(([, text]) => typeof text !== "string" || !text);
  if (missing)
    return invalidArgument(`Parameter ${missing[0]} is not valid. Reason: ${missing[0]} is a required argument.`);
  if (String(DetailType).length > maxType) {
    return invalidArgument(`Parameter DetailType is not valid. Reason: it has more than ${maxType} characters.`);
  }
  if (String(Source).startsWith("aws.")) {
    const ErrorMessage = `Not authorized for the source ${Source}: sources that begin with aws. are AWS's.`;
    return { ErrorCode: "NotAuthorizedForSourceException", ErrorMessage };
  }
  return isJson(String(Detail)) && isObject(JSON.parse(String(Detail)))
    ? undefined
    : { ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed." };
}

function invalidArgument(ErrorMessage: string): EntryError {
  return { ErrorCode: "InvalidArgument", ErrorMessage };
}

function deliverEvent(service: EventService, bus: string, text: string): void {
  const event = JSON.parse(text) as JsonObject;
  for (const { functionArn, inTurn = false, ...rule } of service.standing) {
    if (bus !== service.customBus || !service.patterns.matches(rule.pattern, event)) continue;
    service.deliveries.add({ functionArn, payload: text, inTurn });
  }
  for (const rule of rulesOf(service, bus)) {
    if (rule.state === "DISABLED" || !service.patterns.matches(JSON.parse(rule.pattern), event)) continue;
    for (const target of rule.targets) {
      service.deliveries.add({ functionArn: target.Arn, payload: inputOf(target, text), inTurn: false });
    }
  }
}
