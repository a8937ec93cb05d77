import type { ComponentType } from "react";
import { lazyComponent } from "../../parts/states.tsx";

/**
 * Loads a component that generates forms from the JSON schema of workflow files. The browser loads the schema
 * when the user opens the first form.
 */
export function lazyForm<Props extends { schema: string }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Omit<Props, "schema">> {
  return lazyComponent(async () => {
    const [Form, { default: workflowSchema }] = await Promise.all([load(), import("@nova/workflow/schema")]);
    const schema = JSON.stringify(workflowSchema);
    return (props: Omit<Props, "schema">) => <Form {...({ ...props, schema } as Props)} />;
  });
}
