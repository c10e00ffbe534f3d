import { deepEqual, equal } from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { long } from "../../../test/long.ts";
import { timeLimit } from "../../../test/patience.ts";
import { canKeepWasmCode } from "../../v8/wasm-code.ts";
import { Session } from "../testing/session.ts";

const session = new Session();
after(() => session.end());

const limit = timeLimit(240_000);
const here = canKeepWasmCode() ? long : { skip: "this V8 cannot write down its code" };
const env = { BANYAN_CC_TRAIN_AFTER_MS: "0" };
const source = '#include <stdio.h>\nint main(void) { printf("%d\\n", NUMBER); return 0; }\n';

describe("X9 a server without work makes machine code", { concurrency: false }, () => {
  const compile = async (number: number): Promise<Buffer> => {
    const cwd = session.write("program", { "a.c": source.replace("NUMBER", `${number}`) });
    const { code, stderr } = await session.run(cwd, "cc -O2 a.c -o a.wasm", { env });
    deepEqual([code, stderr], [0, ""]);
    return readFileSync(join(cwd, "a.wasm"));
  };

  it("it ends with its server", { ...limit, ...here }, async () => {
    await compile(1);
    while (trainings().length === 0) await sleep(20);
    await session.killServers();
    while (trainings().length > 0) await sleep(20);
    deepEqual(largeEntries(), []);
  });

  it("the next server has it, and makes the same programs", { ...limit, ...here }, async () => {
    const before = await compile(2);
    while (largeEntries().length < 2) await sleep(100);
    while (trainings().length > 0) await sleep(100);
    await session.killServers();
    const entries = largeEntries();
    deepEqual((await compile(3)).length, before.length);
    deepEqual([trainings(), largeEntries()], [[], entries], "nothing is made again");
    // The result of before would be found again; by another name of the source it is not.
    const cwd = session.write("same", { "a.c": source.replace("NUMBER", "2") });
    equal((await session.run(cwd, "cc -O2 a.c -Wl,--no-fatal-warnings -o a.wasm", { env })).code, 0);
    deepEqual(readFileSync(join(cwd, "a.wasm")), before);
  });
});

/** Processes that make code for this session's cache. */
function trainings(): string[] {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isTraining(pid));
}

function isTraining(pid: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.includes(join(session.cache, "cc")) && words.some((word) => word.endsWith("cc-training.cjs"));
  } catch {
    return false;
  }
}

function largeEntries(): string[] {
  const folder = join(session.cache, "cc/entries");
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !name.includes(".draft-") && statSync(join(folder, name), { throwIfNoEntry: false })!.size > 2 ** 22,
  );
}
