/**
 * clang and wasm-ld from npm: WebAssembly, each run with a file system of its own in memory, which ends with the run. This
 * clang cannot start itself, so the driver is only asked for its jobs (`-###`), and the jobs are run here. The driver's answer
 * is kept: the next source with the same flags needs one run less.
 *
 * Clang sees the user's names of files. A table (`-ivfsoverlay`) leads from them to the contents, because the file system in
 * memory knows no `..` and has a `/usr` of its own.
 */
import { basename, dirname, extname, resolve } from "node:path";
import type { Exit, RunOptions, Tree } from "@yowasp/clang";
import { withCommon } from "./common-symbols.ts";
import type { AskRequest, CompileRequest, DependencyRequest, LinkRequest, Reply, SourceFile } from "./requests.ts";
import { mismatchedFunctions } from "./signature-adapters.ts";
import { asWarnings, missingDeclarations } from "./void-functions.ts";

/** Exported by the package, but missing in its types. */
interface ClangPackage {
  readonly runLLVM: (words: string[] | null, files: Tree, options: RunOptions) => Promise<Tree> | Tree;
  readonly Exit: typeof Exit;
}

interface ToolRun {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly files: Tree;
}

interface DriverAnswer {
  readonly jobs: readonly (readonly string[])[];
  /** Messages for the user: warnings, or why there are no jobs. */
  readonly stderr: string;
  readonly code: number;
}

/** Stands for the source in the question to the driver. */
const placeholder = "banyan_input";
const answersMax = 256;

export class Clang {
  readonly #package: ClangPackage;
  readonly #answers = new Map<string, DriverAnswer>();

  private constructor(clang: ClangPackage) {
    this.#package = clang;
  }

  /** Takes a second; threads that are given the compiled module share it (`clang-modules.ts`). */
  static async load(): Promise<Clang> {
    const clang = (await import("@yowasp/clang")) as unknown as ClangPackage;
    await clang.runLLVM(null, {}, { fetchProgress() {} });
    return new Clang(clang);
  }

  compile(request: CompileRequest): Reply {
    const { input, cwd, files, stdin, dependencies } = request;
    const { jobs, stderr, code } = this.#askDriver(request);
    const said: Uint8Array[] = [Buffer.from(stderr)];
    if (code !== 0) return done(code, { said });
    let tree: Tree = { tmp: {}, "banyan.yaml": overlayOf(files, cwd), banyan: contentsOf(files) };
    // The assembler does not use the table.
    const assembled = request.language === "assembler" ? resolve(cwd, input) : undefined;
    for (const { path, bytes } of files) if (path === assembled) placeFile(tree, input, bytes);
    let output: Uint8Array = new Uint8Array();
    for (const job of jobs) {
      const run = this.#runJob(jobWords(job, request), tree, stdin);
      said.push(run.stderr);
      output = run.stdout;
      tree = run.files;
      if (run.code !== 0) return done(run.code, { said, output });
    }
    if (request.stage === "-c" && isCommon(request)) output = withCommon(output);
    const rule = dependencies === undefined ? undefined : (tree["banyan.d"] as Uint8Array | undefined);
    return done(0, { said, output, dependencies: rule });
  }

  #runJob(words: readonly string[], tree: Tree, stdin: Uint8Array | undefined): ToolRun {
    const run = this.#run(words, tree, stdin);
    if (run.code === 0) return run;
    const said = Buffer.from(run.stderr).toString();
    const declarations = missingDeclarations(said);
    if (declarations === undefined) return run;
    const withThem = { ...tree, "banyan_void.h": declarations };
    const again = this.#run([...words.slice(0, 2), "-include", "/banyan_void.h", ...words.slice(2)], withThem, stdin);
    return again.code === 0 ? { ...again, stderr: Buffer.from(asWarnings(said)) } : run;
  }

  link({ words, files, finish }: LinkRequest): Reply {
    const link = (...more: readonly string[]): ToolRun => {
      const tree: Tree = {};
      for (const { name, bytes } of files) placeFile(tree, name, bytes);
      return this.#run(["wasm-ld", ...words, ...more, "-o", "-"], tree);
    };
    const run = link();
    const mismatched = mismatchedFunctions(Buffer.from(run.stderr).toString());
    if (run.code !== 0 || finish === undefined || mismatched.length === 0) {
      return done(run.code, { said: [run.stderr], output: run.stdout });
    }
    // A function that is only called under a wrong signature is left out like one that is never called.
    const again = link(...mismatched.map((name) => `--export-if-defined=${name}`));
    const remark = `banyan: These calls are passed on as native code would, converted to what the function takes: ${mismatched.join(", ")}. Declare them before they are called\n`;
    return done(again.code, { said: [again.stderr, Buffer.from(remark)], output: again.stdout });
  }

  ask({ driver, words }: AskRequest): Reply {
    const run = this.#run([driver, ...words], {});
    return done(run.code, { said: [run.stderr], output: run.stdout });
  }

  #askDriver({ driver, flags, stage, language }: CompileRequest): DriverAnswer {
    const common = flags.includes("-fcommon") ? ["-fno-common"] : [];
    const words = [driver, "-###", ...flags, ...common, stage, "-x", language, placeholder, "-o", "-"];
    const key = words.join("\0");
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const { code, stderr } = this.#run(words, { [placeholder]: "" });
    const answer = { ...readDriver(Buffer.from(stderr).toString()), code };
    if (this.#answers.size >= answersMax) this.#answers.clear();
    this.#answers.set(key, answer);
    return answer;
  }

  #run(words: readonly string[], files: Tree, stdin?: Uint8Array): ToolRun {
    const stdout: Uint8Array[] = [];
    const stderr: Uint8Array[] = [];
    const options: RunOptions = {
      stdin: stdin === undefined ? null : readerOf(stdin),
      stdout: (bytes) => void (bytes && stdout.push(bytes.slice())),
      stderr: (bytes) => void (bytes && stderr.push(bytes.slice())),
      synchronously: true,
      decodeASCII: false,
    };
    let code = 0;
    let left: Tree;
    try {
      left = this.#package.runLLVM([...words], files, options) as Tree;
    } catch (error) {
      if (!(error instanceof this.#package.Exit)) throw new ToolBroke(words[0]!, error, Buffer.concat(stderr));
      ({ code, files: left } = error);
    }
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr), files: left };
  }
}

