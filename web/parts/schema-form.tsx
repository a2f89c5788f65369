import { useId, useMemo, useState } from "preact/hooks";
import type { JsonObject } from "../../src/base/json.ts";

/** A tool's arguments as a form made from its schema, or as JSON. */
export function SchemaForm(props: {
  readonly schema: JsonObject;
  /** Of the button. */
  readonly label?: string;
  readonly isBusy: boolean;
  readonly submit: (args: JsonObject) => void;
}) {
  const fields = useMemo(() => fieldsOf(props.schema), [props.schema]);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [json, setJson] = useState<string>();
  const [fault, setFault] = useState("");

  function submit(event: Event): void {
    event.preventDefault();
    try {
      const args = json === undefined ? read(fields, values) : parseObject(json);
      setFault("");
      props.submit(args);
    } catch (problem) {
      setFault(problem instanceof Error ? problem.message : String(problem));
    }
  }

  function toggle(): void {
    if (json !== undefined) {
      setJson(undefined);
      return;
    }
    try {
      setJson(JSON.stringify(read(fields, values, true), null, 2));
    } catch {
      setJson("{}");
    }
  }

  return (
    <form class="stack" onSubmit={submit}>
      {json === undefined ? (
        <Fields
          fields={fields}
          values={values}
          change={(path, value) => setValues({ ...values, [path]: value })}
        />
      ) : (
        <label class="field">
          Arguments as JSON
          <textarea
            rows={8}
            spellcheck={false}
            value={json}
            onInput={(event) => setJson(event.currentTarget.value)}
          />
        </label>
      )}
      {json === undefined && fields.length === 0 && (
        <p class="soft">This tool takes no arguments.</p>
      )}
      {fault !== "" && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={props.isBusy}>
          {props.label ?? "Call"}
        </button>
        <button type="button" class="plain" onClick={toggle}>
          {json === undefined ? "Edit as JSON" : "Back to the form"}
        </button>
      </div>
    </form>
  );
}

interface FormField {
  readonly name: string;
  /** The names from the outermost object to this one. */
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly options: readonly Option[] | undefined;
  readonly example: string;
  /** Of an object with known properties. */
  readonly inner: readonly FormField[] | undefined;
}

/** Deeper objects are written as JSON. */
const depthMax = 2;

/** In their author's order. */
function fieldsOf(
  { properties, required }: JsonObject,
  path: readonly string[] = [],
): readonly FormField[] {
  const names = new Set(Array.isArray(required) ? required.map(String) : []);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const schema = isObject(given) ? given : {};
    const own = [...path, name];
    const inner = own.length <= depthMax && schema.type === "object" ? fieldsOf(schema, own) : [];
    return {
      name,
      path: own.join("."),
      type: typeOf(schema),
      description: typeof schema.description === "string" ? schema.description : "",
      isRequired: names.has(name),
      options: optionsOf(schema),
      example: schema.default === undefined ? "" : String(JSON.stringify(schema.default)),
      inner: inner.length > 0 ? inner : undefined,
    };
  });
}

interface Option {
  readonly value: unknown;
  readonly title: string;
}

/** `enum`, with names for people if there are any, or constants with titles. */
function optionsOf({ enum: values, enumNames, oneOf }: JsonObject): readonly Option[] | undefined {
  if (Array.isArray(values)) {
    const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value, title: String(titles[at] ?? value) }));
  }
  if (!Array.isArray(oneOf) || !oneOf.every((one) => isObject(one) && "const" in one))
    return undefined;
  return oneOf.map((one: JsonObject) => ({
    value: one.const,
    title: String(one.title ?? one.const),
  }));
}

function typeOf({ type, items }: JsonObject): string {
  const given = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  if (given === "array" && isObject(items) && items.type === "string") return "texts";
  return typeof given === "string" ? given : "any";
}

/** As people call them. */
const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  texts: "texts, one per line",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  array: "list as JSON",
  object: "object as JSON",
};

function nameOf({ options, type }: FormField): string {
  return options ? "choice" : (typeNames[type] ?? "JSON");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface FieldsProps {
  readonly fields: readonly FormField[];
  /** By path, as they are typed. */
  readonly values: Readonly<Record<string, string>>;
  readonly change: (path: string, value: string) => void;
}

function Fields({ fields, values, change }: FieldsProps) {
  return (
    <>
      {fields.map((field) =>
        field.inner ? (
          <fieldset key={field.path} class="fields">
            <legend>{field.name}</legend>
            {field.description !== "" && <p class="faint small">{field.description}</p>}
            <Fields fields={field.inner} values={values} change={change} />
          </fieldset>
        ) : (
          <FieldInput
            key={field.path}
            field={field}
            value={values[field.path] ?? ""}
            change={(value) => change(field.path, value)}
          />
        ),
      )}
    </>
  );
}

function FieldInput(props: {
  readonly field: FormField;
  readonly value: string;
  readonly change: (value: string) => void;
}) {
  const { field, value, change } = props;
  const id = useId();
  const note = useId();
  const common = {
    id,
    "aria-describedby": note,
    // An object that may be left out has no part that must be there.
    required: field.isRequired && !field.path.includes("."),
    value,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change(event.currentTarget.value),
  };
  return (
    <div class="field">
      <div class="row spread">
        <label for={id}>
          {field.name}
          {field.isRequired && <span class="faint"> required</span>}
        </label>
        <small>{nameOf(field)}</small>
      </div>
      <Input field={field} common={common} />
      <small id={note}>{field.description}</small>
    </div>
  );
}

const yesOrNo: readonly Option[] = [true, false].map((value) => ({ value, title: String(value) }));

function Input({ field, common }: { readonly field: FormField; readonly common: object }) {
  const { type, options, example } = field;
  const choices = options ?? (type === "boolean" ? yesOrNo : undefined);
  if (choices)
    return (
      <select {...common}>
        <option value="">{example === "" ? "–" : `default: ${example}`}</option>
        {choices.map(({ value, title }) => (
          <option key={title} value={JSON.stringify(value)}>
            {title}
          </option>
        ))}
      </select>
    );
  if (type === "number" || type === "integer")
    return (
      <input
        type="number"
        step={type === "integer" ? 1 : "any"}
        placeholder={example}
        {...common}
      />
    );
  if (type === "string" || type === "texts")
    return <textarea rows={1} class="growing" placeholder={example} {...common} />;
  return <textarea rows={3} spellcheck={false} placeholder={example || "JSON"} {...common} />;
}

/** Throws for a value that cannot be read. */
function read(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
  isDraft = false,
): JsonObject {
  const entries = fields.flatMap((field): readonly [string, unknown][] => {
    const { name, inner, isRequired } = field;
    if (inner) {
      const isGiven = isRequired || inner.some((part) => hasValue(part, values));
      return isGiven ? [[name, read(inner, values, isDraft)]] : [];
    }
    const text = values[field.path] ?? "";
    return text === "" && (isDraft || !isRequired) ? [] : [[name, readValue(field, text)]];
  });
  return Object.fromEntries(entries);
}

function hasValue({ path, inner }: FormField, values: Readonly<Record<string, string>>): boolean {
  return inner ? inner.some((part) => hasValue(part, values)) : (values[path] ?? "") !== "";
}

function readValue({ name, type, options }: FormField, text: string): unknown {
  if (type === "string" && !options) return text;
  // A pasted list is taken as one.
  if (type === "texts" && !/^\s*\[/.test(text)) return text.split("\n").filter(Boolean);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be ${typeNames[type] ?? "JSON"}`);
  }
}

function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isObject(value)) return value;
  throw new Error("the arguments must be an object");
}
