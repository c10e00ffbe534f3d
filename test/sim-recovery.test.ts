/**
 * Programs in C in the simulator whose ranks die and come back, from images and from the beginning: what they print is there once, and
 * what one rank prints agrees with what the others were told.
 */
import { equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type LoggingOptions, LoggingProtocol } from "../src/core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts, Write } from "../src/core/ft/protocol.ts";
import { type CLoggingOptions, type CLoggingOutcome, runCLogging } from "../src/sim/logging/testing/run-c-logging.ts";
import { banyan, folderOf, program } from "./harness.ts";
import { tries } from "./long.ts";

const memoryPages = 32;
const rounds = 6;
const seeds = tries(16, 100);

async function compiled(name: string): Promise<WebAssembly.Module> {
  program("modules/folder", "");
  const path = folderOf(`modules/${name}.wasm`);
  const flags = ["-O2", "-Wl,-z,stack-size=65536"];
  const { code, stderr } = await banyan(["cc", ...flags, `test/programs/c/recovery/${name}.c`, "-o", path], {
    timeoutMs: 120_000,
  });
  equal(code, 0, stderr);
  return new WebAssembly.Module(readFileSync(path));
}

type Judge = (printed: readonly string[]) => string;

/** All ranks were told the same by rank 0, which took what came. */
const allAlike: Judge = (printed) => {
  const lines = printed[0]!.split("\n").slice(0, -1);
  const isWhole = lines.length === rounds && lines.every((line, i) => line.startsWith(`round ${i} of hash `));
  if (!isWhole || !lines.every((line) => line.endsWith(": all agree"))) return `rank 0 printed ${printed[0]}`;
  const other = printed.findIndex((text) => text !== printed[0]);
  return other < 0 ? "" : `rank 0 printed\n${printed[0]}and rank ${other}\n${printed[other]}`;
};

/** Each heard what its neighbour has said, and printed. */
const heardWhatWasSaid: Judge = (printed) => {
  const steps = printed.map((text) => [...text.matchAll(/^step (\d+) heard (\d+) said (\d+)\n/gm)]);
  for (const [rank, own] of steps.entries()) {
    const left = steps[(rank + steps.length - 1) % steps.length]!;
    const text = own.map(([line]) => line).join("");
    if (own.length !== rounds || text !== printed[rank]) return `rank ${rank} printed\n${printed[rank]}`;
    for (const [i, [, step, heard]] of own.entries()) {
      const said = i === 0 ? "0" : left[i - 1]?.[3];
      if (Number(step) !== i || heard !== said) return `rank ${rank} heard ${heard} in step ${i}, and ${said} was said`;
    }
  }
  return "";
};

type Options = Omit<CLoggingOptions, "module" | "ranks" | "seed" | "calls" | "newMemory">;

function lived(module: WebAssembly.Module, seed: number, options: Options = {}): CLoggingOutcome {
  const newMemory = () => new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
  return runCLogging({ ...options, module, seed, ranks: 2 + (seed % 4), calls: 25, newMemory });
}

/** Lets lines out at once. */
class BlabsLines extends LoggingProtocol {
  override writeMayLeave(write: Write): boolean {
    return write.kind === "line" || super.writeMayLeave(write);
  }
}

describe("C programs under seeds with deaths", () => {
  for (const [name, what, judge] of [
    ["wildcards", "receives from anybody and collectives", allAlike],
    ["output", "lines that depend on tests and clocks", heardWhatWasSaid],
  ] as const) {
    it(`L1 L2 L5: ${what}`, async () => {
      const module = await compiled(name);
      const outcomes: CLoggingOutcome[] = [];
      for (let seed = 1; seed <= seeds; seed++) {
        const outcome = lived(module, seed);
        equal(outcome.problem || (outcome.isLegitimateEnd ? "" : judge(outcome.printed)), "", `${name}, seed ${seed}`);
        outcomes.push(outcome);
      }
      const sum = (of: (outcome: CLoggingOutcome) => number) => outcomes.reduce((total, one) => total + of(one), 0);
      ok(sum(({ restarts }) => restarts) > seeds);
      ok(sum(({ checkpoints }) => checkpoints.restored) > tries(1, 20), "lives begin with images");
      ok(sum(({ rare }) => rare.fellInReplay) > tries(1, 5));
      ok(sum(({ rare }) => rare.determinantsLost) > tries(1, 5));
    });
  }

  it("L1 L2 L5: ranks are moved, and sets divided, while a program receives from anybody", async () => {
    const module = await compiled("wildcards");
    const outcomes: CLoggingOutcome[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = lived(module, seed, { moves: true });
      equal(outcome.problem || (outcome.isLegitimateEnd ? "" : allAlike(outcome.printed)), "", `seed ${seed}`);
      outcomes.push(outcome);
    }
    ok(outcomes.some(({ moves }) => moves.divided > 0 && moves.made > 0));
  });

  it("rule 2: a protocol that lets lines leave at once is found out", async () => {
    const module = await compiled("output");
    const newProtocol = (options: LoggingOptions, ports: ProtocolPorts) => new BlabsLines(options, ports);
    const found = Array.from({ length: 100 }, (_, seed) => seed).some((seed) => {
      const { problem, printed, isLegitimateEnd } = lived(module, seed, { newProtocol, hasCheckpoints: false });
      return problem === "" && !isLegitimateEnd && heardWhatWasSaid(printed) !== "";
    });
    ok(found);
  });
});
