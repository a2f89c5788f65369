import { percentile } from "../figures.mjs";
import { acceptedAt, isRight, mayBeLeftOut } from "./judge.mjs";
import { cpuMs } from "./time.mjs";

/** How well the arguments of the right function are filled: whole tasks, values by type and by certainty, and how long it takes. */
export function measureFilling(tasks, { fill, consider, readTask }) {
  const seen = { tasks: 0, required: 0, whole: 0, reachable: 0, sure: 0, sureRight: 0 };
  const [types, certainties, times] = [new Map(), new Map(), []];
  for (const { task, tool, accepted } of tasks) {
    const startedAt = process.cpuUsage();
    const filling = fill(task, tool);
    times.push(cpuMs(startedAt));
    const required = areRequiredRight(filling, tool, accepted);
    seen.tasks++;
    if (required) seen.required++;
    if (required && areOthersRight(filling, tool, accepted)) seen.whole++;
    if (countTypes(types, filling, { task, tool, accepted, consider, readTask })) seen.reachable++;
    for (const { name, value, certainty } of filling.filled)
      count(certainties, certainty, isRight(value, acceptedAt(accepted, name.split("."))));
    if (
      filling.missing.length === 0 &&
      filling.filled.every(({ isRequired, certainty }) => !isRequired || certainty === "certain")
    ) {
      seen.sure++;
      if (required) seen.sureRight++;
    }
  }
  return { ...seen, types, certainties, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function areRequiredRight({ values }, tool, accepted) {
  return (tool.inputSchema.required ?? []).every((name) =>
    isValueRight(values[name], accepted[name]),
  );
}

export function areOthersRight({ values }, tool, accepted) {
  return Object.keys(tool.inputSchema.properties ?? {}).every((name) =>
    isValueRight(values[name], accepted[name]),
  );
}

const isValueRight = (value, accepted) =>
  value === undefined ? mayBeLeftOut(accepted) : isRight(value, accepted);

/** Returns whether every required value could have been found: whether it is among those that were considered. */
function countTypes(types, { filled }, { task, tool, accepted, consider, readTask }) {
  let isReachable = true;
  for (const { parameter, options } of consider(readTask(task), tool)) {
    if (!parameter.isRequired) continue;
    const wanted = acceptedAt(accepted, parameter.path);
    const found = filled.find(({ name }) => name === parameter.path.join("."));
    const isFound = isValueRight(found?.value, wanted);
    count(types, parameter.choices ? "choice" : parameter.type, isFound);
    isReachable &&= isFound || options.some(({ option }) => isRight(option.value, wanted));
  }
  return isReachable;
}

function count(map, key, isRight) {
  const sum = map.get(key) ?? { count: 0, right: 0 };
  map.set(key, { count: sum.count + 1, right: sum.right + (isRight ? 1 : 0) });
}
