import { equal, match, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { textScenarios } from "../protocol-worlds/scenarios.ts";

const folder = "test/scenarios/fault-layer";
const play = textScenarios["fault-layer"]!;

/** What happens in the scenario of that name. */
function linesOf(name: string): readonly string[] {
  const played = play(readFileSync(`${folder}/${name}`, "utf8"));
  if (typeof played === "string") throw new Error(played);
  return played.lines;
}

/** Those lines stand in this order. */
function inOrder(lines: readonly string[], patterns: readonly RegExp[]): void {
  let at = 0;
  for (const pattern of patterns) {
    const found = lines.findIndex((line, index) => index >= at && pattern.test(line));
    ok(found >= 0, `${pattern} is missing behind line ${at}`);
    at = found + 1;
  }
}

describe("U5, U6: scenarios of the thesis that are written down", () => {
  for (const name of readdirSync(folder)) {
    test(`${name}: everything happens as it was recorded, and nobody is left waiting`, () => {
      const played = play(readFileSync(`${folder}/${name}`, "utf8"));
      if (typeof played === "string") throw new Error(played);
      const again = `banyan sim --fault-layer --scenario @${folder}/${name}`;
      equal(played.difference, null, `${JSON.stringify(played.difference)}: ${again} --rewrite records it anew`);
      equal(
        played.lines.find((line) => line.startsWith("rank ")),
        undefined,
      );
    });
  }

  test("U5 Figure 5.2: the dead report in both communicators, commanded by nobody, and both broadcasts end", () => {
    const lines = linesOf("figure-5-2.txt");
    for (const [comm, members] of [
      ["one", [0, 1]],
      ["two", [4, 5]],
    ] as const) {
      const commanded = lines.findIndex((line) => line.includes(`in ${comm}: VERDICT`));
      const reported = lines.findIndex((line) => new RegExp(`^[23] -> . in ${comm}: REPORT .*dead`).test(line));
      ok(reported >= 0 && reported < commanded, `${comm}: ${reported}, ${commanded}`);
      for (const member of members) {
        inOrder(lines, [
          /dies/,
          new RegExp(`in ${comm}: VERDICT .*dead 2 3`),
          new RegExp(`^${member} bcast ${comm} 0: PROC_FAILED$`),
        ]);
      }
    }
  });

  test("U6 §5.3.10.1: the ten steps, Figures 5.12 to 5.21", () => {
    const lines = linesOf("ten-steps.txt");
    // (1, 2)
    for (const rank of [0, 1, 2, 3]) inOrder(lines, [new RegExp(`^${rank} wait a: ok$`), /^2 dies$/]);
    // (3) It tells the root that it has started one, (5) and all hear of it.
    inOrder(lines, [
      /^2 dies$/,
      /^2 -> 0 in comm: DEATH of 2, 1 started/,
      /^0 -> 1 in comm: DEATH/,
      /^1 -> 3 in comm: DEATH/,
    ]);
    inOrder(lines, [
      // (4) The broadcast is over at its root, which starts a barrier.
      /^1 wait b: ok$/,
      /^1 ibarrier c comm: started$/,
      // (5) It returns with the death.
      /^1 wait c: PROC_FAILED$/,
      /^1 free comm$/,
      // (6, 7) The list of the one that has most.
      /^0 -> 1 in comm: LIST_WANTED from 1 on$/,
      /^1 -> 0 in comm: LIST bcast #1 of 4 B, barrier #2$/,
      // (8) To all, also to the dead.
      /^0 -> 2 in comm: VERDICT .* to free, .*list bcast #1 of 4 B, barrier #2$/,
      // (9, 10)
      /^[013] ends$/,
    ]);
    inOrder(lines, [/^0 wait b: PROC_FAILED$/, /LIST_WANTED/]);
  });

  test("texts that are no scenarios say why", () => {
    for (const [text, why] of [
      ["ranks=3", /"ranks=3": the first line is "world ranks=<number>"$/],
      ["world ranks=1", /a world has 2 to 64 ranks$/],
      ["world ranks=2 nodes=2", /a world has ranks, fan-out and background, no "nodes"$/],
      ["world ranks=2 background=x", /the background is tree or ibcast$/],
      ["world ranks=2\n0-2 die", /"0-2 die": "0-2" are no ranks of 0 to 1$/],
      ["world ranks=2\nall jump", /"all jump": there are agree, barrier/],
      ["world ranks=2\nall barrier", /barrier has 1 words$/],
      ["world ranks=2\nall barrier other", /^Cannot "barrier other": rank 0 has no communicator other$/],
      ["world ranks=2\n0 wait a", /^Cannot "wait a": rank 0 has not started it$/],
      ["world ranks=2\nall bcast world 2", /^Cannot "bcast world 2": world has ranks 0 to 1$/],
      ["world ranks=2\n0 send world x", /^Cannot "send world x": "x" is no number from 0 on$/],
      ["world ranks=2\nall ibcast a world 7", /^Cannot "ibcast a world 7": world has ranks 0 to 1$/],
      [
        "world ranks=2\nall split half world 0",
        /^Cannot "split half world 0": world has 2 members, and as many colours$/,
      ],
      ["world ranks=2\n0 compute soon", /^Cannot "compute soon": "soon" is no number from 0 on$/],
    ] as const) {
      const played = play(text);
      match(typeof played === "string" ? played : "", why);
    }
  });

  test("what differs from what was recorded is found, and can be recorded", () => {
    const text = "world ranks=2\nall sum world # the ranks\n----\nsomething else\n";
    const first = play(text);
    if (typeof first === "string") throw new Error(first);
    equal(first.difference?.recorded, "something else");
    ok(first.lines.includes("0 sum world: ok, 2"));
    const second = play(first.text);
    if (typeof second === "string") throw new Error(second);
    equal(second.difference, null);
  });
});
