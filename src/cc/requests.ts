/**
 * Messages on the socket between a command and the compile server, and between the server and its threads. One request for each
 * connection; closing the connection cancels the request. The request includes the contents of files: the server's output
 * depends on nothing else.
 */
import { bytes, flag, kind, list, object, oneOf, orAbsent, text, whole, word } from "../core/base/value-shape.ts";

/** One source through clang. */
export interface CompileRequest {
  readonly kind: "compile";
  readonly driver: "clang" | "clang++";
  /** Options of clang's driver, without input and output. */
  readonly flags: readonly string[];
  /** The last step: `-c`, `-S`, `-E`, `-fsyntax-only`. */
  readonly stage: string;
  readonly language: string;
  /** The path as the user wrote it, which messages show. `-` is `stdin`. */
  readonly input: string;
  readonly stdin?: Uint8Array | undefined;
  /** The folder that relative names are relative to. */
  readonly cwd: string;
  readonly files: readonly SourceFile[];
  /** Also make a rule for make. */
  readonly dependencies?: DependencyRequest | undefined;
}

export interface SourceFile {
  /** Absolute, without `.` and `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Equal for two names of one file. */
  readonly identity: string;
}

export interface DependencyRequest {
  /** Quoted for make already. */
  readonly targets: readonly string[];
  readonly withSystem: boolean;
  readonly phony: boolean;
  /** Make the rule only. */
  readonly only: boolean;
}

/** Objects to a module. */
export interface LinkRequest {
  readonly kind: "link";
  /** Options of wasm-ld, without the output. */
  readonly words: readonly string[];
  readonly files: readonly LinkFile[];
  /** Makes a program: Asyncify and the section that says how it was made. Undefined for objects (`-r`). */
  readonly finish?: ProgramFinish | undefined;
}

export interface LinkFile {
  /** The name in `words`; names are distinct also without their `..`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ProgramFinish {
  /** Imports, as `module.name`, inside which the stack may be unwound. Without any, every function stays as clang made it. */
  readonly capturePoints: readonly string[];
  /** Functions that are the C library's, if they are there, and no part of the program (`steady-functions.ts`). */
  readonly libraryNames: readonly string[];
  /** Text of the custom section `banyan`. */
  readonly section: string;
  /** Keep the names of functions: stack traces show them. */
  readonly names: boolean;
  /** Let accesses through null pointers trap where the debug information is complete (`-g`). */
  readonly checksNull: boolean;
  /** The folder from which names of sources are to be understood, for debuggers; empty: there are no lines. */
  readonly sourceRoot: string;
}

/** The second half of a link, a job of its own: another thread may do it, and if that thread dies, clang does not. */
export interface InstrumentRequest {
  readonly kind: "instrument";
  readonly module: Uint8Array;
  readonly finish: ProgramFinish;
}

/** A question to clang about itself. */
export interface AskRequest {
  readonly kind: "ask";
  readonly driver: "clang" | "clang++";
  readonly words: readonly string[];
}

export type ToolRequest = CompileRequest | LinkRequest | AskRequest;

/** Requests of a client; `stop` ends the server once it is idle. */
export type CompilerRequest = ToolRequest | { readonly kind: "stop" };

/** Orders for a thread of the server. */
export type ToolJob = ToolRequest | InstrumentRequest;

export type Reply =
  /** The tool ran to its end; `code` is its exit code. */
  | {
      readonly kind: "done";
      readonly code: number;
      /** The object, the module, the preprocessed text, the answer. */
      readonly output: Uint8Array;
      readonly stderr: Uint8Array;
      readonly dependencies?: Uint8Array | undefined;
    }
  /** The tool crashed, or the server could not handle the request; the text is for the user. */
  | { readonly kind: "broken"; readonly message: string };

const finish = object<ProgramFinish>({
  capturePoints: list(text),
  libraryNames: list(text),
  section: text,
  names: flag,
  checksNull: flag,
  sourceRoot: text,
});
const driver = word("clang", "clang++");

const request = oneOf<CompilerRequest>({
  compile: object({
    kind: kind("compile"),
    driver,
    flags: list(text),
    stage: text,
    language: text,
    input: text,
    stdin: orAbsent(bytes),
    cwd: text,
    files: list(object<SourceFile>({ path: text, bytes, identity: text })),
    dependencies: orAbsent(
      object<DependencyRequest>({ targets: list(text), withSystem: flag, phony: flag, only: flag }),
    ),
  }),
  link: object({
    kind: kind("link"),
    words: list(text),
    files: list(object<LinkFile>({ name: text, bytes })),
    finish: orAbsent(finish),
  }),
  ask: object({ kind: kind("ask"), driver, words: list(text) }),
  stop: object({ kind: kind("stop") }),
});

const reply = oneOf<Reply>({
  done: object({
    kind: kind("done"),
    code: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    output: bytes,
    stderr: bytes,
    dependencies: orAbsent(bytes),
  }),
  broken: object({ kind: kind("broken"), message: text }),
});

/** A socket may carry anything. */
export const isRequest = (value: unknown): value is CompilerRequest => request(value) === "";

export const isReply = (value: unknown): value is Reply => reply(value) === "";

/** The name under which clang is called, which begins its messages. */
export function driverName(driver: "cc" | "c++"): "clang" | "clang++" {
  return driver === "cc" ? "clang" : "clang++";
}
