/**
 * Carries out a command line as mpicc would: sources to objects, objects to a program, messages to standard error. Sources are
 * compiled in parallel as far as there are processors; their messages come in the order of the command line.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Build, type CompilerInput, quoteForMake, type Source } from "./command-line.ts";
import { commandLines } from "./command-text.ts";
import { compileSource, type SourceInput } from "./compile-step.ts";
import { linkInputs } from "./link-inputs.ts";
import { linkProgram } from "./link-step.ts";
import { outputOf, rulePathOf, writeOutput } from "./output.ts";
import { type DependencyRequest, driverName, type LinkFile } from "./requests.ts";
import { supportLibrary } from "./support-library.ts";
import type { Made, Workshop } from "./workshop.ts";

export interface BuildPorts {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  /** All of standard input, for a source that is `-`. */
  readStdin(): Uint8Array;
}

/** More sources at once would only wait in the server, each with all its headers. */
const atOnceMax = 8;

/** Returns the exit code. */
export async function runBuild(workshop: Workshop, build: Build, ports: BuildPorts): Promise<number> {
  const say = (line: string): void => ports.stderr(Buffer.from(`${line}\n`));
  for (const note of build.notes) say(`banyan: ${note}`);
  const missing = build.inputs.filter((input) => isMissing(input, workshop.cwd));
  for (const input of missing) {
    if ("path" in input) say(`${driverName(build.driver)}: error: no such file or directory: '${input.path}'`);
  }
  if (missing.length > 0) return 1;
  if (build.dryRun || build.verbose) say(commandLines(build, workshop).join("\n"));
  if (build.dryRun) return 0;
  const sources = build.inputs.filter((input) => input.kind === "source");
  const linking = build.stage === "link";
  if (!linking) warnOfUnused(build, say);
  // The library is made meanwhile if it is missing.
  const support = linking && build.link.withLibraries && !build.link.relocatable ? supportLibrary(workshop) : undefined;
  // Awaited later; a failure before that must not be an unhandled rejection.
  support?.catch(() => {});
  const compiled = await compileAll(workshop, build, sources, ports);
  const failed = [...compiled.values()].find((made) => made.kind === "failed");
  if (failed?.kind === "failed") return failed.code;
  if (!linking) return 0;
  return link(workshop, build, { compiled, support: (await support) ?? [], ports });
}

async function compileAll(
  workshop: Workshop,
  build: Build,
  sources: readonly Source[],
  ports: BuildPorts,
): Promise<Map<Source, Made>> {
  const compiled = new Map<Source, Made>();
  const waiting: { source: Source; made: Promise<Made> }[] = [];
  const finish = async (): Promise<void> => {
    const { source, made } = waiting.shift()!;
    const result = await made;
    compiled.set(source, result);
    ports.stderr(result.stderr);
    if (result.kind === "made") deliver(build, { source, made: result, cwd: workshop.cwd, ports });
  };
  for (const source of sources) {
    if (waiting.length === atOnceMax) await finish();
    const input: SourceInput = source.path === "-" ? { ...source, stdin: ports.readStdin() } : source;
    const made = compileSource(workshop, build, input, ruleRequest(build, source.path));
    made.catch(() => {});
    waiting.push({ source, made });
  }
  while (waiting.length > 0) await finish();
  return compiled;
}

interface Delivery {
  readonly source: Source;
  readonly made: Extract<Made, { kind: "made" }>;
  readonly cwd: string;
  readonly ports: BuildPorts;
}

function deliver(build: Build, { source, made, cwd, ports }: Delivery): void {
  const { stage, dependencies } = build;
  const rule = made.dependencies;
  if (rule !== undefined && stage === "dependencies") {
    const path = dependencies?.path ?? build.output;
    if (path === undefined || path === "-") ports.stdout(rule);
    else writeOutput(resolve(cwd, path), rule);
    return;
  }
  if (rule !== undefined) writeOutput(resolve(cwd, rulePathOf(build, source.path)), rule);
  if (stage === "link" || stage === "syntax") return;
  const path = outputOf(build, source.path);
  if (path === undefined) ports.stdout(made.output);
  else writeOutput(resolve(cwd, path), made.output);
}

function ruleRequest(build: Build, source: string): DependencyRequest | undefined {
  const { dependencies, stage, output } = build;
  if (dependencies === undefined) return undefined;
  const { targets, withSystem, phony } = dependencies;
  const named = stage === "dependencies" ? undefined : output;
  const target = outputOf({ ...build, stage: "object", output: named }, source) ?? "-";
  return {
    targets: targets.length > 0 ? targets : [quoteForMake(target)],
    withSystem,
    phony,
    only: stage === "dependencies",
  };
}

interface Linking {
  readonly compiled: ReadonlyMap<Source, Made>;
  readonly support: readonly LinkFile[];
  readonly ports: BuildPorts;
}

async function link(workshop: Workshop, build: Build, { compiled, support, ports }: Linking): Promise<number> {
  const shared = build.inputs.find((input) => input.kind === "file" && /\.(so(\.[\d.]+)?|dylib|dll)$/.test(input.path));
  if (shared?.kind === "file") {
    const text = `Cannot link ${shared.path}: programs for Banyan are one module; link an archive (.a)`;
    ports.stderr(Buffer.from(`banyan: ${text}\n`));
    return 1;
  }
  const inputs = linkInputs(build, compiled, workshop.cwd);
  const made = await linkProgram(workshop, build, { inputs, support });
  ports.stderr(made.stderr);
  if (made.kind === "failed") {
    const name = driverName(build.driver);
    const text = `${name}: error: linker command failed with exit code ${made.code} (use -v to see invocation)\n`;
    ports.stderr(Buffer.from(text));
    return made.code;
  }
  writeOutput(resolve(workshop.cwd, build.output ?? "a.out"), made.output, { executable: !build.link.relocatable });
  return 0;
}

function isMissing(input: CompilerInput, cwd: string): boolean {
  if (!("path" in input) || input.path === "-") return false;
  return statSync(resolve(cwd, input.path), { throwIfNoEntry: false }) === undefined;
}

function warnOfUnused(build: Build, say: (line: string) => void): void {
  for (const input of build.inputs) {
    if (input.kind !== "file") continue;
    const name = driverName(build.driver);
    say(`${name}: warning: ${input.path}: 'linker' input unused [-Wunused-command-line-argument]`);
  }
}
