/** The thread of `verifyImages`: reads each image completely into an unused memory, checking every checksum. */
import { parentPort, workerData } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { readImage, readImageHeader } from "./read-image.ts";

const pageBytes = 65536;

function problemOf(path: string): string {
  try {
    const pages = readImageHeader(path).memoryBytes / pageBytes;
    readImage(path, new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }));
    return "";
  } catch (error) {
    if (error instanceof ImageError) return error.message;
    throw error;
  }
}

function firstProblem(paths: readonly string[]): string {
  for (const path of paths) {
    const problem = problemOf(path);
    if (problem !== "") return problem;
  }
  return "";
}

parentPort!.postMessage(firstProblem(workerData as string[]));
