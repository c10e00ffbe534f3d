/**
 * The combination technique on real processes, some of which are killed: what is printed is what the same combination gives in one process, bit by bit, in C and in
 * TypeScript. Row U10.
 */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bestCoefficients } from "../examples/combination/coefficients.ts";
import { advection, heat } from "../examples/combination/problems.ts";
import { describeOutcome } from "../examples/combination/result.ts";
import {
  createScheme,
  isClassic,
  type Level,
  levelText,
  placeOf,
  type Scheme,
} from "../examples/combination/scheme.ts";
import { type Problem, solveAlone } from "../examples/combination/slab.ts";
import { banyan, type Ended, newFolder } from "./harness.ts";
import { long, longUnless } from "./long.ts";

const patient = { timeoutMs: 120_000 };
type Language = "c" | "ts";
type Shape = Pick<Scheme, "dims" | "least" | "depth">;
const small: Shape = { dims: 2, least: 2, depth: 3 };

interface Job {
  readonly problem: Problem;
  readonly language: Language;
  readonly shape?: Shape;
  /** More words for the program. */
  readonly words?: readonly string[];
  /** Options of `banyan run`. */
  readonly options: readonly string[];
}

async function run({ problem, language, shape = small, words = [], options }: Job): Promise<Ended> {
  const { dims, least, depth } = shape;
  const size = [`dims=${dims}`, `least=${least}`, `depth=${depth}`];
  const program = `examples/combination/${problem.name}.${language}`;
  return await banyan(["run", ...options, program, ...size, ...words], patient);
}

/** What is printed when these grids are lost. */
function expected(problem: Problem, shape: Shape, lost: readonly Level[], repair = "smaller"): string {
  const scheme = createScheme(shape);
  const { levels, finest } = scheme;
  const places = lost.map((level) => placeOf(scheme, level));
  const coefficients = bestCoefficients(
    scheme,
    (place) => place === 0 || (!places.includes(place) && (repair === "smaller" || isClassic(scheme, levels[place]!))),
  );
  const solutions = levels.map((level, place) =>
    coefficients[place] === 0 ? undefined : solveAlone(problem, level, finest),
  );
  const classic = levels.filter((level) => isClassic(scheme, level)).length;
  const first = `${problem.name} in ${shape.dims} dimensions, levels ${shape.least} to ${finest}: ${classic} grids`;
  return `${[first, ...describeOutcome(problem, scheme, { coefficients, solutions, lost: places })].join("\n")}\n`;
}

/** The grids that a run says it has lost. */
function lostIn(stdout: string): Level[] {
  const line = /^lost: (.*)$/m.exec(stdout)?.[1] ?? "";
  return [...line.matchAll(/\[([\d,]+)\]/g)].map(([, level]) => level!.split(",").map(Number));
}

function assertRight(job: Job, { code, stdout, stderr }: Ended, repair = "smaller"): void {
  assert.equal(stdout, expected(job.problem, job.shape ?? small, lostIn(stdout), repair), stderr);
  assert.equal(code, 0, stderr);
}

for (const problem of [advection, heat]) {
  for (const language of ["c", "ts"] as const) {
    for (const shape of [small, { dims: 3, least: 1, depth: 3 }, { dims: 4, least: 1, depth: 2 }]) {
      test(
        `U10 ${problem.name}.${language} in ${shape.dims} dimensions gives what one process gives`,
        long,
        async () => {
          const job = { problem, language, shape, options: ["-n", "7"], words: ["group=3"] };
          assertRight(job, await run(job));
        },
      );
    }
  }
}

/**
 * Ranks 1 and 2 are the first group, ranks 3 and 4 the second: the first one gets [2,5], the second [3,4]. Its 40th call finds either of them in the middle of it.
 */
const victims = [
  { rank: 2, who: "a worker", lost: [2, 5] },
  { rank: 1, who: "a master", lost: [2, 5] },
  { rank: 4, who: "another worker", lost: [3, 4] },
];

for (const { rank, who, lost } of victims) {
  for (const learning of ["told", "watch"]) {
    for (const problem of [advection, heat]) {
      const how = learning === "told" ? "is told" : "watches";
      test(
        `U10 §6.1 ${who} is killed, the manager ${how}, ${problem.name} goes on without ${levelText(lost)}`,
        long,
        async () => {
          const options = ["-n", "7", "--protocol", "ulfm", "--faults", `kill rank ${rank} at call 40`];
          const job: Job = { problem, language: "c", options, words: [`learn=${learning}`] };
          const ended = await run(job);
          assert.deepEqual(lostIn(ended.stdout), [lost], ended.stdout + ended.stderr);
          assertRight(job, ended);
        },
      );
    }
  }
}

/** Deaths that only the program sees, in the same calls: the same grids are lost. */
for (const { rank, who, lost } of victims) {
  for (const learning of ["told", "watch"]) {
    const when = longUnless(rank === 4 && learning === "watch");
    const how = learning === "told" ? "is told" : "watches";
    test(`U10 under the fault layer ${who} dies, and the manager ${how}`, when, async () => {
      const options = ["-n", "7", "--fault-layer", "--faults", `layer-kill rank ${rank} at call 40`];
      const job: Job = { problem: advection, language: "c", options, words: [`learn=${learning}`] };
      const ended = await run(job);
      assert.deepEqual(lostIn(ended.stdout), [lost], ended.stdout + ended.stderr);
      assertRight(job, ended);
    });
  }
}

