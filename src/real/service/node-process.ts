/** One node, seen from the dispatcher: a forked process with a channel, its own two streams, and its end. */
import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import type { NodeLoss } from "../../core/service/outcome.ts";
import type { FromNode, Setup, Stream, ToNode } from "../node/messages.ts";
import { ProcessWork } from "../process/process-work.ts";

export interface NodeProcessEvents {
  said(message: FromNode): void;
  /** Bytes that came past the ranks' own paths (`fs.writeSync(1, …)`, native code). Call `done` for more. */
  printed(stream: Stream, bytes: Buffer, done: () => void): void;
  /** The process is gone and everything it said has been read. Called once. */
  ended(loss: NodeLoss): void;
}

/** Programs that a rank started may hold the node's streams open when the node is long gone. */
const streamsAfterExitMsMax = 200;

export class NodeProcess {
  readonly #child: ChildProcess;
  /** Null: it has not begun. */
  #events: NodeProcessEvents | null = null;
  #work: ProcessWork | undefined;
  #isGone!: () => void;
  /** Fulfilled after `ended`. */
  readonly gone = new Promise<void>((resolve) => {
    this.#isGone = resolve;
  });

  /** The node removes the job's folder if this process dies, even before it has read its setup. */
  constructor(folder: string) {
    this.#child = fork(join(__dirname, "agent.cjs"), [folder], {
      detached: true,
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // Not those of the process that calls `launch`: they may be a debugger's or a test runner's.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    this.#child.on("message", (message) => this.#events?.said(message as FromNode));
    this.#forward("stdout");
    this.#forward("stderr");
    this.#watchEnd();
  }

  /** It becomes a node. */
  begin(setup: Setup, events: NodeProcessEvents): void {
    this.#events = events;
    this.send(setup);
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** What the operating system has seen it do, see `DispatcherPorts.work`. */
  work(): number {
    const { pid } = this.#child;
    if (pid === undefined) return 0;
    this.#work ??= new ProcessWork(pid);
    return this.#work.look();
  }

  send(message: ToNode): void {
    // A node that is gone shows as its end; what was meant for it is of no use then.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(): boolean {
    return this.signal("SIGKILL");
  }

  /** To the node, and every program that its ranks have started: a detached process leads a group of its own. False: it is gone. */
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): boolean {
    if (!this.isAlive) return false;
    try {
      process.kill(-this.#child.pid!, signal);
    } catch {
      this.#child.kill(signal);
    }
    return true;
  }

  #forward(stream: Stream): void {
    const source = this.#child[stream];
    source?.on("data", (bytes: Buffer) => {
      if (this.#events === null) return;
      source.pause();
      this.#events.printed(stream, bytes, () => source.resume());
    });
  }

  #watchEnd(): void {
    let ended = false;
    let waiting: NodeJS.Timeout | undefined;
    const end = (loss: NodeLoss): void => {
      clearTimeout(waiting);
      if (ended) return;
      ended = true;
      this.#events?.ended(loss);
      this.#isGone();
    };
    this.#child.on("error", () => end({ kind: "exit", code: 1 }));
    this.#child.on("exit", (code, signal) => {
      const loss: NodeLoss =
        signal === null
          ? { kind: "exit", code: code ?? 1 }
          : { kind: "signal", signal, signalNumber: constants.signals[signal] };
      // "close" comes when channel and streams have been read to their end.
      this.#child.on("close", () => end(loss));
      waiting = setTimeout(() => end(loss), streamsAfterExitMsMax);
    });
  }
}
