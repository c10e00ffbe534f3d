/** Parts for nodes of a Banyan that has one protocol more. */
import type { NewNodePart } from "../../src/real/part-hosts/node-part.ts";
import * as shipped from "../../src/real/protocol-parts/node-parts.ts";
import { delayed } from "./delayed/definition.ts";
import { DelayedNode } from "./delayed/machine-parts.ts";

export const nodeParts: Readonly<Record<string, NewNodePart>> = {
  ...shipped.nodeParts,
  [delayed.name]: (setup) => new DelayedNode(setup),
};
