/** Whether it is the name of a time zone, as EventBridge Scheduler takes it: no offsets such as `+01:00`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    // A RangeError is how Intl says that it does not know it.
    return false;
  }
}
