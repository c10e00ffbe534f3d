import { deepEqual, equal, match } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { textScenarios } from "../protocol-worlds/scenarios.ts";

const folder = "test/scenarios/replication";
const play = textScenarios["replication"]!;

function linesOf(text: string): readonly string[] {
  const played = play(text);
  if (typeof played === "string") throw new Error(played);
  return played.lines;
}

describe("R3, R4, R5: scenarios of the paper that are written down", () => {
  for (const name of readdirSync(folder)) {
    test(`${name}: everything happens as it was recorded, and nobody is left waiting`, () => {
      const played = play(readFileSync(`${folder}/${name}`, "utf8"));
      if (typeof played === "string") throw new Error(played);
      const again = `banyan sim --protocol replication --scenario @${folder}/${name}`;
      equal(played.difference, null, `${JSON.stringify(played.difference)}: ${again} --rewrite records it anew`);
      equal(
        played.lines.find((line) => line.startsWith("rank ")),
        undefined,
      );
    });
  }

  test("R4 Figure 3: the survivor sends for the dead, the other world sends nothing to it any more, and nothing is sent twice", () => {
    const lines = linesOf(readFileSync(`${folder}/figure-3.txt`, "utf8"));
    const sends = lines.filter((line) => / sends /.test(line));
    equal(new Set(sends).size, sends.length);
    const after = lines.slice(lines.indexOf("1.1 dies"));
    deepEqual(
      after.filter((line) => / sends /.test(line)),
      ["1.0 sends #1 to 0.0", "1.0 sends #1 to 0.1", "0.0 sends #1 to 1.0"],
    );
    for (const process of ["0.0", "0.1", "1.0"]) equal(after.includes(`${process} hears of the death of 1.1`), true);
  });

  test("R3 §3.3: large sends end when the other world has acknowledged them, before anybody has come to MPI_Wait", () => {
    const lines = linesOf(readFileSync(`${folder}/irecv-send-wait.txt`, "utf8"));
    const at = (text: string): number => lines.findIndex((line) => line.startsWith(text));
    for (const [sender, other] of [
      ["0.0", "1.1"],
      ["0.1", "1.0"],
      ["1.0", "0.1"],
      ["1.1", "0.0"],
    ] as const) {
      equal(at(`${other} has #0 for ${sender}`) < at(`${sender} send `), true);
      equal(at(`${sender} send `) < at(`${sender} wait a`), true);
    }
  });

  test("a rank that waits for ever is named", () => {
    const lines = linesOf("world ranks=2\n0 receive 1\n");
    equal(lines.filter((line) => line.startsWith("rank 0 waits for ever: ")).length, 2);
  });

  test("texts that are no scenarios say why", () => {
    for (const [text, why] of [
      ["ranks=3", /"ranks=3": the first line is "world ranks=<number> replicas=<number>"$/],
      ["world ranks=1", /a world has 2 to 16 ranks$/],
      ["world ranks=2 replicas=9", /each rank has 1 to 4 replicas$/],
      ["world ranks=2 nodes=2", /a world has ranks and replicas, no "nodes"$/],
      ["world ranks=2\n0.2 dies at 3", /there is no process 0\.2$/],
      ["world ranks=2\n0-2 send 1", /"0-2" are no ranks of 0 to 1$/],
      ["world ranks=2\n0 send 2", /"2" is no rank of 0 to 1$/],
      ["world ranks=2\n0 receive some", /"some" is no rank of 0 to 1, and not any$/],
      ["world ranks=2\n0 send 1 9999999", /a message has up to 1048576 bytes$/],
      ["world ranks=2\n0 wait", /wait has the name of a request$/],
      ["world ranks=2\n0 compute soon", /compute has a number of microseconds$/],
      ["world ranks=2\n0 jump", /there are send, receive, isend, irecv, wait, compute, and dies at$/],
    ] as const) {
      const played = play(text);
      match(typeof played === "string" ? played : "", why);
    }
  });
});