/** May several files define variables without a value? The last option of the command line counts. */
const isCommon = ({ flags, driver }: CompileRequest): boolean =>
  driver === "clang" && flags.lastIndexOf("-fcommon") > flags.lastIndexOf("-fno-common");

/** The tool crashed; its earlier messages belong to the error. */
class ToolBroke extends Error {
  override readonly name = "ToolBroke";
  constructor(tool: string, cause: unknown, stderr: Buffer) {
    const said = stderr.toString().trimEnd();
    super(`${tool} broke down: ${cause instanceof Error ? cause.message : String(cause)}${said && `\n${said}`}`);
  }
}

interface DoneParts {
  readonly said: readonly Uint8Array[];
  readonly output?: Uint8Array;
  readonly dependencies?: Uint8Array | undefined;
}

function done(code: number, { said, output = new Uint8Array(), dependencies }: DoneParts): Reply {
  return { kind: "done", code, output, stderr: Buffer.concat(said), dependencies };
}

/** Jobs are lines of quoted words between remarks of the driver. */
function readDriver(text: string): { jobs: string[][]; stderr: string } {
  const jobs: string[][] = [];
  const said: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith(' "')) {
      const words = [...line.matchAll(/ "((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!.replace(/\\(.)/g, "$1"));
      jobs.push(words[0] === "" ? words.slice(1) : words);
    } else if (
      !/^( \(in-process\)|\s*|clang version .*|Target: .*|Thread model: .*|InstalledDir: .*|Build config: .*)$/.test(
        line,
      )
    )
      said.push(line);
  }
  return { jobs, stderr: said.map((line) => `${line}\n`).join("") };
}

/** A job of the driver with the real source, and with files in memory instead of the disk. */
function jobWords(job: readonly string[], { input, cwd, dependencies }: CompileRequest): string[] {
  const name = basename(input);
  const words = job.map((word, at) => {
    if (word === placeholder) return job[at - 1] === "-main-file-name" ? name : input;
    if (word === "-fdebug-compilation-dir=/" || word === "-fcoverage-compilation-dir=/") return word + cwd.slice(1);
    return word.replace(placeholder, basename(name, extname(name)));
  });
  if (words[1] !== "-cc1") return words;
  if (dependencies?.only === true) words.splice(words.indexOf("-E"), 1, "-Eonly");
  const view = ["-ivfsoverlay", "/banyan.yaml", `-working-directory=${cwd}`];
  return [...words.slice(0, 2), ...view, ...ruleWords(dependencies), ...words.slice(2)];
}

function ruleWords(dependencies: DependencyRequest | undefined): string[] {
  if (dependencies === undefined) return [];
  const { targets, withSystem, phony } = dependencies;
  return [
    ...["-dependency-file", "/banyan.d"],
    ...targets.flatMap((target) => ["-MT", target]),
    ...(withSystem ? ["-sys-header-deps"] : []),
    ...(phony ? ["-MP"] : []),
  ];
}

/** The place of each name of a file; two names of one file share a place, or `#pragma once` would read the file twice. */
function overlayOf(files: readonly SourceFile[], cwd: string): string {
  const places = placesOf(files);
  const folders = new Map<string, object[]>([[cwd, []]]);
  for (const { path, identity } of files) {
    const entry = { type: "file", name: basename(path), "external-contents": `/banyan/${places.get(identity)!}` };
    const folder = folders.get(dirname(path));
    if (folder === undefined) folders.set(dirname(path), [entry]);
    else folder.push(entry);
  }
  const roots = [...folders].map(([name, contents]) => ({ type: "directory", name, contents }));
  return JSON.stringify({ version: 0, "case-sensitive": "true", "use-external-names": "false", roots });
}

function contentsOf(files: readonly SourceFile[]): Tree {
  const places = placesOf(files);
  return Object.fromEntries(files.map(({ identity, bytes }) => [places.get(identity)!, bytes]));
}

function placesOf(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const { identity } of files) if (!places.has(identity)) places.set(identity, `${places.size}`);
  return places;
}

/** Puts a file where the file system in memory finds this name: it ignores `.` and `..`. */
function placeFile(tree: Tree, name: string, bytes: Uint8Array): void {
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== "." && segment !== "..");
  const last = segments.pop();
  let folder = tree;
  for (const segment of segments) {
    folder[segment] ??= {};
    folder = folder[segment] as Tree;
  }
  if (last !== undefined) folder[last] = bytes;
}

function readerOf(bytes: Uint8Array): (length: number) => Uint8Array | null {
  let at = 0;
  return (length) => {
    if (at >= bytes.length) return null;
    at += length;
    return bytes.subarray(at - length, at);
  };
}
