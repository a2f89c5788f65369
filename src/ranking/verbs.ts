// The kind of work that a verb names. A task that deletes something seldom means a tool that reads.

export type VerbClass = "read" | "write" | "remove" | "run";

const table: Readonly<Record<VerbClass, string>> = {
  read: `get list read show view fetch find search query describe check display retrieve lookup look count inspect browse download
    compare analyze examine review see tell give open scan watch monitor track detect identify explain summarize preview locate collect
    gather obtain extract what which who where when how`,
  write: `create add write update edit set insert make put save post send upload append modify rename move copy generate replace
    assign schedule book publish draft store record register change import export merge compose reply share submit enable tag
    label upsert patch log comment new build draw plot render`,
  remove: `delete remove drop clear cancel uninstall destroy purge erase unset revoke discard archive trash disable unsubscribe rm`,
  run: `run execute start stop launch restart deploy invoke trigger evaluate kill resume pause click press navigate`,
};

const classes = new Map<string, VerbClass>(
  (Object.entries(table) as [VerbClass, string][]).flatMap(([kind, verbs]) =>
    verbs.split(/\s+/).map((verb) => [verb, kind] as const),
  ),
);

/** The classes of the verbs among these words, in order. */
export function verbClassesOf(words: readonly string[]): readonly VerbClass[] {
  return words.flatMap((word) => classes.get(word) ?? []);
}
