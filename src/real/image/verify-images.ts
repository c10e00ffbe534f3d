/** Reads the images of a checkpoint back, in a thread of its own: the dispatcher's main thread must not work for long. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** The objection to the first bad image; empty: all are good. */
export function verifyImages(paths: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const worker = new Worker(join(__dirname, "verify-thread.cjs"), { workerData: paths });
    worker.on("message", resolve);
    worker.on("error", (error: Error) => resolve(error.message));
    worker.on("exit", () => resolve(`Cannot read image ${paths[0]}: the thread that should is gone`));
  });
}
