/** Nodes that see neither the dispatcher's files nor its network interfaces, as if they were on other machines. Rows M8 and V1. */
import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type JobEvent, type JobResult, type LaunchOptions, launch, type RunningJob, thaw } from "banyan";
import { folderOf, program } from "./harness.ts";
import { long } from "./long.ts";
import { elsewhere, inside, namespacesRefusal, runInside, scenarioWanted } from "./namespaces.ts";
import { patientMs, timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);

interface Told {
  readonly code: number;
  readonly lines: readonly string[];
  readonly said: readonly string[];
  readonly restarts: number;
  /** Events of each rank in the trace. */
  readonly traced: readonly number[];
  /** What the job has left in its folder. */
  readonly left: readonly string[];
}

async function told(job: RunningJob, onEvent: (event: JobEvent) => void = () => {}): Promise<Told> {
  const [lines, said]: [string[], string[]] = [[], []];
  for await (const event of job) {
    onEvent(event);
    if (event.kind === "line") lines.push(`${event.rank} ${event.text}`);
    else if ("message" in event) said.push(event.message);
  }
  const { code, recovery }: JobResult = await job.done;
  return { code, lines, said, restarts: recovery?.restarts ?? 0, traced: [], left: [] };
}

/** Of a program in TypeScript: does it see its own file, or what the dispatcher has in its folder for temporary files? */
const looking = (): string => `
import { existsSync, readdirSync } from "node:fs";
const files = readdirSync(${JSON.stringify(process.env["TMPDIR"])}).filter((name) => name !== "own");
console.log(existsSync(process.argv[1]!) || files.length > 0 ? "sees" : "sees nothing");
`;

/** Of a program in C, by the names of its arguments. */
const lookingInC = `
static void look(const char *path) {
  FILE *file = fopen(path, "r");
  printf(file ? "sees\\n" : "sees nothing\\n");
}
`;

const on2: LaunchOptions = { ranks: 4, nodes: 2, timeoutMs: patientMs(100_000) };

const scenarios: Record<string, () => Promise<Told>> = {
  async typescript() {
    const text = `import { mpi } from "banyan";${looking()}
      console.log(mpi.world.allreduce(Int32Array.of(mpi.world.rank), "sum")[0]);`;
    const trace = folderOf("run.json");
    const result = await told(launch(program("sum.ts", text), { ...on2, ...elsewhere(), trace }));
    const { traceEvents } = JSON.parse(readFileSync(trace, "utf8")) as { traceEvents: { tid: number }[] };
    return { ...result, traced: [0, 1, 2, 3].map((rank) => traceEvents.filter(({ tid }) => tid === rank).length) };
  },

  async c() {
    const source = `#include <mpi.h>
      #include <stdio.h>
      ${lookingInC}
      int main(int argc, char **argv) {
        int rank, sum;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        look(argv[1]);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        printf("%d\\n", sum);
        MPI_Finalize();
      }`;
    const path = program("programs/sum.c", source);
    return told(launch(path, { ...on2, ...elsewhere(), args: [path], folders: [folderOf("programs")] }));
  },

  async freezing() {
    const source = `#include <mpi.h>
      #include <stdio.h>
      int main(int argc, char **argv) {
        int rank, sum;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (int step = 0; step < 60; step++) {
          MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          printf("step %d: %d\\n", step, sum);
          fflush(stdout);
        }
        MPI_Finalize();
      }`;
    const away = elsewhere();
    const jobFolder = folderOf("job");
    const job = launch(program("steps.c", source), { ...on2, ...away, jobFolder });
    const first = await told(job, (event) => {
      if (event.kind === "started") job.freeze();
    });
    if (first.code !== 0) return first;
    const second = await told(thaw(jobFolder, { ...away, timeoutMs: patientMs(100_000) }));
    return { ...second, lines: [...first.lines, ...second.lines], left: readdirSync(jobFolder).sort() };
  },

  async logging() {
    const jobFolder = folderOf("job");
    const options = { protocol: "logging", checkpointEveryMs: 100, faults: "kill node 1 at checkpoint 1 after" };
    const orders = { ...on2, ...elsewhere(), ...options, args: ["100", "20000"], jobFolder };
    return told(launch(copied("orders.c"), orders));
  },

  async servers() {
    const options = { protocol: "logging", checkpointEveryMs: 100, checkpointServers: 2 };
    const faults = "kill node 1 at checkpoint 1 after; kill node 0 in recovery";
    return told(launch(copied("orders.c"), { ...on2, ...elsewhere(), ...options, faults, args: ["100", "20000"] }));
  },

  async checkpoint() {
    const text = `import { mpi } from "banyan";${looking()}
      const state = mpi.restored<{ round: number; sum: number }>() ?? { round: 0, sum: 0 };
      console.error("begins at " + state.round);
      for (; state.round < 60; state.round++) {
        if (state.round % 20 === 10) mpi.checkpoint(state);
        state.sum += mpi.world.allreduce(Int32Array.of(mpi.world.rank + state.round), "sum")[0]!;
      }
      console.log(state.sum);`;
    const faults = "kill node 1 at checkpoint 2 after";
    return told(launch(program("rounds.ts", text), { ...on2, ...elsewhere(), protocol: "logging", faults }));
  },

  async packages() {
    program("node_modules/adder/package.json", '{ "name": "adder", "main": "index.js" }');
    program("node_modules/adder/index.js", "exports.add = (a, b) => a + b;");
    const path = program("packaged.ts", 'import { add } from "adder"; console.log(add(1, 2));');
    return told(launch(path, { ...elsewhere() }));
  },
};

