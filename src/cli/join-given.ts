/** The options of `banyan run` and `banyan resume` that let nodes join. */
import type { LaunchOptions } from "../real/job/launch.ts";
import { addressGiven } from "./address-given.ts";

interface JoinOptions {
  readonly listen?: string;
  readonly joinOnly?: true;
  readonly secretFile?: string;
  /** Nodes are started by it: an address alone is where they call. */
  readonly nodeCommand?: string;
}

export function joinGiven({
  listen,
  joinOnly,
  secretFile,
  nodeCommand,
}: JoinOptions): Pick<LaunchOptions, "host" | "join"> {
  const place = listen === undefined ? undefined : addressGiven(listen, "--listen");
  const host = place?.address;
  if (joinOnly === undefined && secretFile === undefined && (listen === undefined || nodeCommand !== undefined))
    return { host };
  return { host, join: { port: place?.port, only: joinOnly, secretFile } };
}
