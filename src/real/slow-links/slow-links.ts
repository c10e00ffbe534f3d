/**
 * Links between nodes that can be made slow, for fault plans: everything between two nodes goes through a thread of the
 * dispatcher's. Only jobs whose plan delays links have it.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Target } from "./delaying-proxy.ts";
import type { FromSlowLinks, ToSlowLinks } from "./messages.ts";

export class SlowLinks {
  readonly #host: string;
  readonly #thread: Worker;
  /** By connecting node, then by accepting node. */
  readonly #ports = new Map<string, number>();
  /** Fulfilled when the links can be used. */
  readonly listening: Promise<void>;

  /** `failed`: the links will never be usable. */
  constructor(nodes: number, failed: (why: string) => void, host = "127.0.0.1") {
    this.#host = host;
    this.#thread = new Worker(join(__dirname, "slow-links-thread.cjs"), { workerData: { nodes, host } });
    this.#thread.once("error", (error: Error) => failed(error.message));
    this.listening = new Promise((resolve) => {
      this.#thread.once("message", ({ ports }: FromSlowLinks) => {
        for (const { from, to, port } of ports) this.#ports.set(`${from}-${to}`, port);
        resolve();
      });
    });
    this.#thread.unref();
  }

  /** Sets the present address of a node. */
  lead(node: number, target: Target): void {
    this.#post({ kind: "lead", node, target });
  }

  /** The address under which one node reaches another. */
  addressOf(from: number, to: number): Target {
    return { host: this.#host, port: this.#ports.get(`${from}-${to}`)! };
  }

  delay(link: readonly [number, number], delayMs: number): void {
    this.#post({ kind: "delay", link, delayMs });
  }

  end(): void {
    void this.#thread.terminate();
  }

  #post(message: ToSlowLinks): void {
    this.#thread.postMessage(message);
  }
}
