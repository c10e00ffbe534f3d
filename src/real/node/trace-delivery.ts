/**
 * Brings what the ranks of this node trace to the dispatcher, where the node does not see the dispatcher's files: the ranks' own files
 * grow here, and what is new of them follows every now and then. What a node that is killed had not sent is lost.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { appendFileFrom, type FileService } from "../file-service/client.ts";

interface TraceDeliveryOptions {
  /** Where ranks write `<rank>.trace`. */
  readonly folder: string;
  readonly service: FileService;
  /** The trace is incomplete. Called once. */
  failed(problem: string): void;
}

const everyMs = 500;

export class TraceDelivery {
  readonly #options: TraceDeliveryOptions;
  /** How much of each file has been delivered. */
  readonly #delivered = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #hasFailed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(options: TraceDeliveryOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#next(), everyMs).unref();
  }

  /** Nothing grows any more. */
  finish(): Promise<void> {
    clearInterval(this.#timer);
    return this.#next();
  }

  /** One after the other: the dispatcher appends what it gets. */
  #next(): Promise<void> {
    this.#last = this.#last.then(() => this.#deliverAll());
    return this.#last;
  }

  async #deliverAll(): Promise<void> {
    for (const name of readdirSync(this.#options.folder)) if (!this.#hasFailed) await this.#deliver(name);
  }

  async #deliver(name: string): Promise<void> {
    const { folder, service } = this.#options;
    const path = join(folder, name);
    const [from, to] = [this.#delivered.get(name) ?? 0, statSync(path).size];
    if (from === to) return;
    const file = { kind: "trace", rank: Number.parseInt(name, 10) } as const;
    const problem = await appendFileFrom(service, file, { path, from, to });
    if (problem === "") {
      this.#delivered.set(name, to);
      return;
    }
    // What has arrived of it is not known, and nothing may be there twice.
    this.#hasFailed = true;
    this.#options.failed(`Cannot write the trace: ${problem}`);
  }
}
