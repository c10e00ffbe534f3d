import { deepEqual, equal, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { flagName, flags, flagsFor, isInTable, namesListed, newestChecked } from "./flags.ts";

describe("X9 flags of V8", () => {
  it("the table says of this V8 what its own list says", () => {
    const listed = namesListed();
    ok(listed.size > 100, `${listed.size} flags listed`);
    for (const flag of flags) {
      const says = `${flagName(flag)} in V8 ${process.versions.v8}`;
      equal(isInTable(flag, process.versions.v8), listed.has(flagName(flag)), says);
    }
  });

  it("Node 22 and later do not know the budget, count calls, and need a flag more for C programs", () => {
    const inlined = "--max-inlined-bytecode-size-cumulative=2000";
    deepEqual(flagsFor("optimise early", "11.3.244.8-node.33"), ["--interrupt-budget=30000", inlined]);
    const late = "--invocation-count-for-maglev=3000";
    deepEqual(flagsFor("optimise C programs", "11.3.244.8-node.33"), ["--interrupt-budget=400000", late, inlined]);
    for (const v8 of ["12.4.254.21", "13.6.233.17", "14.6.202.34"]) {
      deepEqual(flagsFor("optimise early", v8), [inlined]);
      deepEqual(flagsFor("optimise C programs", v8), [late, "--invocation-count-for-turbofan=20000", inlined]);
    }
    deepEqual(flagsFor("run C programs", "11.3.244.8"), ["--no-liftoff"]);
    deepEqual(flagsFor("run C programs", "12.4.254.21"), ["--no-liftoff"]);
    deepEqual(flagsFor("run C programs", "14.6.202.34"), ["--no-liftoff", "--no-wasm-deopt"]);
  });

  it("a program's first seconds leave V8's own values behind, on the Node that knows them", () => {
    const phases = ["let a program begin", "optimise the hottest", "optimise from now on"] as const;
    const set = new Map<string, string>();
    for (const phase of phases)
      for (const flag of flagsFor(phase, "11.3.244.8")) set.set(flag.split("=")[0]!, flag.split("=")[1]!);
    deepEqual(
      [...set],
      [
        ["--ticks-before-optimization", "3"],
        ["--max-bytecode-size-for-early-opt", "81"],
      ],
    );
    for (const phase of [...phases, "optimise for long"] as const) deepEqual(flagsFor(phase, "12.4.254.21"), []);
    // Those with a compiler between have the optimiser later.
    deepEqual(
      [...phases, "optimise for long" as const].flatMap((phase) => flagsFor(phase, "13.6.233.17")),
      ["--no-turbofan", "--turbofan"],
    );
    // What V8 says its own values are, where it knows them.
    const listed = spawnSync(process.execPath, ["--v8-options"], { encoding: "utf8" }).stdout;
    const last = [...flagsFor("optimise from now on"), ...flagsFor("optimise for long")];
    for (const flag of last) ok(listed.includes(`default: ${flag}\n`), flag);
  });

  it("memories of many programs are no reason to collect garbage", () => {
    const code = `for (let i = 0; i < 12; i++) globalThis["memory" + i] = new WebAssembly.Memory({ initial: 32768, maximum: 32768, shared: true });`;
    const collected = (flags: readonly string[]): number => {
      const { stdout } = spawnSync(process.execPath, ["--trace-gc", ...flags, "-e", code], { encoding: "utf8" });
      return stdout.split("\n").filter((line) => line.includes("external memory pressure")).length;
    };
    equal(collected(flagsFor("hold memories of C programs")), 0);
    // They are on a V8 that counts them.
    if (flagsFor("hold memories of C programs").length > 0) ok(collected([]) > 0);
  });

  it("of a V8 newer than the table Node itself is asked", () => {
    const [major = 0] = newestChecked.split(".").map(Number);
    const wanted = flags.filter((flag) => flag.purpose === "optimise early" && namesListed().has(flagName(flag)));
    deepEqual(
      flagsFor("optimise early", `${major + 1}.0`),
      wanted.map(({ flag }) => flag),
    );
  });

  it("setting every flag prints nothing", () => {
    const purposes = [...new Set(flags.map(({ purpose }) => purpose))];
    const set = purposes.flatMap((purpose) => flagsFor(purpose)).map((flag) => `v8.setFlagsFromString("${flag}");`);
    // In a process of its own: some of them are not for one that runs tests.
    const code = `const v8 = require("node:v8"); ${set.join(" ")} console.log("done");`;
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
    deepEqual({ stdout, stderr }, { stdout: "done\n", stderr: "" });
  });
});
