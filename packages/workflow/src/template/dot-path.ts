/**
 * `email.attachments.0.name`: keys of objects and numbers of lists, none empty, no blanks at their ends; and nothing that
 * looks like an expression, because none would be computed.
 */
export const dotPathPattern = /^[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*(\.[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*)*$/;
