import { isObject, type JsonObject } from "../base/json.ts";
import { escapeInvisible } from "../base/sanitize.ts";

/** Words in a definition that a person should look at before a model reads them. */
export interface Suspicion {
  /** Why, as a short noun phrase. */
  readonly why: string;
  /** The place, with a little context; invisible characters are written out. */
  readonly excerpt: string;
}

/**
 * Finds typical signs of poisoned definitions: instructions to the model, names of other servers, addresses,
 * and invisible characters. They help the person who reviews, but decide nothing, because no text filter is
 * reliable.
 */
export function findSuspicions(
  definition: JsonObject,
  otherServers: readonly string[] = [],
): readonly Suspicion[] {
  const rules = [...patterns, ...otherServers.map(ruleOfServer)];
  const found = new Map<string, Suspicion>();
  for (const text of textsOf(definition)) {
    for (const { why, pattern } of rules) {
      const match = found.has(why) ? undefined : pattern.exec(text);
      if (match) found.set(why, { why, excerpt: excerptOf(text, match.index, match[0].length) });
    }
  }
  return [...found.values()];
}

interface Rule {
  readonly why: string;
  readonly pattern: RegExp;
}

const order = "an order to the model";
const secrecy = "asks for secrecy";
const data = "asks for secrets or private files";

