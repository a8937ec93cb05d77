import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import { isObject } from "../json/value.ts";
import type { Document } from "../parse/document.ts";
import { brokenGap, templateParts } from "../template/template.ts";
import { secretKeys } from "./fields.ts";

/** NOVA417 and NOVA511: labels whose templates have broken gaps or name a secret input. */
export function* checkLabels({ body, pathOf }: Document): Iterable<Finding> {
  if (!isObject(body.labels)) return;
  const secrets = secretKeys({ inputs: body.inputs });
  for (const [name, template] of Object.entries(body.labels)) {
    if (typeof template !== "string") continue;
    const place = at(pathOf("labels"), name);
    const broken = brokenGap(template);
    if (broken !== undefined) {
      const sentence = `label "${name}" has ${JSON.stringify(broken)}, which is no {{dot.path}} - write such as {{order.id}}`;
      yield finding("NOVA417", place, sentence);
    }
    for (const part of templateParts(template)) {
      if (part.kind !== "path") continue;
      const secret = [...secrets].find((key) => part.path === key || part.path.startsWith(`${key}.`));
      if (secret === undefined) continue;
      const message = `label "${name}" names {{${part.path}}}, but "${secret}" is a secret input and labels are kept in the open - name a value that is not secret`;
      yield finding("NOVA511", place, message);
    }
  }
}
