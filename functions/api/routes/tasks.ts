import type { Voting as EngineVoting, TaskContents, WaitingTask } from "@nova/engine";
import * as service from "@nova/service";
import { defined, isMailAddress } from "@nova/workflow";
import { z } from "zod";
import type { Received } from "../http/event.ts";
import { readBody } from "../http/read-body.ts";
import { type Answer, type Asked, type Route, route } from "../http/route.ts";
import { listRoute } from "../schemas/list.ts";
import * as values from "../schemas/values.ts";

const Approvers = values.named("Approvers", {
  any: z.array(z.string()).describe("mail addresses, `role:<name>` and `group:<name>`"),
  count: z.int().describe("how many different people must make the same choice"),
  not: z.array(z.string()).describe("`starter`, and nodes whose voters are excluded"),
});

const TaskItem = values.named("Task", {
  task_id: values.TaskId,
  execution_id: values.ExecutionId,
  workflow: values.WorkflowId,
  version: values.VersionNumber,
  client: values.Slug,
  node: z.string(),
  message: z.string(),
  choices: z.array(z.string()),
  to: z.array(z.string()),
  approvers: Approvers.optional().describe("absent: any runner key may answer"),
  form: z.looseObject({}).nullable().describe("JSON schema of the data that comes with an answer"),
  forms: z.record(z.string(), z.looseObject({})).nullable().describe("forms of choices that replace `form`"),
  pattern: z.looseObject({}).nullable().describe("pattern of the event, bound to the run"),
  created_at: values.Time,
  expires_at: values.Time,
  status: z.enum(["open", "answered", "expired"]).describe("lists have only `open` tasks"),
  answered_at: values.Time.nullable(),
  mail: z
    .object({ to: z.array(z.string()), at: values.Time, problem: z.string().nullable() })
    .nullable()
    .describe("result of the mail to the addresses in `to`; null: NOVA tried none"),
});

const Via = z
  .object({ kind: z.enum(["jwt", "key", "mail"]), issuer: z.string().optional(), key: z.string().optional() })
  .meta({
    id: "Via",
    description:
      "how NOVA has proved the identity: a token of the issuer, an API key, or a mailed link. The key of a link is `link_` and the SHA-256 of its token",
  });

const Voting = values.named("Voting", {
  votes: z
    .array(
      z.object({
        by: z.string(),
        choice: z.string(),
        at: values.Time,
        via: Via,
        claimed: z.string().nullable().describe("the name that the body of the request claimed"),
      }),
    )
    .describe("the votes that count, oldest first"),
  delegations: z.array(z.object({ by: z.string(), to: z.string(), at: values.Time })),
  missing: z
    .array(z.object({ choice: z.string(), count: z.int() }))
    .describe("how many further people must make each choice"),
  caller: z.string().nullable().describe("the name of the caller, as NOVA has proved it; null: none"),
  refusal: z.string().nullable().describe("why the caller may not vote and not delegate; null: the caller may"),
  withdrawal_refusal: z
    .string()
    .nullable()
    .describe("why the caller has nothing to withdraw; null: the caller may withdraw"),
});

const WholeTask = TaskItem.extend({
  voting: Voting.optional().describe("absent: the approval has no approvers"),
  scope: z.string().describe("scope of its branch; empty: the main line"),
  seq: z.int().describe("number of the entry that its outcome gets"),
  named: z
    .array(z.object({ path: z.string(), value: z.unknown() }))
    .nullable()
    .describe(
      "the values that the message names, as the node found them: secrets masked, large ones references; null: erased",
    ),
  outcome: z
    .object({
      choice: z.string().nullable().describe("null for an event"),
      by: z.string().nullable().describe("null for an event, or after the deadline"),
      at: values.Time,
      data: z.unknown().describe("data of the answer, or the event"),
    })
    .nullable()
    .describe("the answer or event; null: none yet, or erased"),
}).meta({ id: "WholeTask" });