/** One of the repository's programs, where nodes do not see it. */
function copied(name: string): string {
  const path = folderOf(name);
  copyFileSync(resolve("test/programs/c", name), path);
  return path;
}

async function scenario(name: string): Promise<Told> {
  const result = await inside<Told & { failed?: string }>(fileURLToPath(import.meta.url), name, 100_000);
  assert.equal(result.failed, undefined);
  return result;
}

function defineTests(): void {
  const refusal = namespacesRefusal();
  const options = { ...limit, ...(refusal === null ? {} : { skip: refusal }) };
  const blind = (lines: readonly string[]): string[] => lines.filter((line) => line.includes("sees")).sort();
  const sightless = [0, 1, 2, 3].map((rank) => `${rank} sees nothing`);

  test("M8: a program in TypeScript runs on nodes without the dispatcher's files, and is traced", options, async () => {
    const { code, lines, said, traced } = await scenario("typescript");
    assert.equal(code, 0, said.join("; "));
    assert.deepEqual(blind(lines), sightless);
    assert.equal(lines.filter((line) => line.endsWith(" 6")).length, 4);
    assert(
      traced.every((events) => events > 3),
      `${traced}`,
    );
  });

  test("M8: a program in C runs on nodes without the dispatcher's files", options, async () => {
    const { code, lines, said } = await scenario("c");
    assert.equal(code, 0, said.join("; "));
    assert.deepEqual(blind(lines), sightless);
    assert.equal(lines.filter((line) => line.endsWith(" 6")).length, 4);
  });

  test("M6 images: a job is frozen and thawed on nodes without the dispatcher's files", {
    ...options,
    ...long,
  }, async () => {
    const { code, lines, said, left } = await scenario("freezing");
    assert.equal(code, 0, said.join("; "));
    assert.deepEqual(left, ["0.image", "1.image", "2.image", "3.image", "job.json", "program.wasm"]);
    const steps = [0, 1, 2, 3].flatMap((rank) => Array.from({ length: 60 }, (_, step) => `${rank} step ${step}: 6`));
    assert.deepEqual([...lines].sort(), steps.sort());
  });

  for (const [name, who] of [
    ["logging", "the dispatcher keeps"],
    ["servers", "checkpoint servers keep"],
  ] as const) {
    // The kill comes at a time, and a loaded machine may be done before.
    const when = { ...long, ...options };
    test(`V4: killed nodes elsewhere go on from images that ${who}`, when, async () => {
      const { code, said, restarts } = await scenario(name);
      assert.equal(code, 0, said.join("; "));
      assert(restarts >= 1);
      assert(
        said.some((text) => /^node 1 .* failed/.test(text)),
        said.join("; "),
      );
    });
  }

  test("V4: a killed node elsewhere goes on from the state that its program gave", options, async () => {
    const { code, lines, said, restarts } = await scenario("checkpoint");
    assert.equal(code, 0, said.join("; "));
    assert.equal(restarts, 1, said.join("; "));
    assert.deepEqual([...new Set(blind(lines))], sightless);
    assert(
      lines.some((line) => /^[23] begins at [35]0$/.test(line)),
      lines.join("; "),
    );
    assert.equal(
      new Set(lines.filter((line) => / \d+$/.test(line) && !line.includes("begins")).map((line) => line.slice(2))).size,
      1,
    );
  });

  test("X7: a program whose packages are not on the node says which, and what to do", options, async () => {
    const { code, said } = await scenario("packages");
    assert.equal(code, 1);
    assert.match(
      said.join("; "),
      /^Cannot use node 0: its program imports .*node_modules\/adder\/index\.js, which is not there; install the package there too, or bundle it into the program$/,
    );
  });
}

if (scenarioWanted === undefined) defineTests();
else await runInside(scenarios[scenarioWanted]!);
