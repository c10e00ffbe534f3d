/**
 * The checkpoint servers of a job, seen from the dispatcher: processes that are started with it, started again when they are lost
 * (what they had on disk is still there), and ended with it. Sets go round them.
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { FromCheckpointServer, ToCheckpointServer } from "../../checkpoint-server/messages.ts";
import { forkService } from "../../machine/fork-service.ts";
import type { JobSecret } from "../../transport/handshake/handshake.ts";
import type { Address } from "../../transport/sockets/address.ts";
import { serverFolderIn } from "../folder/job-folder.ts";

/** One that falls again and again does not keep the machine busy. */
const restartMs = 100;
/** Of all of them: they fall for a reason of their own. */
const lossesMax = 20;

interface CheckpointServersOptions {
  /** The secret by which nodes and servers know each other. */
  readonly job: JobSecret;
  /** The address of this machine at which nodes call them. */
  readonly host: string;
  /** For their images: it may outlive this command. */
  readonly lasting: string;
  readonly servers: number;
}

interface CheckpointServersPorts {
  /** One of them listens, perhaps elsewhere than before: nodes must hear where they all are. */
  listen(addresses: readonly (Address | null)[]): void;
  note(message: string): void;
}

export class CheckpointServers {
  readonly #options: CheckpointServersOptions;
  readonly #ports: CheckpointServersPorts;
  readonly #processes: ChildProcess[] = [];
  readonly #addresses: (Address | null)[] = [];
  #losses = 0;
  #isOver = false;

  constructor(options: CheckpointServersOptions, ports: CheckpointServersPorts) {
    this.#options = options;
    this.#ports = ports;
    for (let server = 0; server < options.servers; server++) this.#start(server);
  }

  /** Where nodes find them; null: one is not there at the moment. */
  get addresses(): readonly (Address | null)[] {
    return [...this.#addresses];
  }

  /** That checkpoint will not be asked for any more. */
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
    const started = forkService(join(__dirname, "checkpoint-server.cjs"), [String(server), folder]);
    this.#processes[server] = started;
    this.#addresses[server] = null;
    const { job, host } = this.#options;
    const setup: ToCheckpointServer = { kind: "setup", job, host };
    // One that cannot be told shows as its end.
    started.send(setup, () => {});
    started.on("message", (message: FromCheckpointServer) => {
      if (message.kind === "unable") this.#ports.note(`checkpoint server ${server} is of no use: ${message.why}`);
      else {
        this.#addresses[server] = { host, port: message.port };
        this.#ports.listen(this.addresses);
      }
    });
    started.once("exit", (code, signal) => {
      if (this.#isOver) return;
      this.#addresses[server] = null;
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
