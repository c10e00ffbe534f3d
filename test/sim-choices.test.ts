/**
 * What a C program can see and that may differ in a second run, in the simulator: the choices of a life are written down, and a
 * life in another world, with another network, sees the same, also when its processes are stopped, saved and restored in it.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { TestChoices, TestProtocol } from "../src/core/ft/testing/choices.ts";
import { CWorld, type CWorldOptions } from "../src/sim/c/c-world.ts";
import { banyan, folderOf, program } from "./harness.ts";
import { long } from "./long.ts";

const ranks = 3;
const memoryPages = 128;

async function compiled(): Promise<WebAssembly.Module> {
  program("modules/folder", "");
  const path = folderOf("modules/choices.wasm");
  const flags = ["-O2", "-Wl,-z,stack-size=262144"];
  const { code, stderr } = await banyan(["cc", ...flags, "test/programs/c/choices.c", "-o", path], {
    timeoutMs: 120_000,
  });
  assert.equal(code, 0, stderr);
  return new WebAssembly.Module(readFileSync(path));
}

class Life {
  readonly printed: string[];
  readonly choices: readonly TestChoices[];
  readonly world: CWorld;

  constructor(
    options: Pick<CWorldOptions, "module" | "args" | "seed" | "restAt" | "from">,
    before: { readonly choices: readonly TestChoices[]; readonly printed?: readonly string[] },
  ) {
    this.choices = before.choices;
    this.printed = [...(before.printed ?? new Array<string>(ranks).fill(""))];
    this.world = new CWorld({
      ...options,
      ranks,
      nodes: 2,
      newMemory: () => new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true }),
      print: ({ rank, bytes }) => {
        this.printed[rank] += Buffer.from(bytes).toString();
      },
      protocol: (rank) => () => new TestProtocol(this.choices[rank]!),
    });
  }

  /** Choices of a second life, which are known. */
  known(): { choices: TestChoices[] } {
    return { choices: this.choices.map(({ all }) => new TestChoices(all)) };
  }
}

const unknown = () => ({ choices: Array.from({ length: ranks }, () => new TestChoices()) });

test("L1 replay in the simulator: a C program sees in every world what it saw in the first", long, async () => {
  const module = await compiled();
  const args = ["program"];
  const seen = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    const first = new Life({ module, args, seed }, unknown());
    assert.deepEqual(first.world.run(), { kind: "finished" });
    seen.add(first.printed.join());
    const second = new Life({ module, args, seed: seed + 100 }, first.known());
    assert.deepEqual(second.world.run(), { kind: "finished" });
    assert.deepEqual(second.printed, first.printed, `seed ${seed}`);
    for (const [rank, { taken, known, all }] of second.choices.entries()) {
      assert.deepEqual([taken, all.length], [known.length, known.length], `rank ${rank}, seed ${seed}`);
    }
  }
  assert.equal(seen.size, 8, "lives differ when nobody remembers");
});

test("L1 replay in the simulator: processes that are stopped and restored in a replay see it all the same", async () => {
  const module = await compiled();
  // Who comes to rest sends marks, which have numbers: probes would look for messages by those that they had without.
  const args = ["program", "no probes"];
  const first = new Life({ module, args, seed: 1 }, unknown());
  assert.deepEqual(first.world.run(), { kind: "finished" });
  let rests = 0;
  for (let restAt = 1; restAt < first.world.capturePoints; restAt += 67) {
    const second = new Life({ module, args, seed: restAt + 100, restAt }, first.known());
    const rest = second.world.run();
    if (rest.kind === "finished") continue;
    assert.deepEqual(rest, { kind: "at rest" });
    rests++;
    if (rests % 2 === 0) {
      const from = second.world.image();
      const third = new Life({ module, args, seed: restAt + 200, from }, second);
      assert.deepEqual(third.world.run(), { kind: "finished" }, `restored from call ${restAt}`);
      assert.deepEqual(third.printed, first.printed, `restored from call ${restAt}`);
    } else {
      assert.deepEqual(second.world.goOn(), { kind: "finished" }, `gone on from call ${restAt}`);
      assert.deepEqual(second.printed, first.printed, `gone on from call ${restAt}`);
    }
  }
  assert(rests > 10, `${rests} rests`);
});