const TaskAnswer = z.strictObject({
  choice: z.string().min(1).max(200),
  data: values.ExactValue.optional().describe("data for the form"),
  by: values.Name.optional().describe(
    "name of the person who answers; absent: the name of the key. With approvers NOVA proves who answers, and stores this as `claimed`",
  ),
});

type TaskAnswer = z.infer<typeof TaskAnswer>;

const AnsweredTask = values.named("AnsweredTask", {
  task_id: values.TaskId,
  execution_id: values.ExecutionId,
  node: z.string(),
  choice: z.string(),
  at: values.Time,
  sent: z
    .boolean()
    .describe(
      "false: kept, and handed to Step Functions by the next sweep; of a resume link, until its wait begins; of a vote, until enough people agree",
    ),
  missing: z
    .int()
    .optional()
    .describe("of a vote: how many further people must make this choice; 0: the vote has decided"),
});

const ChangedVote = values.named("ChangedVote", {
  task_id: values.TaskId,
  execution_id: values.ExecutionId,
  node: z.string(),
  at: values.Time,
});

function taskItem(task: WaitingTask) {
  return values.viewOf(TaskItem, task, shownOf(task));
}

function wholeTask({ voting, ...task }: WaitingTask & TaskContents & { voting: EngineVoting | null }) {
  const { choice = null, by = null, data = null, ...outcome } = task.outcome ?? {};
  return values.viewOf(WholeTask, task, {
    ...shownOf(task),
    outcome: task.outcome && { choice, by, ...outcome, data },
    ...(voting && { voting: shownVoting(voting) }),
  });
}

function shownVoting({ standing, delegations, missing, caller, refusal, withdrawalRefusal }: EngineVoting) {
  const votes = standing.map(({ by: { name, via }, choice, at, claimed = null }) => ({
    by: name,
    choice,
    at,
    via,
    claimed,
  }));
  const shown = delegations.map(({ by, to, at }) => ({ by: by.name, to, at }));
  return { votes, delegations: shown, missing, caller, refusal, withdrawal_refusal: withdrawalRefusal };
}

function shownOf({ id, execution, workflowId, pattern, form, forms, mail, status }: WaitingTask) {
  return {
    task_id: id,
    execution_id: execution,
    workflow: workflowId,
    pattern: pattern === undefined ? null : values.exactJson(pattern),
    form: form === undefined ? null : values.exactJson(form),
    forms: forms
      ? Object.fromEntries(Object.entries(forms).map(([choice, own]) => [choice, values.exactJson(own)]))
      : null,
    status: status === "sent" ? ("answered" as const) : status,
    mail: mail && { ...mail, problem: mail.problem ?? null },
  };
}

const answers = {
  200: { description: "answered", schema: AnsweredTask },
  403: { description: "the approval has approvers, and the caller may not answer it" },
  409: { description: "it no longer waits: answered before, expired, or the run is over; or this person has voted" },
};

export const list = listRoute("/tasks", {
  summary: "Open tasks: approvals that wait for an answer, or waits for an event, oldest first",
  role: "viewer",
  query: {
    kind: z.enum(["approval", "event"]).optional().describe("absent: approvals"),
    mine: values.Flag.optional().describe("only those on which the caller may vote now"),
  },
  item: TaskItem,
  cursor: /^[\dTZ:.-]+#task_[0-9A-Z]{26}$/,
  list: (ports, { by, query, page }) => service.listTasks(ports, by, { ...page, ...query }),
  show: taskItem,
});

export const get = route("GET /tasks/{id}", {
  acceptsLinks: true,
  summary: "A task, open or not, with its question and its outcome",
  role: "viewer",
  params: z.object({ id: values.TaskId }),
  answers: { 200: { description: "the task", schema: WholeTask } },
  handle: async (ports, { by, params: { id } }) => wholeTask(await service.readTask(ports, by, id)),
});

