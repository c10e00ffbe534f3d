/**
 * Makes images of checkpoints durable while the ranks go on, or sends them where they are kept: a thread of the node that does nothing
 * else, one image after the other. It is started with the first one.
 */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { FileService } from "../file-service/client.ts";
import type { FileKey } from "../file-service/file-key.ts";
import { threadOptions } from "../machine/thread-options.ts";

/** An image elsewhere. */
interface ServicePlace {
  readonly service: FileService;
  readonly file: FileKey;
}

/** `path`: of an image that is in its file beside that name (real/image/part-file.ts). */
export type StoreOrder =
  | { readonly kind: "keep"; readonly path: string }
  | { readonly kind: "send"; readonly path: string; readonly to: ServicePlace };

/** The problem; empty: the image is durable. */
export type Stored = (problem: string) => void;

export class ImageStore {
  #thread: Worker | undefined;
  readonly #waiting: Stored[] = [];

  store(order: StoreOrder, stored: Stored): void {
    this.#thread ??= this.#start();
    this.#waiting.push(stored);
    this.#thread.postMessage(order);
  }

  #start(): Worker {
    const thread = new Worker(join(__dirname, "image-store-thread.cjs"), { execArgv: threadOptions });
    thread.on("message", (problem: string) => this.#waiting.shift()?.(problem));
    thread.on("error", (error: Error) => {
      this.#thread = undefined;
      for (const stored of this.#waiting.splice(0)) stored(`Cannot write images: ${error.message}`);
    });
    // It does not keep the node alive.
    thread.unref();
    return thread;
  }
}
