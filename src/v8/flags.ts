/**
 * The flags of V8 that Banyan sets: what each is for, and which versions of V8 know it. V8 complains on standard error about
 * a flag that it does not know, and users would read that. So nobody sets a flag by its name: everybody asks here for what
 * serves a purpose, and gets what this version of V8 has.
 *
 * Up to `newestChecked` the table knows; a test compares it with what the running Node lists. Beyond it Node itself is asked,
 * once, by a child that prints its options and ends (`--v8-options`, 15 to 30 ms): a flag may be gone there.
 */
import { execFileSync } from "node:child_process";
import { setFlagsFromString } from "node:v8";

type Purpose =
  | "optimise early"
  | "optimise C programs"
  | "optimise as usual"
  | "optimise between nodes"
  | "let a program begin"
  | "optimise the hottest"
  | "optimise from now on"
  | "optimise for long"
  | "optimise late"
  | "run C programs"
  | "hold memories of C programs"
  | "compile C programs ahead"
  | "run the compiler"
  | "run the compiler for long"
  | "optimise the compiler"
  | "call intrinsics"
  | "collect garbage on demand";

interface Flag {
  readonly flag: string;
  readonly purpose: Purpose;
  /** The first checked version of V8 that knows it; all do where it is missing. */
  readonly since?: Version;
  /** The last checked version of V8 that knows it; all do where it is missing. */
  readonly until?: Version;
  /** Known before, and not set there. */
  readonly neededSince?: Version;
}

/** As V8 counts: `major.minor`. Node 20 has 11.3, 22 12.4, 23 12.9, 24 13.6, 26 14.6. */
export type Version = `${number}.${number}`;

export const newestChecked: Version = "14.6";

export const flags: readonly Flag[] = [
  /*
   * Every rank is an isolate of its own and compiles its own code, so a short program would run in the interpreter for most of
   * its life. A smaller budget makes V8 optimise sooner (8-byte allreduce of 8 ranks on 2 cores after 3000 rounds: 10 to 13 µs
   * instead of 33 to 53; 10 000 is too little, code is optimised before it has seen enough). Later versions count calls in
   * its place (`--invocation-count-for-turbofan`), and have a compiler between interpreter and optimiser, which is switched on
   * and takes a function after 400 calls: what the budget was for is done.
   */
  { flag: "--interrupt-budget=30000", purpose: "optimise early", until: "11.3" },
  // The way of a message from a program's `send` to the ring is a dozen small functions, more than V8 puts into one by default (920
  // bytes of their code): the last ones would be calls (8 bytes between two ranks, ordinary arrays: 0.31 instead of 0.35 µs).
  { flag: "--max-inlined-bytecode-size-cumulative=2000", purpose: "optimise early" },
  /*
   * A program in C is in WebAssembly, and so is most of the way of its messages: what V8 would optimise is the rest. Its optimiser has threads of its own, and takes
   * from programs, where all processors are at work, more than it gives (2 cores, cg of class W: 0.28 instead of 0.49 s on 2 ranks of one node, 0.42
   * instead of 0.85 on two nodes, 1.14 instead of 1.99 with two replicas of each; bt with replicas 0.95 times as long). After some thousand messages the latency is the same.
   */
  { flag: "--interrupt-budget=400000", purpose: "optimise C programs", until: "11.3" },
  // Later versions count calls instead. (Node 24 and 26, 2 ranks on one node: cg of class W 0.23 instead of 0.30 s, mg 0.111 instead of 0.135; ADR 61.) Node 20 and 22 know the
  // first of the two, and the compiler it is for is off there.
  { flag: "--invocation-count-for-maglev=3000", purpose: "optimise C programs" },
  { flag: "--invocation-count-for-turbofan=20000", purpose: "optimise C programs", since: "12.4" },
  { flag: "--max-inlined-bytecode-size-cumulative=2000", purpose: "optimise C programs" },
  { flag: "--interrupt-budget=67584", purpose: "optimise as usual", until: "11.3" },
  // Ranks that share a thread and talk to other nodes: all of that is JavaScript. (`poisson.c`, 8 ranks on 4 nodes and 2 cores, size 255 and 1023: 2.70 and 11.7 to 12.6 s with 30 000 and with
  // 45 000, 2.84 and 12.2 to 12.5 with V8's own, 2.65 and 13.6 with 200 000, 2.51 and 15.3 with 1 000 000; ADR 72.)
  { flag: "--interrupt-budget=45000", purpose: "optimise between nodes", until: "11.3" },
  /*
   * Which code is hot is known early there, and not worth it yet: each node optimises two hundred functions for itself, 0.8 s of processor time, and a program of a second ends before
   * that is repaid. So in its first second V8 waits until a function has used its budget ten times instead of three, and takes no short way with small ones; then six times for some seconds, so that
   * not all is optimised at once (ADR 85).
   */
  { flag: "--ticks-before-optimization=10", purpose: "let a program begin", until: "11.3" },
  { flag: "--max-bytecode-size-for-early-opt=0", purpose: "let a program begin", until: "11.3" },
  // Later versions have a compiler between, which gives most of it and takes a tenth of the time. What the optimiser gives more is repaid after some twelve seconds, so for eight there is none:
  // of WebAssembly there is, it has flags of its own. (`poisson.c` 255, 511 and 1023, 8 ranks on 4 nodes and 2 cores, Node 24: 1.83, 3.70 and 11.5 s instead of 2.04, 4.21 and 11.9; Node 26: 1.71, 2.82 and
  // 10.5 instead of 2.01, 2.98 and 11.3; ADR 89.)
  { flag: "--no-turbofan", purpose: "let a program begin", neededSince: "13.6" },
  { flag: "--turbofan", purpose: "optimise for long", neededSince: "13.6" },
  { flag: "--ticks-before-optimization=6", purpose: "optimise the hottest", until: "11.3" },
  // V8's own values.
  { flag: "--ticks-before-optimization=3", purpose: "optimise from now on", until: "11.3" },
  { flag: "--max-bytecode-size-for-early-opt=81", purpose: "optimise from now on", until: "11.3" },
  // While the state of a process is saved, and memories travel: all of it is code that has not run before and runs for some milliseconds. The optimiser takes a third of
  // the processors then, from programs that stand still for it.
  { flag: "--interrupt-budget=2000000", purpose: "optimise late", until: "11.3" },
  // The baseline compiler's code is never replaced while it runs, and `main` may run for hours (facts: 2 to 4 times slower).
  { flag: "--no-liftoff", purpose: "run C programs" },
  // The optimiser wants to know which functions an indirect call reaches, which only the baseline compiler's code notes down:
  // without that code V8 14.6 stops ("Check failed: function_feedback != …", Node 26). Before 14 it is off by default.
  { flag: "--no-wasm-deopt", purpose: "run C programs", since: "12.9" },
  /*
   * A memory of a program is 2 GiB of which it touches little. V8 14 counts all of it, and collects garbage for each: 22 times while 16 ranks start on Node 26, which takes
   * 0.18 of 0.86 s of processor time. How much it lets lie follows from this limit of its own heap, which C programs have no use for. Only of the command line; it makes V8 refuse
   * the caches of other processes' code on Node 20 (0.2 s more).
   */
  { flag: "--max-old-space-size=1048576", purpose: "hold memories of C programs", neededSince: "14.0" },
  // Otherwise each thread compiles a function when it first calls it, though its neighbours are at the same function just then.
  { flag: "--no-wasm-lazy-compilation", purpose: "compile C programs ahead" },
  // clang is large, and optimising it takes longer than it then saves.
  { flag: "--liftoff-only", purpose: "run the compiler" },
  // Functions are checked when they are compiled, not all 75 MB beforehand.
  { flag: "--wasm-lazy-validation", purpose: "run the compiler" },
  { flag: "--wasm-lazy-validation", purpose: "run the compiler for long" },
  // A server that compiles dozens of programs repays the optimisation of what it uses most: 2 s more at first, 0.77 s for a small program
  // instead of 0.93 later. By default functions are optimised that are used far less, which is never repaid.
  { flag: "--wasm-tiering-budget=400000000", purpose: "run the compiler for long" },
  // Every function that is called is optimised at once (src/cc/machine-code): in place of the baseline compiler's code.
  { flag: "--no-liftoff-only", purpose: "optimise the compiler" },
  { flag: "--no-liftoff", purpose: "optimise the compiler" },
  { flag: "--allow-natives-syntax", purpose: "call intrinsics" },
  { flag: "--expose-gc", purpose: "collect garbage on demand" },
];

