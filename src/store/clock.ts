// The time as the system fields write it: local time of the server, YYYY-MM-DD HH:MM:SS (spec 2.2).

/** `YYYY-MM-DD HH:MM:SS` of now, in the time zone of the process (environment variable TZ). */
export function now(date: Date = new Date()): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
