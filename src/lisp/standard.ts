// The standard library, all of it, in the order in which it is defined. Once in a process.
import { defineClasses } from "./classes.ts";
import { defineSpecialForms } from "./compile/special-forms.ts";
import { defineConditions } from "./conditions.ts";
import { defineCases } from "./core/cases.ts";
import { defineControl } from "./core/control.ts";
import { defineDefinitions } from "./core/definitions.ts";
import { defineMacros } from "./core/macros.ts";
import { defineClassForms } from "./forms/defclass.ts";
import { defineInstances } from "./forms/instances.ts";
import { defineLoop } from "./forms/loop.ts";
import { defineMethods } from "./forms/methods.ts";
import { definePackages } from "./forms/packages.ts";
import { definePrintObject } from "./forms/print-object.ts";
import { defineSlots } from "./forms/slots.ts";
import { defineStructures } from "./forms/structure.ts";
import { defineAlists } from "./library/alists.ts";
import { defineArrays } from "./library/arrays.ts";
import { defineBits } from "./library/bits.ts";
import { defineCharacters } from "./library/characters.ts";
import { defineHashTables } from "./library/hash-tables.ts";
import { defineLists } from "./library/lists.ts";
import { defineMapping } from "./library/mapping.ts";
import { defineNumbers } from "./library/numbers.ts";
import { defineSequenceBuilding } from "./library/sequence-building.ts";
import { defineSequenceReducing } from "./library/sequence-reducing.ts";
import { defineSequences } from "./library/sequences.ts";
import { defineSets } from "./library/sets.ts";
import { defineStrings } from "./library/strings.ts";
import { defineTypes } from "./library/types.ts";
import { defineTypeTable } from "./types.ts";

const definitions: readonly (() => void)[] = [
  defineClasses,
  defineConditions,
  defineTypeTable,
  defineSpecialForms,
  defineControl,
  defineDefinitions,
  defineMacros,
  defineCases,
  defineNumbers,
  defineBits,
  defineCharacters,
  defineLists,
  defineAlists,
  defineSets,
  defineMapping,
  defineSequences,
  defineSequenceBuilding,
  defineSequenceReducing,
  defineStrings,
  defineArrays,
  defineHashTables,
  defineTypes,
  defineLoop,
  defineStructures,
  defineClassForms,
  defineInstances,
  defineSlots,
  defineMethods,
  definePrintObject,
  definePackages,
];

let isDefined = false;

/** Safe to call for every session. */
export function defineStandard(): void {
  if (isDefined) return;
  isDefined = true;
  for (const define of definitions) define();
}