/** For the command line of a Node process. */
export function flagsFor(purpose: Purpose, v8 = process.versions.v8): string[] {
  return flags
    .filter((each) => each.purpose === purpose && isKnown(each, v8) && isNeeded(each, v8))
    .map(({ flag }) => flag);
}

function isNeeded({ neededSince }: Flag, v8: string): boolean {
  return neededSince === undefined || compareVersions(v8, neededSince) >= 0;
}

/** For this process, all its threads: before the first of them compiles what the flags are about. */
export function setFlagsFor(purpose: Purpose): void {
  for (const flag of flagsFor(purpose)) setFlagsFromString(flag);
}

/** Sets them to the opposite, the last one first. Only for flags without a value, which had that value before. */
export function unsetFlagsFor(purpose: Purpose): void {
  for (const flag of flagsFor(purpose).reverse()) setFlagsFromString(oppositeOf(flag));
}

/** What the table says of any version. */
export function isInTable({ since, until }: Flag, v8: string): boolean {
  return (
    (since === undefined || compareVersions(v8, since) >= 0) && (until === undefined || compareVersions(v8, until) <= 0)
  );
}

/** The name as V8 lists it: `--no-liftoff` sets `liftoff` to false. */
export function flagName({ flag }: Flag): string {
  return flag.replace(/^--(no-)?/, "").replace(/=.*/, "");
}

function oppositeOf(flag: string): string {
  return flag.startsWith("--no-") ? flag.replace("--no-", "--") : flag.replace("--", "--no-");
}

let listed: ReadonlySet<string> | undefined;

/** The names of all flags that the V8 of the running Node knows, by its own word. Empty where it does not say. */
export function namesListed(): ReadonlySet<string> {
  if (listed !== undefined) return listed;
  try {
    const text = execFileSync(process.execPath, ["--v8-options"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    listed = new Set(Array.from(text.matchAll(/^ +--(\S+) \(/gm), (match) => match[1] ?? ""));
  } catch {
    listed = new Set();
  }
  return listed;
}

function isKnown(flag: Flag, v8: string): boolean {
  if (compareVersions(v8, newestChecked) <= 0) return isInTable(flag, v8);
  return namesListed().has(flagName(flag));
}

function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split(".").map(Number);
  const [majorB = 0, minorB = 0] = b.split(".").map(Number);
  return majorA - majorB || minorA - minorB;
}
