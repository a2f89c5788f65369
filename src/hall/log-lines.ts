import { styleText } from "node:util";
import { isObject, parseObject } from "../base/json.ts";
import type { LogSink } from "../base/log.ts";
import { visible, visibleLines } from "../base/sanitize.ts";

/** Formats the JSON lines of the log for a terminal: `12:04:31 warn  github: not reached yet`. */
export function createLineSink(terminal: LogSink, hasColour: boolean): LogSink {
  return {
    write: (line) => terminal.write(describeLogLine(line, hasColour)),
    get writableLength() {
      return terminal.writableLength ?? 0;
    },
  };
}

const styles = {
  trace: "dim",
  debug: "dim",
  info: "green",
  warn: "yellow",
  error: "red",
  fatal: "red",
} as const;
const valueMax = 200;

/** Escapes control characters. A line that is not a JSON object is shown as it is. */
export function describeLogLine(line: string, hasColour: boolean): string {
  const entry = parseObject(line);
  if (!entry) return `${visibleLines(line.trimEnd())}\n`;
  const { level, time, msg, upstream, err, ...fields } = entry;
  const paint = (style: keyof typeof styles | "dim", text: string): string =>
    hasColour
      ? styleText(style === "dim" ? "dim" : styles[style], text, { validateStream: false })
      : text;
  const name =
    Object.keys(styles).find((known): known is keyof typeof styles => known === level) ?? "info";
  const clock = typeof time === "number" ? `${new Date(time).toTimeString().slice(0, 8)} ` : "";
  const who =
    upstream === undefined || String(msg).startsWith(`${upstream} `)
      ? ""
      : `${visible(String(upstream))}: `;
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${paint("dim", `${visible(key)}=${describeValue(value)}`)}`,
  );
  return `${paint("dim", clock)}${paint(name, name.padEnd(5))} ${who}${visible(String(msg ?? ""))}${describeError(err, name)}${rest.join("")}\n`;
}

/** Stack traces only for errors: warnings were expected. */
function describeError(err: unknown, level: string): string {
  if (err === undefined) return "";
  if (!isObject(err)) return `: ${visible(String(err))}`;
  const { message, stack } = err;
  return level === "error" && typeof stack === "string"
    ? `\n${visibleLines(stack)}`
    : `: ${visible(String(message ?? JSON.stringify(err)))}`;
}

/** A state is shown as its kind and reason. */
function describeValue(value: unknown): string {
  const { kind, reason } = isObject(value) ? value : {};
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof kind === "string")
    text = `${kind}${reason === undefined ? "" : ` (${String(reason)})`}`;
  return visible(text.length > valueMax ? `${text.slice(0, valueMax)}…` : text);
}
