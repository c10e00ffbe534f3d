/**
 * What crosses the socket between a command and the compile server, and between the server and its threads. One request for
 * each connection; closing it takes the request back. Contents of files travel with it: what the server makes depends on
 * nothing else.
 */

/** One source through clang. */
export interface CompileRequest {
  readonly kind: "compile";
  readonly driver: "clang" | "clang++";
  /** For clang's driver, without input and output. */
  readonly flags: readonly string[];
  /** How far: `-c`, `-S`, `-E`, `-fsyntax-only`. */
  readonly stage: string;
  readonly language: string;
  /** As the user wrote it: messages say it that way. `-` is `stdin`. */
  readonly input: string;
  readonly stdin?: Uint8Array | undefined;
  /** What relative names are relative to. */
  readonly cwd: string;
  readonly files: readonly SourceFile[];
  /** Also make a rule for make. */
  readonly dependencies?: DependencyRequest | undefined;
}

export interface SourceFile {
  /** Absolute, without `.` and `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The same for two names of one file. */
  readonly identity: string;
}

export interface DependencyRequest {
  /** Quoted for make already. */
  readonly targets: readonly string[];
  readonly withSystem: boolean;
  readonly phony: boolean;
  /** Nothing but the rule. */
  readonly only: boolean;
}

/** Objects to a module. */
export interface LinkRequest {
  readonly kind: "link";
  /** For wasm-ld, without the output. */
  readonly words: readonly string[];
  readonly files: readonly LinkFile[];
  /** Makes a program of it: Asyncify and the section that says how it was made. Objects (`-r`) have none. */
  readonly finish?: Finish | undefined;
}

export interface LinkFile {
  /** As `words` name it; no two are the same without their `..`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Finish {
  /** Imports, as `module.name`, inside which the stack may be unwound. None: every function stays as clang made it. */
  readonly capturePoints: readonly string[];
  /** Text of the custom section `banyan`. */
  readonly section: string;
  /** Keep the names of functions: stack traces show them. */
  readonly names: boolean;
}

/** The second half of a link, a job of its own: another thread may do it, and when it dies clang does not. */
export interface InstrumentRequest {
  readonly kind: "instrument";
  readonly module: Uint8Array;
  readonly finish: Finish;
}

/** A question to clang about itself. */
export interface AskRequest {
  readonly kind: "ask";
  readonly driver: "clang" | "clang++";
  readonly words: readonly string[];
}

export type ToolRequest = CompileRequest | LinkRequest | AskRequest;

/** What a client may say; `stop` ends the server once nothing is left to do. */
export type Request = ToolRequest | { readonly kind: "stop" };

/** What a thread of the server is told. */
export type Job = ToolRequest | InstrumentRequest;

export type Reply =
  /** The tool ran to its end; `code` says how it went. */
  | {
      readonly kind: "done";
      readonly code: number;
      /** The object, the module, the preprocessed text, the answer. */
      readonly output: Uint8Array;
      readonly stderr: Uint8Array;
      readonly dependencies?: Uint8Array | undefined;
    }
  /** The tool broke, or the server could not do what was asked; the text is for the user. */
  | { readonly kind: "broken"; readonly message: string };

/** The name under which clang is called, which it puts before its messages. */
export function driverName(driver: "cc" | "c++"): "clang" | "clang++" {
  return driver === "cc" ? "clang" : "clang++";
}
