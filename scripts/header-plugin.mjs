// Lets TypeScript import include/mpi.h: `import { signatures } from "../../include/mpi.h"` gives the kinds of the arguments of
// every function (mpi-signatures.mjs).
import { signaturesOf } from "./mpi-signatures.mjs";

export const headerPlugin = {
  name: "mpi-header",
  setup(build) {
    build.onLoad({ filter: /\/include\/mpi\.h$/ }, () => ({
      contents: `export const signatures = ${JSON.stringify(signaturesOf())};`,
      loader: "js",
    }));
  },
};
