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

/** What a request of each kind must have; a socket may carry anything. */
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

/** The name under which clang is called, which it puts before its messages. */
export function driverName(driver: "cc" | "c++"): "clang" | "clang++" {
  return driver === "cc" ? "clang" : "clang++";
}
