/** Starts nodes as processes of this machine, each the leader of its own process group. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { NodeLoss } from "../../../core/service/outcome.ts";
import { flagsFor } from "../../../v8/flags.ts";
import { encodeInvitation, type Invitation } from "../../control-link/invitation.ts";
import { withLateVariables } from "../../machine/late-variables.ts";
import { ProcessWork } from "../../machine/process-work.ts";
import type { NodeSignal, NodeStarter, StartedNode } from "./node-starter.ts";

interface LocalStarterOptions {
  /** Of the job: the node removes it if this process dies, even before it was invited. */
  readonly folder: string;
  /** What stands in front of the node's own command, and runs it: for nodes in namespaces of their own. Usually empty. */
  readonly command: readonly string[];
  /** The program is in C: its node need not know certificates, see `late-variables.ts`. */
  readonly isC: boolean;
  /** Process i of the job (from 1) waits for a debugger at this port + i − 1; 0: none does. */
  readonly debugPort: number;
  /** The first processes, in this order, stand for these of a job that has been moved: those that have stayed are where they were. */
  readonly starts: readonly number[];
}

/** Tells a command which of the job's processes it is asked to run, from 1. */
const numberVariable = "BANYAN_NODE_START";

const threadsOption = "--experimental-worker-inspection";

let knowsThreads: boolean | undefined;

/** Chrome's DevTools see the threads of a process where Node offers them, from 22.17 and 24.1 on; it does not start with an option that it does not know. */
function inspectorOptions(port: number): string[] {
  const waits = `--inspect-wait=127.0.0.1:${port}`;
  knowsThreads ??= spawnSync(process.execPath, [threadsOption, "--eval", ""], { stdio: "ignore" }).status === 0;
  return knowsThreads ? [waits, threadsOption] : [waits];
}

export class LocalStarter implements NodeStarter {
  readonly #options: LocalStarterOptions;

  constructor(options: LocalStarterOptions) {
    this.#options = options;
  }

  start(number: number, invitation: Promise<Invitation | null>): StartedNode {
    const { folder, command, isC, debugPort, starts } = this.#options;
    const inspector = debugPort === 0 ? [] : inspectorOptions(debugPort + number - 1);
    // Not the options of the process that calls `launch`: they may be a debugger's or a test runner's.
    const holding = isC ? flagsFor("hold memories of C programs") : [];
    const options = ["--disable-warning=ExperimentalWarning", ...holding, ...inspector];
    const node = [process.execPath, ...options, join(__dirname, "agent.cjs"), folder];
    const [file, ...words] = [...command, ...node];
    const inherited = isC ? withLateVariables(process.env) : process.env;
    const env =
      command.length === 0 ? inherited : { ...inherited, [numberVariable]: `${starts[number - 1] ?? number}` };
    const child = spawn(file!, words, { detached: true, stdio: "pipe", env });
    // A process that could not be started has no stdin, and shows as its end.
    void invitation.then((given) => child.stdin?.end(given === null ? "" : encodeInvitation(given)));
    return new LocalNode(child, command.length > 0);
  }
}

class LocalNode implements StartedNode {
  readonly exited: Promise<NodeLoss>;
  readonly streamsEnded: Promise<void>;
  readonly #child: ChildProcess;
  /** The child is a command that runs the node, which may be a process of its own. */
  readonly #isCommand: boolean;
  #work: ProcessWork | undefined;

  constructor(child: ChildProcess, isCommand: boolean) {
    this.#child = child;
    this.#isCommand = isCommand;
    // One that is gone before it has read shows as its end.
    child.stdin?.on("error", () => {});
    this.exited = new Promise((resolve) => {
      child.on("error", () => resolve({ kind: "exit", code: 1 }));
      child.on("exit", (code, signal) => resolve(lossOf(code, signal)));
    });
    this.streamsEnded = new Promise((resolve) => {
      child.on("error", () => resolve());
      child.on("close", () => resolve());
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): Readable | null {
    return this.#child.stdout;
  }

  get stderr(): Readable | null {
    return this.#child.stderr;
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  work(): number {
    const { pid } = this.#child;
    if (pid === undefined) return 0;
    this.#work ??= new ProcessWork(pid, { withChildren: this.#isCommand });
    return this.#work.look();
  }

  signal(signal: NodeSignal): boolean {
    if (!this.isAlive) return false;
    try {
      process.kill(-this.#child.pid!, signal);
    } catch {
      this.#child.kill(signal);
    }
    return true;
  }
}

const lossOf = (code: number | null, signal: NodeJS.Signals | null): NodeLoss =>
  signal === null
    ? { kind: "exit", code: code ?? 1 }
    : { kind: "signal", signal, signalNumber: constants.signals[signal] };
