import type { CodeResult, JournalStep } from "@nova/engine";
import type { RunErrorClass } from "@nova/workflow";
import { z } from "zod";
import { done, ended, type Result } from "../failures/failure.ts";
import { analysisKey } from "../lock/ingredients.ts";
import { dataRule, dataSection, pythonRule, WrittenCode, withoutFence } from "../prompts/prompt.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun, StepResult } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys, packagesOf, takeStep } from "./node-run.ts";

const dataInstructions = `You write Python that looks at the data of a workflow step, so that code for its task can be written afterwards. \
The task itself is not done now.
${dataRule}
${pythonRule}
- Its first line is "# STAGE: ANALYSIS".
- The code sets a dict \`result\`: what whoever writes the code must know of form and content, such as type, size, pages, \
columns, encoding, labels found, one or two short excerpts. JSON values, under 4,000 characters in all.
- It only reads: nothing is sent, written or changed. It ends within 15 seconds.`;

/**
 * Lets a model write code that examines the node's data, and runs that code. Returns null if the analysis fails. The
 * model then writes the task's code without the result of an analysis.
 */
export async function analyzeData(run: NodeRun): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", 1, async (journal) => {
    const input_data = inputData(run);
    const { prompt: task } = run.executor;
    const input = dataSection({ packages: packagesOf(run), task, context: contextForModel(run) });
    const asked = await askModel(run, {
      role: "data_analyzer",
      prompt: { instructions: dataInstructions, input },
      answer: { name: "data_analysis", schema: WrittenCode },
      maxOutputTokens: 6_000,
    });
    if ("refusal" in asked) return { ...asked.record, ...asked.refusal, input_data };
    return { ...asked.record, ...(await runAnalysis(run, journal, withoutFence(asked.value.code))), input_data };
  });
  return readAnalysis(run, step);
}

/** Runs analysis code that the code generator sent instead of the task's code. */
export async function followAnalysis(run: NodeRun, attempt: number, code: string): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", attempt, async (journal) => ({
    ...(await runAnalysis(run, journal, code)),
    input_data: inputData(run),
  }));
  return readAnalysis(run, step);
}

function inputData(run: NodeRun): Record<string, unknown> {
  return { context_keys: contextKeys(run), hint: run.executor.prompt, context: contextForRecord(run) };
}

async function runAnalysis(run: NodeRun, journal: number, written: string): Promise<Omit<StepResult, "input_data">> {
  const { answer, code, ...facts } = await runAnalysisCode(run, journal, written);
  const common = { ...facts, generated_code: code };
  if ("result" in answer) return { ...common, status: "success", output_data: answer.result };
  const { error, traceback } = answer;
  return { ...common, status: "failed", output_data: null, error_message: error, traceback };
}

function readAnalysis(run: NodeRun, step: JournalStep): Result<Analysis | null> {
  run.sandboxId = step.sandbox_id ?? run.sandboxId;
  if (step.status === "success")
    return done({ json: JSON.stringify(step.output_data), code: step.generated_code ?? "" });
  if (step.output_data === null) return done(null);
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(null);
}

const InputAnalysis = z.object({ needs_analysis: z.boolean(), complexity: z.enum(["simple", "medium", "complex"]) });
export type InputAnalysis = z.infer<typeof InputAnalysis>;

const instructions = `You decide how one step of a business workflow is approached. Python code will be written for its task.
${dataRule}
needs_analysis: true only where a program has to look into the data before anybody could write that code: documents, \
files, mails, tables or large values whose inner form matters to the task and is not shown. False where names, types and \
samples say enough.
complexity: of the code to be written: "simple", "medium" or "complex".`;

/** This answer replaces an unusable answer of the model, because the task's code may succeed without an analysis. */
const defaultAnalysis: InputAnalysis = { needs_analysis: false, complexity: "medium" };

/** Decides whether the data must be analysed before code is written, and how complex the task is. */
export async function analyzeInput(run: NodeRun): Promise<Result<InputAnalysis>> {
  const { prompt: task } = run.executor;
  const step = await takeStep(run, "InputAnalyzer", 1, async () => {
    const input_data = { task, context_keys: contextKeys(run), context: contextForRecord(run) };
    const asked = await askModel(run, {
      role: "input_analyzer",
      prompt: { instructions, input: dataSection({ task, context: contextForModel(run) }) },
      answer: { name: "input_analysis", schema: InputAnalysis },
      maxOutputTokens: 2_000,
    });
    if ("refusal" in asked) return { ...asked.record, ...asked.refusal, input_data };
    return { ...asked.record, status: "success", input_data, output_data: asked.value };
  });
  if (step.status === "success") return done(InputAnalysis.parse(step.output_data));
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(defaultAnalysis);
}

