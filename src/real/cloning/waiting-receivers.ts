/**
 * Threads that wait to fill the memory of a clone, in a process that is in reserve: it takes longer to start a thread than to send the first fifty megabytes.
 */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { threadOptions } from "../machine/thread-options.ts";
import { lanesMax } from "./lanes.ts";

export class WaitingReceivers {
  readonly #idle: Worker[] = [];

  /** For one clone. */
  prepare(): void {
    while (this.#idle.length < lanesMax) {
      const thread = newReceiver();
      // It does not start: another one will be tried when it is needed, and says why.
      thread.once("error", () => this.#idle.splice(0));
      this.#idle.push(thread);
    }
  }

  /** One that has not been told what to do yet. */
  take(): Worker {
    const thread = this.#idle.pop() ?? newReceiver();
    thread.removeAllListeners("error");
    return thread;
  }
}

function newReceiver(): Worker {
  const thread = new Worker(join(__dirname, "clone-receiver.cjs"), { execArgv: threadOptions });
  // It does not keep the process alive.
  thread.unref();
  return thread;
}
