/** How much of a job must be lost until what it has written is lost too (ADR 52). */
import type { OptionValues, ProtocolOption } from "./option.ts";

export interface DurableOptions {
  /**
   * Under protocols whose jobs can be resumed: "process", unless given: what was relied upon outlives every process. "disk": it outlives a
   * power cut, and nothing is relied upon that is not on the disk.
   */
  readonly durable?: "process" | "disk" | undefined;
}

const levels: readonly string[] = ["process", "disk"];

export const durableOption: ProtocolOption = {
  key: "durable",
  flag: "--durable <level>",
  help: "what a job that is resumed has survived: process, every process killed (default); disk, a power cut",
  form: { kind: "text" },
  elsewhere: (owners) => `Cannot make the job durable: only jobs under --protocol ${owners} can be resumed`,
};

export const isForDisk = (values: OptionValues): boolean => (values as DurableOptions).durable === "disk";

/** What is wrong with it, in one line; undefined: nothing. */
export function checkDurable(values: OptionValues): string | undefined {
  const { durable } = values as Readonly<Record<"durable", unknown>>;
  if (durable === undefined || levels.includes(String(durable))) return undefined;
  return `Cannot make the job durable for "${String(durable)}": say process or disk`;
}
