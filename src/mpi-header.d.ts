/** The header of C programs, read by the build (scripts/header-plugin.mjs). */
declare module "*/include/mpi.h" {
  /** What the arguments of a function are, by its name; scripts/mpi-signatures.mjs says how to read it. */
  export const signatures: Readonly<Record<string, string>>;
}
