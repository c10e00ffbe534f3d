/** Reads the images of a checkpoint back, in a thread of its own: the dispatcher's own does nothing long. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** What is wrong with the first of them that is no good; empty: nothing. */
export function verifyImages(paths: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const worker = new Worker(join(__dirname, "verify-thread.cjs"), { workerData: paths });
    worker.on("message", resolve);
    worker.on("error", (error: Error) => resolve(error.message));
    worker.on("exit", () => resolve(`Cannot read image ${paths[0]}: the thread that should is gone`));
  });
}
