/** Every protocol, by the name people write behind `--protocol`. */
import { NoProtocol } from "./none.ts";
import type { Protocol } from "./protocol.ts";

export const protocols: Readonly<Record<string, () => Protocol>> = {
  none: () => new NoProtocol(),
};
