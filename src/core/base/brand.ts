/** Integers that must not be mixed up. A brand exists for the compiler only. */
declare const brand: unique symbol;
export type Brand<Name extends string> = number & { readonly [brand]: Name };
/** A brand for tables of numbers. */
export type BrandedTable<Name extends string> = readonly number[] & { readonly [brand]: Name };

/** A rank of the whole job, 0 … n−1: the number in packets and in matching. */
export type WorldRank = Brand<"WorldRank">;
/** A rank inside one group or communicator: the number that programs use. */
export type CommRank = Brand<"CommRank">;
/** Where bytes are: ≥ 0 a byte offset in the process's shareable memory; < 0 a view that the program lent, see core/request. */
export type Pointer = Brand<"Pointer">;
/** A record of core/request: a request or an envelope. */
export type RecordId = Brand<"RecordId">;
