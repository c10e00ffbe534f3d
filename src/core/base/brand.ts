/**
 * Numbers that must not be mixed up. A brand exists only for the compiler; at run time it is the plain integer.
 */
declare const brand: unique symbol;
export type Brand<Name extends string> = number & { readonly [brand]: Name };
/** The same for tables of numbers. */
export type BrandedTable<Name extends string> = readonly number[] & { readonly [brand]: Name };

/** A rank of the whole job, 0 … n−1: what packets and matching speak. */
export type WorldRank = Brand<"WorldRank">;
/** A rank inside one group or communicator: what programs speak. */
export type CommRank = Brand<"CommRank">;
/** Where bytes are: ≥ 0 a byte offset in the process's shareable memory; < 0 a view the program lent us, see core/request. */
export type Pointer = Brand<"Pointer">;
/** A record of core/request: a request or an envelope. */
export type RecordId = Brand<"RecordId">;
