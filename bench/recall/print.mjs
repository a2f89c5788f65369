/** Everything that was measured. */
export function print(sets) {
  console.log(
    "| set | tools/servers | tasks | ranker | R@1 | R@3 | R@5 | R@10 | MRR | server@1 |\n|---|---|---|---|---|---|---|---|---|---|",
  );
  for (const { name, use, tools, servers, tasks, ours, plain } of sets) {
    const cells = (figures) =>
      Object.values(figures)
        .map((value) => value.toFixed(1))
        .join(" | ");
    console.log(
      `| ${name}${use && ` (${use})`} | ${tools}/${servers} | ${tasks} | ours | ${cells(ours)} |`,
    );
    console.log(`| | | | plain BM25 | ${cells(plain)} |`);
  }
  console.log(
    "\n| set | groups | sizes least/median/most | one serves | by description hit@1 | R@2 | R@3 | by vote hit@1 | R@2 | R@3 | ms |\n|---|---|---|---|---|---|---|---|---|---|---|",
  );
  for (const { name, groups } of sets) {
    for (const { grouping, ms, count, sizes, oneServes, byDescription, byVote } of groups) {
      const cells = [byDescription, byVote].flatMap((route) =>
        ["hit@1", "R@2", "R@3"].map((figure) => route[figure].toFixed(1)),
      );
      console.log(
        `| ${name} | ${count} ${grouping} | ${sizes.least}/${sizes.median}/${sizes.most} | ${oneServes.toFixed(1)} | ${cells.join(" | ")} | ${ms?.toFixed(0) ?? ""} |`,
      );
    }
  }
  const held = sets.filter(({ use }) => use === "");
  const gain =
    held.reduce((sum, { ours, plain }) => sum + ours["R@5"] - plain["R@5"], 0) / held.length;
  if (held.length > 0)
    console.log(
      `\nmean gain in R@5 over plain BM25 on sets not trained on (settings were chosen while looking at livemcp, livemcp-steps and bfclmt): ${gain.toFixed(1)}`,
    );
}

/** The sets that the vectors were not trained on, as the documentation shows them. */
export function printTables(sets) {
  const shown = sets.filter(({ use }) => use === "");
  printRow("set (looked at, not trained on)", "ranker", ...Object.keys(shown[0]?.ours ?? {}));
  printRow(...Array(8).fill("---"));
  for (const { name, tools, tasks, ours, plain } of shown) {
    printRow(`${name}, ${tools} tools, ${tasks} tasks`, "ours", ...percent(Object.values(ours)));
    printRow("", "plain BM25", ...percent(Object.values(plain)));
  }
  console.log();
  printRow(
    "grouping",
    "sizes least/median/most",
    "by description hit@1",
    "R@2",
    "by vote hit@1",
    "R@2",
  );
  printRow(...Array(6).fill("---"));
  for (const { name, groups } of shown) {
    for (const { grouping, count, sizes, byDescription, byVote } of groups) {
      printRow(
        grouping === "ours" ? `${name}, ${count} groups` : "the same sizes at random",
        `${sizes.least}/${sizes.median}/${sizes.most}`,
        ...percent([byDescription, byVote].flatMap((route) => [route["hit@1"], route["R@2"]])),
      );
    }
  }
}

const percent = (values) => values.map((value) => value.toFixed(1));
const printRow = (...cells) => console.log(`| ${cells.join(" | ")} |`);
