/** A WebAssembly text file, assembled by the build (scripts/wat-plugin.mjs). */
declare module "*.wat" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
