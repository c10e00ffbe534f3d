/** The thread of `ImageStore`. */
import { rmSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { storeFileFrom } from "../file-service/client.ts";
import { imageFileError } from "../image/file-error.ts";
import { commitPart, partOf } from "../image/part-file.ts";
import type { StoreOrder } from "./image-store.ts";

function kept(path: string): string {
  try {
    commitPart(path);
    return "";
  } catch (error) {
    const seen = imageFileError(`Cannot write image ${path}`, error);
    if (seen instanceof ImageError) return seen.message;
    throw error;
  }
}

async function problemOf(order: StoreOrder): Promise<string> {
  if (order.kind === "keep") return kept(order.path);
  const { service, file } = order.to;
  const part = partOf(order.path);
  const problem = await storeFileFrom(service, file, part);
  rmSync(part, { force: true });
  return problem;
}

// One after the other, and answered in the order of the orders.
let last: Promise<void> = Promise.resolve();
parentPort!.on("message", (order: StoreOrder) => {
  last = last.then(async () => parentPort!.postMessage(await problemOf(order)));
});