/** A text may be megabytes long: each takes time in proportion to that, so few runs are without a limit. */
const patterns: readonly Rule[] = [
  {
    why: "invisible characters",
    // Joiners and variation selectors between symbols are part of emoji.
    pattern:
      /(?!\n|\r|\t|\u200c|\u200d|\ufe0e|\ufe0f|\u00ad)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]|(?<=[\w ])(?:\u200c|\u200d)/u,
  },
  {
    why: "tags like a prompt's",
    pattern:
      /<\/?\s*(important|system|instructions?|secret|admin|critical|assistant|user|hidden|override|rules?)\b[^<>]{0,40}>|\[\/?(INST|SYSTEM|IMPORTANT|ADMIN)( (MESSAGE|PROMPT|NOTE|OVERRIDE))?\]|<\|[\w-]+\|>|<!--/i,
  },
  {
    why: order,
    pattern:
      /\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|other|all|any|your|system|safety)\b.{0,30}\b(instructions?|prompts?|rules?|guidelines?|messages?|context|tools?|polic(y|ies)|warnings?|restrictions?)/is,
  },
  {
    why: order,
    pattern:
      /\b(before|after|whenever|every time|each time|when)\b[^.\n]{0,40}\b(any|every|each|all|another|other)\b[^.\n]{0,20}\b(tools?|functions?|answers?|responses?|requests?|messages?|conversations?)\b/i,
  },
  {
    why: order,
    pattern:
      /\b(you are now|act as|pretend (to be|you)|from now on|new instructions?|system prompt|your (real|true|new|hidden|actual) (task|goal|purpose|instructions?|role)|as an? (ai|language) (model|assistant)|dear (ai|assistant|model)|(assistant|model|ai|llm|agent|claude|gpt|chatgpt)s?( must| should always| is required to)|note to (the )?(ai|model|assistant|llm|agent))/i,
  },
  {
    why: order,
    pattern:
      /\b(instead of|rather than)\b[^.\n]{0,30}\b(other|another|any|built-?in|the (official|original|default|usual|real))\b[^.\n]{0,20}\b(tools?|functions?|servers?|one)\b|\b(do not|don't|never)\b[^.\n]{0,20}\b(use|call|trust)\b[^.\n]{0,20}\b(other|any other|the other|another|official)\b|\b(replaces|supersedes|overrides)\b[^.\n]{0,30}\b(tools?|servers?|instructions?)\b/i,
  },
  {
    why: secrecy,
    pattern:
      /\b(do not|don't|never|without|avoid|no need to)\b[^.\n]{0,30}\b(tell(ing)?|mention(ing)?|inform(ing)?|reveal(ing)?|disclos(e|ing)|notify(ing)?|alert(ing)?|ask(ing)?|show(ing)?|explain(ing)?|let(ting)?|warn(ing)?)\b[^.\n]{0,40}\b(user|human|person|anyone|them|him|operator|owner|this|these)\b|\b(secretly|covertly|discreetly)\b|\b(silently|quietly|in the background)\b[^.\n]{0,10}\b(send|forward|call|copy|include|read|add|bcc|append|post|upload|run)\b|\bwithout (the )?(user|their|human)('s)? (knowing|noticing|knowledge|consent)\b|\b(send|forward|call|copy|include|read|add|append|post|upload|run)\b[^.\n]{0,30}\b(silently|quietly)\b|\bkeep (this|it|that) (secret|hidden|confidential|between)/i,
  },
  {
    why: data,
    pattern:
      /(~\/|\$HOME\/|\/home\/|\/root\/)[\w./-]{0,200}\.(ssh|aws|config|env|cursor|claude|gnupg|kube|netrc|npmrc|docker)|\b(id_rsa|id_ed25519|mcp\.json)\b|(?<!\w)(\.env|\/etc\/passwd|\/proc\/self)\b|\b(include|send|append|attach|pass|read|copy|forward|put|provide|paste|add|insert|upload|exfiltrate)\b[^.\n]{0,60}\b(conversation( history)?|chat history|previous messages|system prompt|api[ _-]?keys?|passwords?|credentials?|secrets?|environment variables?|private keys?|access tokens?|session cookies?|ssh keys?)\b[^.\n]{0,40}\b(as|in|into|to|inside|within) (the|this|an?|our)\b(?! word document)/i,
  },
  {
    why: "an address",
    // Links to documentation are common: an address counts where something is sent to it or taken from it.
    pattern:
      /\b(send|post|upload|forward|report|submit|copy|deliver|leak|fetch|load|open|follow|download|execute|run|curl|wget|get|call|contact|ping|render|embed|include)\b[^\n]{0,80}?\b(https?|wss?|ftp):\/\/(?!\S{0,100}(json-schema\.org|w3\.org|localhost|127\.0\.0\.1))\S{4,}|\bhttps?:\/\/(\d{1,3}\.){3}\d{1,3}(?<!127\.0\.0\.1)\b|\bhttps?:\/\/[^\s?&/=]*[?&/=](?:(?!:\/\/)\S){0,2000}(\{|%7b|<)\w*(data|secret|token|key|history|context|result|conversation)|\b(javascript|data):\S{8,}/i,
  },
];

/** Only as `server.tool`, `server__tool` or "the server tool": many servers are called like a common word. */
function ruleOfServer(name: string): Rule {
  const word = name.replace(/[^\w-]/g, "\\$&");
  return {
    why: `names the server "${name}"`,
    pattern: new RegExp(
      `\\b${word}(\\.[a-z]\\w*_\\w+|__\\w+)|\\b${word}('s)? (mcp|server|tools?)\\b|\\b(server|tools? of|tools? from)( the)? ["'\`]?${word}\\b`,
      "i",
    ),
  };
}

/** Where an address is a field's meaning, it is not a message to a model. */
const addressFields = new Set(["$schema", "$id", "$ref", "format", "pattern"]);

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item);
  else if (isObject(value))
    for (const [key, part] of Object.entries(value)) {
      yield key;
      if (!addressFields.has(key)) yield* textsOf(part);
    }
}

const contextMax = 30;

function excerptOf(text: string, at: number, length: number): string {
  const from = Math.max(0, at - contextMax);
  const to = Math.min(text.length, at + Math.min(length, 80) + contextMax);
  const cut = text.slice(from, to).replace(/\s+/g, " ");
  return `${from > 0 ? "…" : ""}${escapeInvisible(cut)}${to < text.length ? "…" : ""}`;
}
