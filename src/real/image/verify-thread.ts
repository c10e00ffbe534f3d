/** The thread of `ImageVerifier`: reads each image completely, checking every checksum. */
import { parentPort } from "node:worker_threads";
import { ImageError } from "../../image/image-error.ts";
import { checkingImage } from "./read-image.ts";

function problemOf(path: string): string {
  try {
    for (const _ of checkingImage(path));
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

parentPort!.on("message", (paths: readonly string[]) => parentPort!.postMessage(firstProblem(paths)));
