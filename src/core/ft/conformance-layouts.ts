/** The layouts in which the conformance suite runs each protocol of the registry, by its name. */
import { loggingLayouts } from "./logging/conformance-layouts.ts";
import { NoProtocol } from "./none.ts";
import type { ConformanceLayout } from "./protocol-conformance.ts";

/** A protocol that passes on every send, and has nothing outside its processes. */
const passing: ConformanceLayout = {
  name: "as it is",
  protocols: () => ({
    make: () => new NoProtocol(),
    begin: () => undefined,
    advance: () => false,
    takes: () => false,
    taken: () => 0,
  }),
};

export const conformanceLayouts: Readonly<Record<string, readonly ConformanceLayout[]>> = {
  none: [passing],
  logging: loggingLayouts,
};
