/**
 * Makes images of checkpoints durable while the ranks go on, one after the other, or sends them where they are kept. Sending is the work of a thread of the node that does
 * nothing else, started with the first image; an image that stays needs none: its bytes are with the system already, and starting a thread costs more than ten
 * checkpoints of 8 MB.
 */

import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import type { FileService } from "../file-service/client.ts";
import type { FileKey } from "../file-service/file-key.ts";
import { imageFileError } from "../image/file-error.ts";
import { commitPart } from "../image/part-file.ts";
import { threadOptions } from "../machine/thread-options.ts";

/** An image, in its file beside that name (real/image/part-file.ts), and where it is to be kept. */
export interface SendOrder {
  readonly path: string;
  readonly service: FileService;
  readonly file: FileKey;
}

/** The problem; empty: the image is durable. */
export type Stored = (problem: string) => void;

export class ImageStore {
  #thread: Worker | undefined;
  readonly #waiting: Stored[] = [];
  /** Ends with the last image that stays: one at a time, so that others of the process can have their turns at the disk. */
  #kept: Promise<void> = Promise.resolve();

  /** An image that stays where it is. */
  keep(path: string, stored: Stored): void {
    this.#kept = this.#kept.then(async () => stored(await keptImage(path)));
  }

  send(order: SendOrder, stored: Stored): void {
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

async function keptImage(path: string): Promise<string> {
  try {
    await commitPart(path);
    return "";
  } catch (error) {
    const seen = imageFileError(`Cannot write image ${path}`, error);
    if (seen instanceof ImageError) return seen.message;
    throw error;
  }
}
