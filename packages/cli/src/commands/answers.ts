import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { RawJson } from "@nova/engine";
import { isJson } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { askApi, askApiAndStay } from "../api/ask.ts";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { isObjectText, readJsonFile } from "../input/context.ts";
import { printOutput } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

export const approve = command({
  summary: "answer an approval with any of its choices",
  takes: {
    "<execution_id|task_id>": "the task, as nova tasks lists it, or an execution with one task so far",
    "[node]": "the node of the execution, if several of its nodes have a task; a node with two tasks needs the task id",
    "--choice <choice>": { says: "approved, rejected, or another choice of the approval", needed: true },
    "--data <file.json>": "the values for its form",
    "--as <who>": "the name of the person who answers; absent: the user of this machine",
  },
  async run([id = "", node], { choice, data: file, as: by = userInfo().username, json }) {
    const data = file === undefined ? undefined : new RawJson(await readJsonFile(file, "data"));
    const sent = defined({ choice, by, data });
    await askApiAndStay(async ({ tasks }) => {
      const isTask = id.startsWith("task_");
      const answered = await (isTask ? tasks.answer(id, sent) : tasks.answerIn(id, { ...sent, ...defined({ node }) }));
      const unsent = answered.sent ? "" : "; Step Functions did not accept it yet, the sweeper repeats it";
      const later = answered.missing ? `; ${missingPeople(answered.missing)}` : unsent;
      const text = `${answered.node} of ${answered.execution_id}: ${answered.choice}${later}`;
      printOutput({ json: { ...answered, by }, text }, json);
      return [answered.execution_id];
    });
    return undefined;
  },
});

function missingPeople(count: number): string {
  return count === 1 ? "1 more person has to agree" : `${count} more people have to agree`;
}

const votedTask = { "<task_id>": "the task, as nova tasks --mine lists it" } as const;

export const withdraw = command({
  summary: "withdraw your vote on an approval, or your delegation, until enough people agree",
  takes: votedTask,
  async run([id = ""]) {
    const changed = await askApi(({ tasks }) => tasks.withdraw(id));
    return { json: changed, text: `${changed.node} of ${changed.execution_id}: withdrawn` };
  },
});

export const delegate = command({
  summary: "let another person vote on an approval instead of you",
  takes: { ...votedTask, "--to <mail>": { says: "the mail address of the person", needed: true } },
  async run([id = ""], { to }) {
    const changed = await askApi(({ tasks }) => tasks.delegate(id, to));
    return { json: { ...changed, to }, text: `${changed.node} of ${changed.execution_id}: ${to} votes instead of you` };
  },
});

const eventOptions = {
  "--source <source>": { says: "the source of the event, such as shop.orders", needed: true },
  "--type <type>": { says: "the type of the event, such as OrderPaid", needed: true },
  "--detail <json>": { says: "the details, a JSON object; @file reads it from a file", absent: "{}" },
} as const;

export const emit = command({
  summary: "send an event to the executions that wait for it",
  takes: eventOptions,
  async run(_, { json, ...options }) {
    const body = await bodyOf(options);
    await askApiAndStay(async (nova) => {
      const taken = await nova.ask(nova.api.POST("/events", { body }));
      const lines = taken.items.map(({ execution_id, node }) => `${execution_id}: ${node} received it`);
      const none = 'no execution waits for this event - a wait with "since": "start" may still find it';
      printOutput({ json: taken, text: lines.length === 0 ? none : lines }, json);
      return taken.items.map(({ execution_id }) => execution_id);
    });
    return undefined;
  },
});

async function bodyOf({ source, type, detail }: { source: string; type: string; detail: string }) {
  const text = await readDetail(detail);
  return { source, type, detail: new RawJson(text) as never };
}

export const event = command({
  summary: "put an event on the bus: it starts workflows by their triggers, and reaches waiting executions",
  takes: { "<put>": { says: "what to do", choices: ["put"] }, ...eventOptions },
  async run([asked], { json, ...options }) {
    actionOf("event", ["put"], asked);
    const body = { ...(await bodyOf(options)), on_bus: true };
    // On this machine the process stays until the runs that the event starts are over, unless another process owns the
    // cloud.
    await askApiAndStay(async (nova) => {
      const { event_id } = await nova.ask(nova.api.POST("/events", { body }));
      printOutput({ json: { event_id }, text: event_id }, json);
      return [];
    });
    return undefined;
  },
});

/**
 * Returns the detail of an event as JSON text. The option is a JSON object, or `@` and the name of a file with a JSON
 * object. Throws `InvalidInput`.
 */
export async function readDetail(option: string): Promise<string> {
  const path = option.startsWith("@") ? option.slice(1) : undefined;
  const unread = ({ message }: Error) => `--detail: "${path}" cannot be read (${message}) - correct the path`;
  const text = path === undefined ? option : await readFile(path, "utf8").catch(throwInvalid(unread));
  if (isObjectText(text) && isJson(text)) return text;
  throw new InvalidInput(`--detail ${option} is not a JSON object - write --detail '{"key": "value"}'`);
}
