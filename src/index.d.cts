/** The package's types for TypeScript that becomes CommonJS: those of index.ts, which are a module's, and its values. */
import type * as banyan from "./index.ts" with { "resolution-mode": "import" };

export type * from "./index.ts" with { "resolution-mode": "import" };
export declare const mpi: typeof banyan.mpi;
export declare const launch: typeof banyan.launch;
export declare const thaw: typeof banyan.thaw;
export declare const resume: typeof banyan.resume;
