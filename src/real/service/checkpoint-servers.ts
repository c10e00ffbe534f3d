/**
 * The checkpoint servers of a job, seen from the dispatcher: processes that are started with it, started again when they are lost
 * (what they had on disk is still there), and ended with it. Sets go round them.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { FromCheckpointServer, ToCheckpointServer } from "../checkpoint-server/messages.ts";
import type { Job } from "../transport/handshake/handshake.ts";
import { serverFolderIn } from "./job-folder.ts";

/** Some systems take no longer paths of sockets; the shortest limit there is, with the zero at the end. */
const socketPathMax = 103;
/** One that falls again and again does not keep the machine busy. */
const restartMs = 100;
/** Of all of them: they fall for a reason of their own. */
const lossesMax = 20;

/** What is wrong with servers in that folder; undefined: nothing. */
export function checkServers(folder: string, servers: number): string | undefined {
  const path = socketPathOf(folder, servers - 1);
  if (servers === 0 || Buffer.byteLength(path) <= socketPathMax) return undefined;
  return `Cannot start checkpoint servers: the path of their socket, ${path}, is too long; let TMPDIR name a shorter folder`;
}

const socketPathOf = (folder: string, server: number): string => join(folder, `cs-${server}`);

interface CheckpointServersOptions {
  /** What nodes and servers know each other by. */
  readonly job: Job;
  /** For their sockets. */
  readonly folder: string;
  /** For their images: it may outlive this command. */
  readonly lasting: string;
  readonly servers: number;
}

interface CheckpointServersPorts {
  note(message: string): void;
}

export class CheckpointServers {
  readonly #options: CheckpointServersOptions;
  readonly #ports: CheckpointServersPorts;
  readonly #processes: ChildProcess[] = [];
  #losses = 0;
  #isOver = false;

  constructor(options: CheckpointServersOptions, ports: CheckpointServersPorts) {
    this.#options = options;
    this.#ports = ports;
    for (let server = 0; server < options.servers; server++) this.#start(server);
  }

  /** Where nodes find them. */
  get sockets(): string[] {
    return this.#processes.map((_, server) => socketPathOf(this.#options.folder, server));
  }

  /** Nobody will ask for that checkpoint any more. */
  dropped(set: number, number: number): void {
    const process = this.#processes[set % this.#processes.length];
    const message: ToCheckpointServer = { kind: "drop", set, number };
    if (process?.connected === true) process.send(message, () => {});
  }

  /** For fault plans: all of them. False: there is none. */
  kill(): boolean {
    for (const process of this.#processes) process.kill("SIGKILL");
    return this.#processes.length > 0;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const living = this.#processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const gone = living.map((process) => new Promise((resolve) => process.once("exit", resolve)));
    for (const process of living) process.kill("SIGKILL");
    await Promise.all(gone);
  }

  #start(server: number): void {
    if (this.#isOver) return;
    const folder = serverFolderIn(this.#options.lasting, server);
    const started = fork(
      join(__dirname, "checkpoint-server.cjs"),
      [String(server), folder, socketPathOf(this.#options.folder, server)],
      // A group of its own: the terminal's signals are the dispatcher's business.
      {
        detached: true,
        serialization: "advanced",
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        execArgv: ["--disable-warning=ExperimentalWarning"],
      },
    );
    this.#processes[server] = started;
    const setup: ToCheckpointServer = { kind: "setup", job: this.#options.job };
    // One that cannot be told shows as its end.
    started.send(setup, () => {});
    started.on("message", ({ problem }: FromCheckpointServer) => {
      if (problem !== "") this.#ports.note(`checkpoint server ${server} cannot listen: ${problem}`);
    });
    started.once("exit", (code, signal) => {
      if (this.#isOver) return;
      const why = signal === null ? `exit code ${code}` : `killed by ${signal}`;
      const isHopeless = ++this.#losses > lossesMax;
      const what = isHopeless
        ? "it is not started again, and its sets take no more checkpoints"
        : "it is started again";
      this.#ports.note(`checkpoint server ${server} failed: ${why}; ${what}`);
      if (isHopeless) return;
      setTimeout(() => this.#start(server), restartMs).unref();
    });
  }
}
