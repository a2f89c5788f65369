import { isObject, type JsonObject } from "./json.ts";

/**
 * The next step after a result or a failure, as data. Each surface (MCP, CLI, terminal client, REST)
 * words it for its own readers; nothing parses a sentence to find out what to do.
 */
export type Advice =
  /** A person answers the waiting call. Its token is not for models: it is shown where people answer. */
  | { readonly do: "approve"; readonly tool: string; readonly withinSeconds: number }
  | { readonly do: "trust"; readonly tool: string }
  /** A person reviews a server's program and tools; without a server, all that changed. */
  | { readonly do: "verify"; readonly server?: string }
  | { readonly do: "login"; readonly server: string }
  | {
      readonly do: "call-tool";
      readonly tool: string;
      readonly arguments: JsonObject;
      /** The reader sees the tool itself in its list, and not `call_tool`. */
      readonly isListed?: true;
    }
  /** A step of the workflow: `plan` is the tool `speckit.plan` and the command `spec run plan`. */
  | { readonly do: "run-step"; readonly step: string; readonly arguments?: JsonObject }
  | { readonly do: "set-variable"; readonly name: string }
  /** Without a file, the project's or the user's own. */
  | {
      readonly do: "edit-config";
      readonly field: string;
      readonly file?: string;
      /** The value to set, as JSON. */
      readonly value?: unknown;
    }
  | { readonly do: "retry-after"; readonly seconds: number }
  /** A guildhall command without its program name: `status`, `groups list`. */
  | {
      readonly do: "run-command";
      readonly command: string;
      /** The person who can do the same on the hall's page, because it is their own login or secret. */
      readonly person?: string;
    };

/** The advice as one line for a model: tools by their MCP names, commands for its user. */
export function adviceForModel(next: readonly Advice[]): string {
  return next.map(modelSentence).join(" ");
}

function modelSentence(advice: Advice): string {
  switch (advice.do) {
    case "approve":
      return `The user can answer with \`guildhall approvals\` within ${advice.withinSeconds} s; then call again.`;
    case "call-tool":
      return advice.isListed
        ? `Call ${advice.tool} with ${JSON.stringify(advice.arguments)}.`
        : `Call call_tool with ${JSON.stringify({ name: advice.tool, arguments: advice.arguments })}.`;
    case "run-step":
      return advice.arguments === undefined
        ? `Call speckit.${advice.step}.`
        : `Call speckit.${advice.step} with ${JSON.stringify(advice.arguments)}.`;
    case "set-variable":
      return `The user must set the environment variable ${advice.name}.`;
    case "edit-config":
      return `The user can set ${settingOf(advice)} in ${advice.file ?? "the config"}.`;
    case "retry-after":
      return `Retry in ${advice.seconds} s.`;
    default:
      return `The user can run \`guildhall ${adviceCommand(advice)}\`.`;
  }
}

/** The field as the config writes it, with the value if the advice has one. */
export function settingOf({ field, value }: Extract<Advice, { do: "edit-config" }>): string {
  return value === undefined ? `"${field}"` : `"${field}": ${JSON.stringify(value)}`;
}

/** The command line, without the program's name, for advice that a person follows in a shell. */
export function adviceCommand(advice: CommandAdvice): string {
  switch (advice.do) {
    case "approve":
      return "approvals";
    case "trust":
      return `trust ${advice.tool}`;
    case "verify":
      return advice.server === undefined ? "verify" : `verify ${advice.server}`;
    case "login":
      return `login ${advice.server}`;
    case "run-command":
      return advice.command;
  }
}

export type CommandAdvice = Extract<
  Advice,
  { readonly do: "approve" | "trust" | "verify" | "login" | "run-command" }
>;

/** A content item that only a model should read; our own screens word the advice themselves. */
export function contentForModel(text: string): {
  type: "text";
  text: string;
  annotations: JsonObject;
} {
  return { type: "text", text, annotations: { audience: ["assistant"] } };
}

export function isForPeople({ annotations }: JsonObject): boolean {
  const audience = isObject(annotations) ? annotations.audience : undefined;
  return !Array.isArray(audience) || audience.includes("user");
}

/** Advice that came over the wire from a hall of ours. */
export function readAdvice(value: unknown): readonly Advice[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item) => isObject(item) && typeof item.do === "string") as Advice[];
}
