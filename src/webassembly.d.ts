/** The part of the WebAssembly API we use; TypeScript has it only together with the whole browser. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    grow(pages: number): number;
  }
  class Table {
    constructor(descriptor: { element: "anyfunc" | "externref"; initial: number; maximum?: number });
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value: unknown): void;
  }
  class Global {
    constructor(descriptor: { value: string; mutable?: boolean }, value: unknown);
    // biome-ignore lint/suspicious/noExplicitAny: a number or a bigint, the module's declaration says which
    value: any;
  }
  class Module {
    constructor(bytes: Uint8Array | ArrayBuffer);
    static imports(module: Module): { module: string; name: string; kind: string }[];
    static exports(module: Module): { name: string; kind: string }[];
    static customSections(module: Module, name: string): ArrayBuffer[];
  }
  type Imports = Record<string, Record<string, unknown>>;
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Record<string, unknown>;
  }
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
  function validate(bytes: Uint8Array | ArrayBuffer): boolean;
  function compile(bytes: Uint8Array | ArrayBuffer): Promise<Module>;
  function instantiate(module: Module, imports?: Imports): Promise<Instance>;
}
