/** `email.attachments.0.name`: keys of objects and numbers of lists, none empty, no braces, no blanks at their ends. */
export const dotPathPattern = /^[^\s.{}]+( +[^\s.{}]+)*(\.[^\s.{}]+( +[^\s.{}]+)*)*$/;
