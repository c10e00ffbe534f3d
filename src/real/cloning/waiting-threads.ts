/**
 * Threads that wait to send the memory of a process to its clone, or to fill the memory of one: it takes longer to start a thread than to send the first
 * fifty megabytes.
 */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { threadOptions } from "../machine/thread-options.ts";
import { lanesMax } from "./lanes.ts";

/** The bundles. */
type ThreadFile = "clone-sender.cjs" | "clone-receiver.cjs";

export class WaitingThreads {
  readonly #file: ThreadFile;
  readonly #idle: Worker[] = [];

  constructor(file: ThreadFile) {
    this.#file = file;
  }

  /** For one clone. */
  prepare(): void {
    while (this.#idle.length < lanesMax) this.#keep(this.#start());
  }

  /** One that has not been told what to do yet. */
  take(): Worker {
    const thread = this.#idle.pop() ?? this.#start();
    thread.removeAllListeners("error");
    return thread;
  }

  /** It has done what it was told, and waits again: what it runs is compiled by now. */
  giveBack(thread: Worker): void {
    thread.removeAllListeners("message");
    thread.removeAllListeners("error");
    if (this.#idle.length >= lanesMax) void thread.terminate();
    else this.#keep(thread);
  }

  #keep(thread: Worker): void {
    // It ends: another one will be tried when it is needed, and says why.
    thread.once("error", () => {
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#idle.push(thread);
  }

  #start(): Worker {
    const thread = new Worker(join(__dirname, this.#file), { execArgv: threadOptions });
    // It does not keep the process alive.
    thread.unref();
    return thread;
  }
}