for (const language of ["c", "ts"] as const) {
  test(`U10 under the fault layer half of the processes die at random times: ${language}`, long, async (t) => {
    for (let round = 0; round < 5; round++) {
      const plan = [1, 4, 6, 8].map((rank) => `layer-kill rank ${rank} at ${randomInt(900)}ms`).join("; ");
      t.diagnostic(plan);
      const options = ["-n", "9", "--nodes", "2", "--fault-layer", "--faults", plan];
      const shape = { dims: 2, least: 3, depth: 4 };
      const job: Job = { problem: advection, language, shape, options };
      assertRight(job, await run(job));
    }
  });
}

test("U10 Figure 3.3 on real processes: [2,3] is lost, and [1,2] is solved instead", long, async () => {
  const shape = { dims: 2, least: 1, depth: 3 };
  const options = ["-n", "9", "--protocol", "ulfm", "--faults", "kill rank 4 at call 30"];
  const job: Job = { problem: advection, language: "c", shape, options };
  const ended = await run(job);
  assert.match(ended.stdout, /^lost: \[2,3\]\ncombined: -1\[1,2\] \+1\[1,4\] -1\[3,1\] \+1\[3,2\] \+1\[4,1\]$/m);
  assertRight(job, ended);
});

test("U10 §3.1 with new coefficients alone nothing else is solved, and the error is larger", long, async () => {
  const options = ["-n", "7", "--protocol", "ulfm", "--faults", "kill rank 4 at call 40"];
  const job: Job = { problem: advection, language: "c", options, words: ["repair=weights"] };
  assertRight(job, await run(job), "weights");
});

for (const learning of ["told", "watch"]) {
  test(`U10 §6.1 every group is lost, and the manager finishes alone: ${learning}`, long, async () => {
    const plan = [2, 4, 6].map((rank) => `kill rank ${rank} at call ${30 + rank}`).join("; ");
    const options = ["-n", "7", "--protocol", "ulfm", "--faults", plan];
    const job: Job = { problem: heat, language: "c", options, words: [`learn=${learning}`] };
    const ended = await run(job);
    assert.equal(lostIn(ended.stdout).length, 7, ended.stdout + ended.stderr);
    assertRight(job, ended);
  });

  for (const language of ["c", "ts"] as const) {
    test(`U10 §6.1 nodes are killed at random moments: ${language}, ${learning}`, long, async (t) => {
      for (let round = 0; round < 5; round++) {
        const moment = (calls: number): string =>
          language === "c" ? `call ${1 + randomInt(calls)}` : `${randomInt(900)}ms`;
        const plan = `kill node ${randomInt(1, 3)} at ${moment(300)}; kill node 3 at ${moment(300)}`;
        t.diagnostic(plan);
        const options = ["-n", "9", "--nodes", "4", "--protocol", "ulfm", "--faults", plan];
        const job: Job = { problem: advection, language, options, words: [`learn=${learning}`, "group=3"] };
        assertRight(job, await run(job));
      }
    });
  }
}

test("U10 a process that dies in MPI_Init is no part of the team", long, async () => {
  const options = ["-n", "7", "--protocol", "ulfm", "--faults", "kill rank 3 at init"];
  const job: Job = { problem: advection, language: "c", options };
  assertRight(job, await run(job));
});

test("U10 without its manager the job ends, and says so", long, async () => {
  const options = ["-n", "7", "--protocol", "ulfm", "--faults", "kill rank 0 at call 30"];
  const { code, stderr } = await run({ problem: advection, language: "c", options });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /the manager is dead, and with it the solution/);
});

/** Protocols that hide deaths from the program: nothing is lost. */
for (const [protocol, ...more] of [["logging"], ["replication", "--replicas", "2", "--replication", "leader"]]) {
  for (const language of ["c", "ts"] as const) {
    test(`U10 under ${protocol} a node is killed, and nothing is lost: ${language}`, long, async () => {
      const moment = language === "c" ? "call 60" : "400ms";
      const options = [
        "-n",
        "5",
        "--nodes",
        "4",
        "--protocol",
        protocol!,
        ...more,
        "--faults",
        `kill node 1 at ${moment}`,
      ];
      const job: Job = { problem: advection, language, options, words: ["learn=watch"] };
      const ended = await run(job);
      assert.deepEqual(lostIn(ended.stdout), []);
      assertRight(job, ended);
    });
  }
}

test("U10 bench combination shows the errors, and that one lost grid costs at most half more", long, async () => {
  const out = newFolder("combination");
  const args = ["bench", "combination", "--quick", "--runs", "1", "--out", out];
  const { code, stdout, stderr } = await banyan(args, patient);
  assert.equal(code, 0, stdout + stderr);
  for (const name of ["advection, d = 2", "advection, d = 3", "heat, d = 2", "heat, d = 3"]) {
    assert.match(stdout, new RegExp(`^error after one lost grid: ${name} .* ≤ 1\\.5 × none lost .* goal$`, "m"));
  }
  assert.match(readFileSync(`${out}/combination.svg`, "utf8"), /Distance from the full grid/);
});