const approval = route("POST /tasks/{id}", {
  acceptsLinks: true,
  summary: "Answer an approval; with the token of a resume link, and without a key, resume a wait with the body",
  role: "runner",
  params: z.object({ id: values.TaskId }),
  query: z.strictObject({
    token: z.string().max(200).optional().describe("token of a resume link: the body is any JSON, or absent"),
  }),
  body: TaskAnswer,
  exact: ["data"],
  answers: {
    ...answers,
    409: { description: `${answers[409].description}; or the link was used before` },
    410: { description: "with a token: the wait or its run is over" },
  },
  handle: (ports, { params: { id }, ...asked }) => answerTask(ports, { task: id }, asked),
});

export const answer: Route = {
  ...approval,
  serve(ports, received, inner) {
    const { token } = received.query;
    return token === undefined ? approval.serve(ports, received, inner) : callResumeLink(ports, received, token);
  },
};

const voteAnswers = {
  200: { description: "stored", schema: ChangedVote },
  403: { description: "the caller may not vote on it" },
  409: { description: "it takes no votes, or the caller has none" },
};

export const withdraw = route("POST /tasks/{id}/withdraw", {
  acceptsLinks: true,
  summary: "Withdraw the caller's vote or delegation, until enough people agree",
  role: "runner",
  params: z.object({ id: values.TaskId }),
  answers: voteAnswers,
  handle: (ports, { by, params: { id }, once }) => once(async () => changedVote(await service.withdraw(ports, by, id))),
});

export const delegate = route("POST /tasks/{id}/delegate", {
  acceptsLinks: true,
  summary: "Let another person vote instead of the caller",
  role: "runner",
  params: z.object({ id: values.TaskId }),
  body: z.strictObject({
    to: z.string().refine(isMailAddress, "must be one address, such as deputy@acme.example.com"),
  }),
  answers: voteAnswers,
  handle: (ports, { by, params: { id }, body: { to }, once }) =>
    once(async () => changedVote(await service.delegate(ports, by, id, to))),
});

function changedVote({ task, at }: service.VoteChange) {
  return { task_id: task.id, execution_id: task.execution, node: task.node, at };
}

export const answerIn = route("POST /executions/{id}/answer", {
  summary: "Answer the approval of a run that `task` names, or the only one that the run has requested so far",
  role: "runner",
  params: z.object({ id: values.ExecutionId }),
  body: TaskAnswer.extend({
    task: values.TaskId.optional().describe(
      "`task_id` of GET /tasks, or of `waits_for` of the execution. Without it, a second approval is refused (409), so that no repeated request answers it",
    ),
    node: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        "narrows the choice to one node: enough while this node has asked once, so not in loops and not in items of maps",
      ),
  }),
  exact: ["data"],
  answers: {
    ...answers,
    409: {
      description: `${answers[409].description}; or the run has requested several: \`detail\` lists the open tasks`,
    },
  },
  handle: (ports, { params: { id }, ...asked }) => {
    const { task, node } = asked.body;
    return answerTask(ports, defined({ execution: id, task, node }), asked);
  },
});

async function answerTask(
  ports: service.ServicePorts,
  name: service.NamedTask,
  { by, body: { choice, data, by: as }, once }: Pick<Asked<unknown, unknown, TaskAnswer>, "by" | "body" | "once">,
) {
  const taskAnswer = { choice, ...(data && { data: data.text }), ...(as !== undefined && { as }) };
  return once(async () => {
    const { task, at, sent, missing } = await service.answer(ports, by, name, taskAnswer);
    const named = { task_id: task.id, execution_id: task.execution, node: task.node };
    return { ...named, choice, at, sent, ...defined({ missing }) };
  });
}

/**
 * Answers a call of a resume link. It checks the token before the body, because the token takes the place of an API
 * key.
 */
async function callResumeLink(ports: service.ServicePorts, received: Received, token: string): Promise<Answer> {
  const link = await service.resumeLink(ports, received.params.id ?? "", token);
  const text = received.text.trim() === "" ? "null" : received.text;
  readBody({ ...received, text }, []);
  const isTaken = await service.resume(ports, link, text);
  const at = link.calledAt ?? new Date(ports.clock.now()).toISOString();
  const named = { task_id: link.id, execution_id: link.execution, node: link.node };
  return { status: 200, body: { ...named, choice: "resumed", at, sent: isTaken } };
}
