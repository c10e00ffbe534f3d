/**
 * Open files of a process that comes out of an image. Whoever wrote the image named them, so they are looked at before anything is
 * opened or cut to its length: what a program has open lies in the folders that it is given now.
 *
 * This compares names; where links on the disk lead is found out when a file is opened.
 */
import { ImageError } from "../../image/image-error.ts";
import type { Descriptor } from "../../wasi/descriptors.ts";
import type { Folder } from "../messages/program-place.ts";

const kinds: readonly unknown[] = ["input", "output", "file", "directory"];
const howFields = ["read", "write", "create", "exclusive", "truncate", "append"] as const;

/** Throws an `ImageError` for the first that cannot be right. */
export function checkDescriptors(table: readonly (Descriptor | undefined)[], folders: readonly Folder[]): void {
  for (const [fd, descriptor] of table.entries()) {
    if (descriptor === undefined) continue;
    if (!isDescriptor(descriptor)) throw new ImageError(`its descriptor ${fd} is none; use an older image`);
    const { path, given } = descriptor;
    const isGiven = given === "" || folders.some((folder) => folder.name === given && folder.path === path);
    if (
      isStream(descriptor)
        ? path === "" && given === ""
        : isGiven && folders.some((folder) => isInside(path, folder.path))
    )
      continue;
    throw new ImageError(
      `it has ${path === "" ? "a nameless file" : path} open, which is in none of the folders that the program is given; give the image of the job itself`,
    );
  }
}

const isStream = ({ kind }: Descriptor): boolean => kind === "input" || kind === "output";

/** An image may hold anything in its place. */
function isDescriptor(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { kind, path, given, how, position, flags } = value as Partial<Record<keyof Descriptor, unknown>>;
  const isWhole = (number: unknown): boolean => Number.isSafeInteger(number) && (number as number) >= 0;
  if (!kinds.includes(kind) || typeof path !== "string" || typeof given !== "string") return false;
  if (!isWhole(position) || !isWhole(flags) || typeof how !== "object" || how === null) return false;
  return howFields.every((field) => typeof (how as Record<string, unknown>)[field] === "boolean");
}

/** By their names alone: whole ones, without `.` and `..`. */
function isInside(path: string, folder: string): boolean {
  if (!path.startsWith("/") || path.split("/").some((part) => part === ".." || part === ".") || path.includes("\0")) {
    return false;
  }
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
