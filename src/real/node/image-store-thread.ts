/** The thread of `ImageStore`. */
import { rmSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { storeFile, storeFileFrom } from "../file-service/client.ts";
import type { ImageToStore } from "../image/write-image.ts";
import { imagePieces, writeImageNow } from "../image/write-image.ts";
import type { StoreOrder } from "./image-store.ts";

function written({ path, ...contents }: ImageToStore): string {
  try {
    writeImageNow(path, contents);
    return "";
  } catch (error) {
    if (error instanceof ImageError) return error.message;
    throw error;
  }
}

async function problemOf(order: StoreOrder): Promise<string> {
  if (order.kind === "write") return written(order.image);
  const { service, file } = order.to;
  if (order.kind === "send") return storeFile(service, file, imagePieces(order.image));
  const problem = await storeFileFrom(service, file, order.path);
  rmSync(order.path, { force: true });
  return problem;
}

// One after the other, and answered in the order of the orders.
let last: Promise<void> = Promise.resolve();
parentPort!.on("message", (order: StoreOrder) => {
  last = last.then(async () => parentPort!.postMessage(await problemOf(order)));
});