/**
 * Wraps analysis code in a Python program that undoes the code's changes of `context`. Only the key `analysisKey`
 * remains. It holds the error of the code, or the variable `result`, or the last dict that the code printed, cut to the
 * size of a prompt. The code is embedded as a JSON string, whose escapes are valid in Python.
 */
export function analysisProgram(code: string): string {
  return `${program}\n_nova_look(${JSON.stringify(code.toWellFormed())})\n`;
}

/** Extracts the analysis code from a program that `analysisProgram` built; null for any other code. */
export function extractAnalysis(text: string): string | null {
  const [, source] = /\n_nova_look\(("[^\n]*")\)\n$/.exec(text) ?? [];
  return source === undefined ? null : (JSON.parse(source) as string);
}

const program = `
def _nova_look(source):
    import ast, contextlib, copy, io, linecache, sys, traceback

    def undo():
        dict.clear(context)
        dict.update(context, kept)

    def is_loaded(value):
        return type(value).__name__ != "Unloaded"

    def cut(value, text, items, depth):
        if value is None or isinstance(value, (bool, int)):
            return value if abs(value or 0) < 1 << 63 else str(value)[:text]
        if isinstance(value, float):
            return float(value) if value - value == 0 else str(value)
        if isinstance(value, (bytes, bytearray)):
            return repr(bytes(value)) if len(value) <= 32 else f"<bytes: {len(value)} bytes>"
        if isinstance(value, dict) and depth > 0:
            return {str(key)[:80]: cut(value[key], text, items, depth - 1) for key in list(value)[: items * 2]}
        if isinstance(value, (list, tuple, set, frozenset)) and depth > 0:
            more = [f"<{len(value) - items} more>"] if len(value) > items else []
            return [cut(item, text, items, depth - 1) for item in list(value)[:items]] + more
        shown = str(value).encode("utf-8", "replace").decode()
        return shown if len(shown) <= text else f"{shown[:text]} <{len(shown) - text} more chars>"

    def printed_dict(lines):
        for line in reversed(lines):
            for read in (json.loads, ast.literal_eval):
                with contextlib.suppress(Exception):
                    value = read(line.strip())
                    if isinstance(value, dict) and value:
                        return value
        return None

    class Tee(io.StringIO):
        def write(self, text):
            out.write(text)
            return super().write(text)

    dumps, out, tee = json.dumps, sys.stdout, Tee()
    kept = {key: copy.deepcopy(value) if is_loaded(value) else value for key, value in dict.items(context)}
    names = {"__name__": "__main__", "context": context, "outputs": outputs, "json": json, "base64": base64}
    linecache.cache["analysis.py"] = (len(source), None, source.splitlines(True), "analysis.py")
    answer = {}
    try:
        with contextlib.redirect_stdout(tee):
            try:
                exec(compile(source, "analysis.py", "exec"), names)
            except SystemExit:
                pass
        found = names.get("result")
        if found is None:
            found = printed_dict(tee.getvalue().split("\\n"))
        if isinstance(found, dict) and isinstance(found.get("context_updates"), dict):
            found = found["context_updates"]
        if found is None:
            raise LookupError("the code neither set result nor printed a dict")
        for limits in ((500, 20, 5), (200, 10, 4), (100, 5, 3), (60, 3, 2), (40, 2, 1)):
            answer = {"result": cut(found, *limits)}
            if len(dumps(answer)) <= 5000:
                break
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:1000], "traceback": traceback.format_exc()[-2000:]}
    undo()
    context["${analysisKey}"] = answer
`;

export const analysisSeconds = 15;

export type AnalysisAnswer = { result: unknown } | { error: string; traceback: string; class: RunErrorClass };

const Answer = z.union([
  z.object({ result: z.unknown() }),
  z
    .object({ error: z.string(), traceback: z.string().default("") })
    .transform((failure) => ({ ...failure, class: "NodeFailed" as const })),
]);

/** Reads what an analysis program has stored under `analysisKey`. Ignores all other changes. */
export function analysisAnswer(result: CodeResult): AnalysisAnswer {
  if (result.status === "error") return { error: result.message, traceback: result.traceback, class: result.class };
  const json = result.set.find(({ key }) => key === analysisKey)?.json;
  if (json === undefined) return { error: "the analysis left no answer", traceback: "", class: "NodeFailed" };
  return Answer.parse(JSON.parse(json));
}

/** Runs analysis code in the node's sandbox without a network. The returned `code` is the code that actually ran. */
export async function runAnalysisCode({ means }: Pick<NodeRun, "means">, journal: number, written: string) {
  const limits = { timeoutSeconds: analysisSeconds, network: false } as const;
  const { sandboxId, result, code } = await means.execute(journal, analysisProgram(written), limits);
  const ran = extractAnalysis(code) ?? written;
  return { sandbox_id: sandboxId, code: ran, logs: result.logs, answer: analysisAnswer(result) };
}
