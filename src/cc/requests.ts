/**
 * Messages on the socket between a command and the compile server, and between the server and its threads. One request for each
 * connection; closing the connection cancels the request. The request includes the contents of files: the server's output
 * depends on nothing else.
 */

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
  /** Text of the custom section `banyan`. */
  readonly section: string;
  /** Keep the names of functions: stack traces show them. */
  readonly names: boolean;
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
export type Request = ToolRequest | { readonly kind: "stop" };

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

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isBytes: Check = (value) => value instanceof Uint8Array;
const isDriver: Check = (value) => value === "clang" || value === "clang++";
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isMaybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isRecordOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(checks).every(([name, check]) => check((value as Fields)[name]));

const isFinish = isRecordOf({ capturePoints: isListOf(isText), section: isText, names: isFlag });

/** The required fields of each kind of request; a socket may carry anything. */
const requestChecks: Readonly<Record<Request["kind"], Check>> = {
  compile: isRecordOf({
    driver: isDriver,
    flags: isListOf(isText),
    stage: isText,
    language: isText,
    input: isText,
    stdin: isMaybe(isBytes),
    cwd: isText,
    files: isListOf(isRecordOf({ path: isText, bytes: isBytes, identity: isText })),
    dependencies: isMaybe(isRecordOf({ targets: isListOf(isText), withSystem: isFlag, phony: isFlag, only: isFlag })),
  }),
  link: isRecordOf({
    words: isListOf(isText),
    files: isListOf(isRecordOf({ name: isText, bytes: isBytes })),
    finish: isMaybe(isFinish),
  }),
  ask: isRecordOf({ driver: isDriver, words: isListOf(isText) }),
  stop: () => true,
};

export const isRequest = (value: unknown): value is Request => isOneOf(requestChecks, value);

const replyChecks: Readonly<Record<Reply["kind"], Check>> = {
  done: isRecordOf({
    code: (value) => Number.isInteger(value),
    output: isBytes,
    stderr: isBytes,
    dependencies: isMaybe(isBytes),
  }),
  broken: isRecordOf({ message: isText }),
};

export const isReply = (value: unknown): value is Reply => isOneOf(replyChecks, value);

function isOneOf(checks: Readonly<Record<string, Check>>, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { kind } = value as Fields;
  return typeof kind === "string" && Object.hasOwn(checks, kind) && checks[kind]?.(value) === true;
}

/** The name under which clang is called, which begins its messages. */
export function driverName(driver: "cc" | "c++"): "clang" | "clang++" {
  return driver === "cc" ? "clang" : "clang++";
}
