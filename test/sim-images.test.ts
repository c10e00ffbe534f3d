/**
 * Images, proven in the simulator: all processes of a program are brought to rest at any call whatsoever, saved, and go on in
 * new instances of a new world, and half of the time where they were as well; every rank prints what it prints when nobody
 * disturbs it. The seed is printed with a failure.
 * Every program has a thread of its own, with a stack as deep as that of ranks.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { CWorld, type CWorldOptions, type WorldImage } from "../src/sim/c/c-world.ts";
import { Random } from "../src/sim/random.ts";
import { banyan, folderOf, program } from "./harness.ts";
import { long, tries } from "./long.ts";

interface Experiment {
  readonly module: string;
  readonly ranks: number;
  readonly nodes: number;
  readonly seed: number;
  readonly points: number;
}

interface Report {
  readonly calls: number;
  /** Points at which an image was taken. */
  readonly taken: number;
  /** Those at which somebody waited, and those at which messages or collectives were under way. */
  readonly waiting: number;
  readonly underWay: number;
  readonly stateBytes: number;
  readonly wrong: readonly string[];
}

const memoryPages = 128;
const points = tries(4, 100);

class Observed {
  readonly printed: string[];
  readonly world: CWorld;

  constructor(
    options: Pick<CWorldOptions, "module" | "ranks" | "nodes" | "seed" | "restAt" | "from">,
    before?: Observed,
  ) {
    this.printed = before === undefined ? new Array<string>(options.ranks).fill("") : [...before.printed];
    this.world = new CWorld({
      ...options,
      args: ["program"],
      newMemory: () => new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true }),
      print: ({ rank, bytes }) => {
        this.printed[rank] += Buffer.from(bytes).toString();
      },
    });
  }
}

function run({ module: path, ranks, nodes, seed, points }: Experiment): Report {
  const module = new WebAssembly.Module(readFileSync(path));
  const common = { module, ranks, nodes };
  const undisturbed = new Observed({ ...common, seed });
  assert.deepEqual(undisturbed.world.run(), { kind: "finished" });
  const calls = undisturbed.world.capturePoints;
  const wrong: string[] = [];
  const random = new Random(seed);
  const chosen = new Set<number>();
  let [taken, waiting, underWay, stateBytes] = [0, 0, 0, 0];

  function check(what: string, point: number, end: unknown, { printed }: Observed): void {
    const isSame = printed.every((text, rank) => text === undisturbed.printed[rank]);
    if (!isSame || JSON.stringify(end) !== '{"kind":"finished"}') {
      wrong.push(`${what} from call ${point} of ${calls}, seed ${seed}: ${JSON.stringify(end)}\n${printed.join("")}`);
    }
  }

  while (taken < points && chosen.size < calls) {
    const point = random.between(1, calls);
    if (chosen.has(point)) continue;
    chosen.add(point);
    const original = new Observed({ ...common, seed, restAt: point });
    const rest = original.world.run();
    // All of them were at their end before they could stop.
    if (rest.kind === "finished") {
      check("an end", point, rest, original);
      continue;
    }
    assert.deepEqual(rest, { kind: "at rest" });
    const from: WorldImage = original.world.image();
    taken++;
    if (original.world.processes.some(({ isWaiting }) => isWaiting)) waiting++;
    if (original.world.world.processes.some(({ engine }) => engine.completion.unfinished > 0)) underWay++;
    stateBytes = Math.max(stateBytes, ...from.processes.map(({ state }) => state.length));
    const restored = new Observed({ ...common, seed: seed + point, from }, original);
    check("a restored world", point, restored.world.run(), restored);
    if (taken % 2 === 0) check("the original", point, original.world.goOn(), original);
  }
  return { calls, taken, waiting, underWay, stateBytes, wrong };
}

function inThread(experiment: Experiment): Promise<Report> {
  return new Promise((done, failed) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: experiment,
      resourceLimits: { stackSizeMb: 16 },
    });
    worker.on("message", done);
    worker.on("error", failed);
  });
}

async function compiled(name: string): Promise<string> {
  program("modules/folder", "");
  const module = folderOf(`modules/${name}.wasm`);
  // A small stack in memory keeps the images small; the depth of recursion is up to the thread's own.
  const flags = ["-O2", "-Wl,-z,stack-size=262144"];
  const { code, stderr } = await banyan(["cc", ...flags, `test/programs/c/${name}.c`, "-o", module], {
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stderr);
  return module;
}

if (!isMainThread) parentPort!.postMessage(run(workerData as Experiment));
else
  describe("M6 images", { concurrency: true }, () => {
    for (const [name, what, nodes, when] of [
      ["image-messages", "messages under way, wildcards, datatypes, operations, communicators", 2, {}],
      ["image-stack", "deep recursion, jumps, a sort that communicates, the heap", 1, long],
      ["image-stencil", "large messages and collectives under way", 2, long],
      ["ulfm", "revocations and agreements under way", 2, long],
    ] as const) {
      it(`M6 images: ${what}: ${points} points, restored and cloned`, when, async (t) => {
        const module = await compiled(name);
        const report = await inThread({ module, ranks: 3, nodes, seed: 20_261, points });
        assert.equal(report.wrong.length, 0, report.wrong.slice(0, 3).join("\n"));
        assert.equal(report.taken, points);
        assert(
          report.waiting > points / 5 && report.underWay > points / 5,
          `waiting ${report.waiting}, under way ${report.underWay}`,
        );
        const { calls, stateBytes, waiting, underWay } = report;
        t.diagnostic(`${calls} calls; ${waiting} waiting, ${underWay} under way; state up to ${stateBytes} bytes`);
      });
    }
  });
