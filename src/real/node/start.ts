/** What the process of a node begins with: its code, from V8's cache if there is one. The first node that is told to run a program makes it. */
import { join } from "node:path";
import { runBundle } from "../../v8/cached-bundle.ts";

runBundle(join(__dirname, "node.cjs"));
