import type { CodeResult } from "@nova/engine";
import type { RunErrorClass } from "@nova/workflow";
import { z } from "zod";
import { analysisKey } from "../lock/reads.ts";
import type { NodeRun } from "./node-run.ts";

/**
 * Wraps analysis code in a Python program that undoes its changes of `context`. Only the key `analysisKey` remains,
 * with the code's `result` or the last dict that it printed, cut to the size of a prompt, or with its error. The code
 * is embedded as a JSON string, whose escapes are valid in Python.
 */
export function analysisProgram(code: string): string {
  return `${program}\n_nova_look(${JSON.stringify(code.toWellFormed())})\n`;
}

/** Extracts the analysis code from such a program; null for other code. */
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

/** Reads the answer that an analysis program left under its key. Other changes are ignored. */
export function analysisAnswer(result: CodeResult): AnalysisAnswer {
  if (result.status === "error") return { error: result.message, traceback: result.traceback, class: result.class };
  const json = result.set.find(({ key }) => key === analysisKey)?.json;
  if (json === undefined) return { error: "the analysis left no answer", traceback: "", class: "NodeFailed" };
  return Answer.parse(JSON.parse(json));
}

/** Runs analysis code in the node's sandbox without a network. The returned `code` is the code that actually ran. */
export async function runAnalysisCode(
  { means }: Pick<NodeRun, "means">,
  journal: number,
  written: string,
): Promise<{ sandbox_id: string; code: string; logs: string; answer: AnalysisAnswer }> {
  const limits = { timeoutSeconds: analysisSeconds, network: false } as const;
  const { sandboxId, result, code } = await means.execute(journal, analysisProgram(written), limits);
  const ran = extractAnalysis(code) ?? written;
  return { sandbox_id: sandboxId, code: ran, logs: result.logs, answer: analysisAnswer(result) };
}
