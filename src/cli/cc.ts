/** `banyan cc` and `banyan c++`: mpicc and mpicxx. A shell around cc/run-build.ts: arguments, terminal, exit code. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Command } from "commander";
import { cacheFolder, cachePlace } from "../cc/cache.ts";
import { CannotCompile } from "../cc/client.ts";
import { type Build, type CommandLine, type Driver, parseCommandLine } from "../cc/command-line.ts";
import { commandLines, compileText, linkText } from "../cc/command-text.ts";
import { describeDiskTrouble, isDiskTrouble } from "../cc/disk-trouble.ts";
import { openWorkshop } from "../cc/open-workshop.ts";
import { driverName } from "../cc/requests.ts";
import { expandResponseFiles } from "../cc/response-file.ts";
import { type BuildPorts, runBuild } from "../cc/run-build.ts";
import type { Workshop } from "../cc/workshop.ts";
import { unreachable } from "../core/base/assert.ts";
import { CommandError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { StatusLine } from "./status-line.ts";

export const ccCommand: CreateCommand = (finished) => create("cc", finished);
export const cxxCommand: CreateCommand = (finished) => create("c++", finished);

function create(driver: Driver, finished: (code: number) => void): Command {
  const language = driver === "cc" ? "C" : "C++";
  return (
    new Command(driver)
      .description(`Compile and link MPI programs in ${language}, as mpi${driver === "cc" ? "cc" : "cxx"} does.`)
      .usage("[options of a compiler...] <file...>")
      .argument("[word...]")
      // Every argument is the compiler's, even if it looks like an option of Banyan.
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(async () => finished(await compile(driver, wordsAfter(driver))))
  );
}

const help = `Options are those of gcc and clang: -c -o -I -D -L -l -O -g -std= -W -M…, several sources, objects and archives at once.
The result is a WebAssembly module, whatever its name; run it with banyan run.

Besides: -show prints the commands behind it, -Wl,-z,stack-size=<bytes> sets the size of the stack (8 MiB).
Clang stays ready in the background for a minute. BANYAN_CACHE names the folder where results are kept.

Examples:
  banyan cc -O3 -Iinclude a.c b.c -lm -o app.wasm
  banyan c++ hpccg.cpp -o hpccg.wasm
  make CC="banyan cc" CXX="banyan c++"
`;

/** The arguments behind the command's name, untouched by commander. */
function wordsAfter(name: string): string[] {
  return process.argv.slice(process.argv.indexOf(name, 2) + 1);
}

async function compile(driver: Driver, words: readonly string[]): Promise<number> {
  const line = parseCommandLine(expandResponseFiles(words, readText), driver);
  if (line.kind === "help") {
    await write(process.stdout, Buffer.from(`Usage: banyan ${driver} [options of a compiler...] <file...>\n\n${help}`));
    return 0;
  }
  if (line.kind === "refused") throw new CommandError(line.message, 1);
  const printing = new Printing(line.kind === "build" ? sourcesOf(line) : "");
  try {
    const { note } = cachePlace(process.env);
    if (note !== "") printing.stderr(Buffer.from(`banyan: ${note}\n`));
    const workshop = openWorkshop({ terminal: terminalOf(process.stderr) });
    switch (line.kind) {
      case "show":
        printing.stdout(Buffer.from(`${shownText(line, workshop)}\n`));
        return 0;
      case "ask":
        return await ask(workshop, { driver, words: line.words }, printing);
      case "build":
        return await runBuild(workshop, line, printing);
      default:
        return unreachable(line);
    }
  } catch (error) {
    if (error instanceof CannotCompile) throw new CommandError(error.message, 1);
    // A full disk, a missing folder: trouble outside of Banyan.
    if (isDiskTrouble(error)) throw new CommandError(describeDiskTrouble(error, cacheFolder(process.env)), 1);
    throw error;
  } finally {
    await printing.done();
  }
}

async function ask(
  { tools }: Workshop,
  { driver, words }: { driver: Driver; words: readonly string[] },
  ports: BuildPorts,
): Promise<number> {
  const reply = await tools.run({ kind: "ask", driver: driverName(driver), words });
  if (reply.kind === "broken") throw new CannotCompile(reply.message);
  ports.stdout(reply.output);
  ports.stderr(reply.stderr);
  return reply.code;
}

/** Open MPI's `-showme:compile` and `:link` print the flags alone. */
function shownText({ what, build }: Extract<CommandLine, { kind: "show" }>, workshop: Workshop): string {
  switch (what) {
    case "command":
      return commandLines(build, workshop).join("\n");
    case "compile":
      return compileText(build, workshop);
    case "link":
      return linkText(build);
    default:
      return unreachable(what);
  }
}

/** "a.c", "a.c and 2 more"; empty: nothing is compiled. */
function sourcesOf({ inputs }: Build): string {
  const [first, ...others] = inputs.filter((input) => input.kind === "source");
  if (first === undefined) return "";
  return others.length === 0 ? basename(first.path) : `${basename(first.path)} and ${others.length} more`;
}

const renewMs = 250;

class Printing implements BuildPorts {
  readonly #writes: Promise<void>[] = [];
  /** What is being compiled, on a terminal, when it takes long. */
  readonly #line: StatusLine | null;
  readonly #renewing: NodeJS.Timeout | undefined;

  constructor(sources: string) {
    const { stderr, env } = process;
    const isShown = sources !== "" && stderr.isTTY === true && env["TERM"] !== "dumb";
    const startMs = performance.now();
    const nowMs = (): number => performance.now();
    const text = (columns: number): string => {
      const seconds = Math.floor((performance.now() - startMs) / 1000);
      return `banyan: compiling ${sources} … ${seconds} s`.slice(0, columns);
    };
    this.#line = isShown ? new StatusLine({ terminal: stderr, nowMs, text }) : null;
    if (isShown) this.#renewing = setInterval(() => this.#line?.renew(), renewMs);
  }

  stdout(bytes: Uint8Array): void {
    this.#write(process.stdout, bytes);
  }

  stderr(bytes: Uint8Array): void {
    this.#write(process.stderr, bytes);
  }

  #write(stream: NodeJS.WriteStream, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#line?.hide();
    this.#writes.push(write(stream, bytes));
  }

  readStdin(): Uint8Array {
    return readFileSync(0);
  }

  async done(): Promise<void> {
    clearInterval(this.#renewing);
    this.#line?.hide();
    await Promise.all(this.#writes);
  }
}

function write(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => stream.write(bytes, () => resolve()));
}

function terminalOf(stream: NodeJS.WriteStream): { colours: boolean; columns?: number } {
  return stream.isTTY ? { colours: true, columns: stream.columns } : { colours: false };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
