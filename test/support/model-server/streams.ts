type Json = Record<string, unknown>;

/** Splits an answer of the Responses API into server-sent events. */
export function responsesEvents(body: Json): string[] {
  const output = body.output as Json[];
  const open = { ...body, status: "in_progress", output: [], usage: null };
  const ending = { completed: "response.completed", incomplete: "response.incomplete", failed: "response.failed" };
  const events = [
    { type: "response.created", response: open },
    ...output.flatMap((item, index) => itemEvents(item, index)),
    { type: ending[body.status as keyof typeof ending], response: body },
  ];
  return events.map((event, sequence_number) => {
    return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`;
  });
}

function itemEvents(item: Json, output_index: number): (Json & { type: string })[] {
  const part = (item.content as Json[] | undefined)?.[0];
  if (part?.type !== "output_text") {
    return [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ];
  }
  const at = { output_index, content_index: 0, item_id: item.id };
  return [
    { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...pieces(String(part.text)).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index, item },
  ];
}

/** Splits an answer of Chat Completions into server-sent events. */
export function chatEvents(body: Json): string[] {
  const [{ message, finish_reason }] = body.choices as [{ message: Json; finish_reason: string }];
  const chunk = (delta: Json, reason: string | null = null) => ({
    ...body,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
    usage: null,
  });
  const calls = (message.tool_calls as Json[] | undefined)?.map((call, index) => ({ index, ...call }));
  const chunks = [
    chunk({ role: "assistant", ...(message.refusal ? { refusal: message.refusal } : {}) }),
    ...pieces(String(message.content ?? "")).map((content) => chunk({ content })),
    ...(calls ? [chunk({ tool_calls: calls })] : []),
    chunk({}, finish_reason),
    { ...body, object: "chat.completion.chunk", choices: [] },
  ];
  return [...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), "data: [DONE]\n\n"];
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,20}/g) ?? [];
}
