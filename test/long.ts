/**
 * Tests that take long and show nothing that shorter ones do not show a part of: they run where somebody asks for them,
 * `npm run test:long`.
 */
const isAsked = process.env["BANYAN_LONG_TESTS"] === "1";

export const long: { readonly skip?: string } = isAsked ? {} : { skip: "it takes a while: npm run test:long" };
