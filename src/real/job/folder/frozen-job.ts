/** What is written of a frozen job beside its images, as JSON that people can read. It comes from a disk: nothing of it is believed. */
import { isAbsolute } from "node:path";
import { isWhole, type OptionValues } from "../../../core/ft/option.ts";
import { protocolDefault } from "../../../core/ft/registry.ts";
import { placedInBlocks } from "../../../core/service/placement.ts";
import type { Folder } from "../../messages/program-place.ts";

export const jobFormat = 1;
/** Arguments are the longest part, and the system bounds those. */
export const jobTextBytesMax = 16 << 20;
/** As for a job that is started, see check-options.ts. */
const ranksMax = 4096;

export interface FrozenJob {
  /** As the program knows itself. */
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  /** On how many it ran; it may go on on others. */
  readonly nodes: number;
  /** The nodes that the program sees, by rank (core/process/node-map.ts), wherever it goes on. */
  readonly nodeMap: readonly number[];
  readonly memoryMb: number;
  readonly folders: readonly Folder[];
  /** The program's environment; null: that of the user who goes on with the job. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** The name of its protocol, and the values of that one's options. */
  readonly protocol: string;
  readonly protocolOptions: OptionValues;
}

export const jobText = (job: FrozenJob): string => `${JSON.stringify({ format: jobFormat, ...job }, undefined, 2)}\n`;

/** The job; a number: it is of that format, which is another; null: it is none. */
export function frozenJobIn(text: string): FrozenJob | number | null {
  const value = parsed(text);
  if (!isRecord(value) || !isWhole(value["format"], 1, Number.MAX_SAFE_INTEGER)) return null;
  if (value["format"] !== jobFormat) return value["format"];
  const { program, args, ranks, nodes, memoryMb, folders, environment = null } = value;
  if (!isWord(program) || program === "" || !isListOf(args, isWord)) return null;
  if (!isWhole(ranks, 1, ranksMax) || !isWhole(nodes, 1, ranks) || !isWhole(memoryMb, 16, 2047)) return null;
  if (!isListOf(folders, isFolder) || !(environment === null || isEnvironment(environment))) return null;
  // Images of an earlier version were all of jobs without one.
  const { protocol = protocolDefault.name, protocolOptions = {} } = value;
  if (!isWord(protocol) || !isRecord(protocolOptions)) return null;
  const { nodeMap = placedInBlocks(ranks, nodes) } = value;
  const isNode = (node: unknown): node is number => isWhole(node, 0, ranks - 1);
  if (!isListOf(nodeMap, isNode) || nodeMap.length !== ranks) return null;
  const given = folders.map(({ name, path }) => ({ name, path }));
  const size = { ranks, nodes, nodeMap, memoryMb };
  return { program, args, ...size, folders: given, environment, protocol, protocolOptions };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** A program's words, and names of files, have no zero in them. */
const isWord = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");
function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(isItem);
}
const isEnvironment = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.entries(value).every(([name, text]) => /^[^=\0]+$/.test(name) && isWord(text));
const isFolder = (value: unknown): value is Folder => {
  if (!isRecord(value)) return false;
  const { name, path } = value;
  return isWord(name) && name !== "" && isWord(path) && isAbsolute(path);
};
