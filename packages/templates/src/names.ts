export const templateNames = ["hello", "invoice", "approval", "webhook", "report", "chain"] as const;
export type TemplateName = (typeof templateNames)[number];
