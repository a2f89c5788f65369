// The standard library, all of it, in the order in which it is defined. Once in a process.
import { defineClasses } from "./classes.ts";
import { defineSpecialForms } from "./compile/special-forms.ts";
import { defineConditions } from "./conditions.ts";
import { defineAbsent } from "./core/absent.ts";
import { defineCalling } from "./core/calling.ts";
import { defineCases } from "./core/cases.ts";
import { defineControl } from "./core/control.ts";
import { defineConditionForms } from "./core/define-condition.ts";
import { defineDefinitions } from "./core/definitions.ts";
import { defineHandling } from "./core/handling.ts";
import { defineMacros } from "./core/macros.ts";
import { defineNames } from "./core/names.ts";
import { defineParallel } from "./core/parallel-forms.ts";
import { defineRestarting } from "./core/restarting.ts";
import { defineSetf } from "./core/setf.ts";
import { defineSignalling } from "./core/signalling.ts";
import { defineTracing } from "./core/tracing.ts";
import { defineVariables } from "./core/variables.ts";
import { defineClassForms } from "./forms/defclass.ts";
import { defineDeftype } from "./forms/deftype.ts";
import { defineFailures } from "./forms/failures.ts";
import { defineInstances } from "./forms/instances.ts";
import { defineLoop } from "./forms/loop.ts";
import { defineMethods } from "./forms/methods.ts";
import { definePackages } from "./forms/packages.ts";
import { definePrintObject } from "./forms/print-object.ts";
import { defineSlots } from "./forms/slots.ts";
import { defineStructures } from "./forms/structure.ts";
import { defineAlists } from "./library/alists.ts";
import { defineArrays } from "./library/arrays.ts";
import { defineBitArrays } from "./library/bit-arrays.ts";
import { defineBits } from "./library/bits.ts";
import { defineChance } from "./library/chance.ts";
import { defineCharacters } from "./library/characters.ts";
import { defineEquality } from "./library/equality.ts";
import { defineFillPointers } from "./library/fill-pointers.ts";
import { defineHashTables } from "./library/hash-tables.ts";
import { defineHelp } from "./library/help.ts";
import { defineLists } from "./library/lists.ts";
import { defineMapping } from "./library/mapping.ts";
import { defineNumbers } from "./library/numbers.ts";
import { definePrinting } from "./library/printing.ts";
import { defineSequenceBuilding } from "./library/sequence-building.ts";
import { defineSequenceReducing } from "./library/sequence-reducing.ts";
import { defineSequences } from "./library/sequences.ts";
import { defineSets } from "./library/sets.ts";
import { defineStreams } from "./library/streams.ts";
import { defineStrings } from "./library/strings.ts";
import { defineSymbols } from "./library/symbols.ts";
import { defineTime } from "./library/time.ts";
import { defineTypes } from "./library/types.ts";
import { exportNames } from "./standard-names.ts";
import { defineTypeTable } from "./types.ts";

const definitions: readonly (() => void)[] = [
  defineClasses,
  defineConditions,
  defineTypeTable,
  defineSpecialForms,
  defineControl,
  defineDefinitions,
  defineMacros,
  defineCalling,
  defineNames,
  defineVariables,
  defineCases,
  defineSetf,
  defineHandling,
  defineSignalling,
  defineRestarting,
  defineAlists,
  defineArrays,
  defineFillPointers,
  defineBitArrays,
  defineBits,
  defineChance,
  defineCharacters,
  defineEquality,
  defineHashTables,
  defineHelp,
  defineLists,
  defineMapping,
  defineNumbers,
  definePrinting,
  defineSequenceBuilding,
  defineSequenceReducing,
  defineSequences,
  defineSets,
  defineStreams,
  defineStrings,
  defineSymbols,
  defineTime,
  defineTypes,
  defineClassForms,
  defineInstances,
  defineFailures,
  defineLoop,
  defineMethods,
  definePackages,
  defineDeftype,
  definePrintObject,
  defineSlots,
  defineStructures,
  defineConditionForms,
  defineTracing,
  defineParallel,
  defineAbsent,
];

let isDefined = false;

/** Safe to call for every session. */
export function defineStandard(): void {
  if (isDefined) return;
  isDefined = true;
  for (const define of definitions) define();
  exportNames();
}
